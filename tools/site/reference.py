"""The API reference: docstrings as Sphinx's Python domain, read without importing the package.

A page of ``docs/api`` lists names below its marker; ``with_reference`` puts what their docstrings
say in the place of the list. Classes of the native module are read from its stub.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import griffe
from pages import SiteError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARKER = "<!-- the docstrings of these names stand here in the site -->"
LISTED = re.compile(r"^- `([\w.]+)`$", re.MULTILINE)
LITERAL = re.compile(r"``([A-Za-z_][\w.]*)(\(\))?``")
PREFIXES = re.compile(r"\b(?:_native|npt|collections\.abc|_metadata)\.")
# The parser would take words before a colon for a type, but types stand in signatures here.
RETURNS = re.compile(r"^(?:Returns|Yields):\n((?:[ ]+.*\n?|\n)+)", re.MULTILINE)
ANNOTATED = re.compile(r"Annotated\[(.+?),")


class Package:
    """The public names of ``dataset_rt`` and their docstrings."""

    def __init__(self, folder: Path) -> None:
        """Reads the package in a folder, as texts."""
        self._root = griffe.load(
            "dataset_rt",
            search_paths=[str(folder)],
            allow_inspection=False,
            docstring_parser="google",
            docstring_options={"warnings": False},
        )
        self._links: dict[str, str] = {}

    def listed_names(self) -> list[str]:
        """Names of ``dataset_rt.__all__``, as written there."""
        return [str(name).strip("'\"") for name in self._root.exports or ()]

    def find(self, name: str) -> griffe.Object:
        """The object behind a public name, or behind a path below the package."""
        try:
            return _behind(self._root[name])
        except (KeyError, griffe.AliasResolutionError, griffe.CyclicAliasError) as error:
            raise SiteError(f"dataset_rt has no {name}") from error

    def link_to(self, names: list[str]) -> None:
        """Say which names have a place in the reference, so that texts link to them."""
        for name in names:
            short = name.rpartition(".")[2]
            self._links[short] = f"dataset_rt.{short}"

    def entry(self, name: str) -> str:
        """What stands in the reference for one name, as reStructuredText."""
        thing, short = self.find(name), name.rpartition(".")[2]
        if thing.docstring is None:
            raise SiteError(f"dataset_rt.{name} has no docstring")
        if isinstance(thing, griffe.Class):
            return "\n".join(self._class(short, thing))
        if isinstance(thing, griffe.Function):
            return "\n".join(self._function("function", short, thing, {}))
        if thing.value is None:
            return "\n".join(self._directive("data", short, self._text(thing, {}), type=thing))
        return "\n".join(self._directive("type", short, self._text(thing, {}), canonical=thing))

    def _class(self, name: str, thing: griffe.Class) -> Iterator[str]:
        members = {
            key: _behind(member)
            for key, member in {**thing.members, **thing.inherited_members}.items()
        }
        links = {key: f"dataset_rt.{name}.{key}" for key in members if key[0] != "_"}
        fields: dict[str, str] = {}
        body: list[str] = []
        docstring = thing.docstring or griffe.Docstring("")
        for section in docstring.parsed:
            if section.kind is griffe.DocstringSectionKind.attributes:
                fields = {one.name: one.description for one in section.value}
            else:
                body += self._section(section, links, docstring)
        bases = [str(base) for base in thing.bases if str(base) in self._links]
        if bases:
            body = [
                f"Also: {', '.join(self._linked(f'``{base}``', {}) for base in bases)}.",
                "",
                *body,
            ]
        takes = "__init__" in thing.members and "Args:" in docstring.value
        if takes:
            signature = _parameters(thing.members["__init__"].parameters)
        elif any(str(base) == "NamedTuple" for base in thing.bases):
            signature = f"({', '.join(fields)})"
        else:
            signature = ""
        for field, description in fields.items():
            told = self._linked(description, links).split("\n")
            body += ["", *self._directive("attribute", field, told, field=members.get(field))]
        for key, member in members.items():
            if key not in fields and _is_shown(key, member):
                body += ["", *self._member(key, member, links)]
        yield from self._directive("class", name + signature, body)

    def _member(self, name: str, member: griffe.Object, links: dict[str, str]) -> Iterator[str]:
        if isinstance(member, griffe.Function):
            return self._function("method", name, member, links)
        kind = "property" if "property" in member.labels else "attribute"
        return self._directive(kind, name, self._text(member, links), field=member)

    def _function(
        self, kind: str, name: str, thing: griffe.Function, links: dict[str, str]
    ) -> Iterator[str]:
        if thing.docstring is None:
            raise SiteError(f"{thing.path} has no docstring")
        result = f" -> {_annotation(thing.returns, thing)}" if thing.returns is not None else ""
        flags = ["classmethod"] if "classmethod" in thing.labels else []
        signature = name + _parameters(thing.parameters) + result
        return self._directive(kind, signature, self._text(thing, links), *flags)

    def _directive(
        self,
        kind: str,
        signature: str,
        body: list[str],
        *flags: str,
        **options: griffe.Object | None,
    ) -> Iterator[str]:
        """One entry of the Python domain; options name the object whose type or value they show."""
        yield f".. py:{kind}:: {signature}"
        for flag in flags:
            yield f"   :{flag}:"
        for option, thing in options.items():
            if thing is None:
                continue
            if option == "canonical":
                yield f"   :canonical: {thing.value}"
            else:
                yield f"   :type: {_annotation(thing.annotation, thing)}"
            if option == "field" and thing.value is not None and "property" not in thing.labels:
                yield f"   :value: {thing.value}"
        yield ""
        yield from textwrap.indent("\n".join(body), "   ").split("\n")

    def _text(self, thing: griffe.Object, links: dict[str, str]) -> list[str]:
        if thing.docstring is None:
            return []
        return [
            line
            for section in thing.docstring.parsed
            for line in self._section(section, links, thing.docstring)
        ]

    def _section(
        self, section: griffe.DocstringSection, links: dict[str, str], docstring: griffe.Docstring
    ) -> Iterator[str]:
        kinds = griffe.DocstringSectionKind
        if section.kind is kinds.text:
            yield from self._linked(section.value, links).split("\n")
            yield ""
        elif section.kind is kinds.parameters:
            for one in section.value:
                name = one.name.replace("*", "\\*")
                yield self._item(f"param {name}", one.description, links)
        elif section.kind in {kinds.returns, kinds.yields}:
            told = RETURNS.search(docstring.value)
            yield self._item("returns", textwrap.dedent(told[1]).strip() if told else "", links)
        elif section.kind is kinds.raises:
            for one in section.value:
                yield self._item(f"raises {one.annotation}", one.description, links)
        else:
            raise SiteError(f"no place for '{section.kind.value}' of a docstring")

    def _item(self, field: str, description: str, links: dict[str, str]) -> str:
        return f":{field}: " + textwrap.indent(self._linked(description, links), "    ").strip()

    def _linked(self, text: str, links: dict[str, str]) -> str:
        """A text in which names that have an entry lead there."""

        def link(match: re.Match[str]) -> str:
            first, dot, rest = match[1].partition(".")
            if match[1] in links:
                return f":py:obj:`{match[1]}{match[2] or ''} <{links[match[1]]}>`"
            if first in self._links:
                return f":py:obj:`{match[1]}{match[2] or ''} <{self._links[first]}{dot}{rest}>`"
            return match[0]

        return LITERAL.sub(link, text)


def with_reference(path: str, text: str, package: Package) -> str:
    """A page of ``docs/api`` with docstrings in the place of the names below its marker."""
    before, marker, after = text.partition(MARKER)
    if not marker:
        return text
    names = LISTED.findall(after)
    entries = "\n\n".join(package.entry(name) for name in names)
    if not entries:
        raise SiteError(f"{path} lists no names below its marker")
    return f"{before}\n```{{eval-rst}}\n.. py:currentmodule:: dataset_rt\n\n{entries}\n```\n"


def names_in(text: str) -> list[str]:
    """The names that a page of ``docs/api`` lists."""
    return LISTED.findall(text.partition(MARKER)[2])


def _behind(thing: griffe.Object | griffe.Alias) -> griffe.Object:
    """What an import stands for."""
    return thing.final_target if thing.is_alias else thing


def _is_shown(name: str, member: griffe.Object) -> bool:
    """Public methods, and whatever else says something of its own."""
    if name.startswith("_"):
        return member.docstring is not None and name.endswith("__") and name != "__init__"
    return member.docstring is not None or isinstance(member, griffe.Function)


def _annotation(annotation: object, owner: griffe.Object) -> str:
    """A type as users know it: without private aliases and the modules they come from."""
    text = PREFIXES.sub("", str(annotation))
    if text.startswith("_"):
        alias = owner.module.members.get(text)
        text = str(alias.value) if alias is not None else text
    if match := ANNOTATED.match(text):
        text = match[1]
    return text


def _parameters(parameters: griffe.Parameters) -> str:
    """The part of a signature in brackets, without the object itself."""
    kinds, shown, is_keyword = griffe.ParameterKind, [], False
    for one in parameters:
        if one.name in {"self", "cls"}:
            continue
        if one.kind is kinds.var_positional:
            is_keyword = True
        elif one.kind is kinds.keyword_only and not is_keyword:
            shown.append("*")
            is_keyword = True
        text = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(one.kind, "") + one.name
        if one.annotation is not None:
            text += f": {PREFIXES.sub('', str(one.annotation))}"
        if one.default is not None and one.kind not in {kinds.var_positional, kinds.var_keyword}:
            text += f" = {one.default}" if one.annotation is not None else f"={one.default}"
        shown.append(text)
    if parameters and any(one.kind is kinds.positional_only for one in parameters):
        positional = [o for o in parameters if o.kind is kinds.positional_only and o.name != "self"]
        shown.insert(len(positional), "/")
    return f"({', '.join(shown)})"
