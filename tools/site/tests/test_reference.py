"""The reference is made of docstrings: of the real package, and of a made-up one."""

from pathlib import Path
from textwrap import dedent

import pytest
from pages import SiteError
from reference import MARKER, Package, names_in, with_reference

MODULE = '''
    """A package."""
    from typing import Annotated, NamedTuple

    __all__ = ["Bare", "Config", "Pair", "Silent", "Word", "draw"]

    _Count = Annotated[int, "at least 1"]
    Word = int | str
    """A word."""


    class Base:
        """A base."""

        def moved(self) -> None:
            """Move on."""


    class Config(Base):
        """How it is done, see ``draw``.

        Attributes:
            size: How many, unlike ``Pair.left``.
        """

        size: _Count = 3
        hidden = 4

        @property
        def twice(self) -> int:
            """Twice ``size``."""


    class Pair(NamedTuple):
        """Two things.

        Attributes:
            left: One.
        """

        left: int


    class Silent:
        """A class."""

        def says(self): ...


    class Bare: ...


    def draw(a: int, /, b: str = "x", *, c: bool = True, **others: object) -> list[int]:
        """Draw once.

        Args:
            a: First.
            **others: Passed on
                untouched.

        Returns:
            A list: sorted,
            and long.

        Raises:
            ValueError: Always.
        """
'''


@pytest.fixture
def package(tmp_path: Path) -> Package:
    (tmp_path / "dataset_rt").mkdir()
    (tmp_path / "dataset_rt" / "__init__.py").write_text(dedent(MODULE), encoding="utf-8")
    made = Package(tmp_path)
    made.link_to(["Config", "Pair", "Base", "draw"])
    return made


def test_a_function_has_signature_and_sections(package: Package) -> None:
    assert package.entry("draw").split("\n") == [
        ".. py:function:: draw(a: int, /, b: str = 'x', *, c: bool = True, **others: object)"
        " -> list[int]",
        "",
        "   Draw once.",
        "",
        "   :param a: First.",
        "   :param \\*\\*others: Passed on",
        "       untouched.",
        "   :returns: A list: sorted,",
        "       and long.",
        "   :raises ValueError: Always.",
    ]


def test_a_class_has_fields_properties_and_what_it_inherits(package: Package) -> None:
    text = package.entry("Config")
    assert "see :py:obj:`draw <dataset_rt.draw>`" in text
    assert "Also: :py:obj:`Base <dataset_rt.Base>`." in text
    assert ".. py:attribute:: size\n      :type: int\n      :value: 3\n" in text
    assert "unlike :py:obj:`Pair.left <dataset_rt.Pair.left>`" in text
    assert ".. py:property:: twice\n      :type: int\n" in text
    assert "Twice :py:obj:`size <dataset_rt.Config.size>`" in text
    assert ".. py:method:: moved() -> None" in text
    assert "hidden" not in text


def test_tuples_show_their_fields_and_names_of_types_their_meaning(package: Package) -> None:
    assert ".. py:class:: Pair(left)" in package.entry("Pair")
    assert ".. py:type:: Word\n   :canonical: int | str\n\n   A word." in package.entry("Word")


@pytest.mark.parametrize("name", ["Bare", "Silent", "Absent"])
def test_what_has_no_docstring_is_named(package: Package, name: str) -> None:
    with pytest.raises(SiteError, match=name):
        package.entry(name)


def test_a_list_below_the_marker_becomes_the_reference(package: Package) -> None:
    text = f"# A\n\nAbout `Word`.\n\n{MARKER}\n\n- `Word`\n- `draw`\n"
    assert names_in(text) == ["Word", "draw"]
    made = with_reference("docs/api/a.md", text, package)
    assert made.index("py:type:: Word") < made.index("py:function:: draw")
    assert "- `Word`" not in made
    assert with_reference("docs/a.md", "# A\n", package) == "# A\n"
    with pytest.raises(SiteError, match=r"docs/api/a\.md lists no names"):
        with_reference("docs/api/a.md", f"# A\n{MARKER}\n", package)


def test_every_public_name_of_the_package_has_an_entry() -> None:
    package = Package(Path("python"))
    names = package.listed_names()
    assert len(names) > 30
    for name in names:
        assert package.entry(name).startswith(".. py:")
