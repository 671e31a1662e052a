"""Lints that look at lines and links: each finds what it is for, and is silent without it."""

import doc_links
import file_sizes
import forbidden_words
import rust_style
import unsafe_list
from tree import Tree


def found(lint, texts: dict[str, str]) -> list[str]:
    return list(lint.problems(Tree.of(texts)))


def test_a_source_file_over_its_limit_is_found() -> None:
    assert found(file_sizes, {"rust/a/src/b.rs": "x\n" * 400}) == []
    assert len(found(file_sizes, {"rust/a/src/b.rs": "x\n" * 401})) == 1
    assert found(file_sizes, {"rust/a/src/b/tests.rs": "x\n" * 500}) == []
    assert len(found(file_sizes, {"rust/a/src/mod.rs": "x\n" * 41})) == 1


def test_an_exception_counts_while_it_is_needed_and_has_a_reason() -> None:
    path, large = "tools/lint/size_exceptions.txt", {"a.py": "x\n" * 450}
    assert found(file_sizes, {path: "a.py | 450 | one table\n", **large}) == []
    assert len(found(file_sizes, {path: "a.py | 450\n", **large})) == 2
    assert len(found(file_sizes, {path: "a.py | 450 | one table\n", "a.py": "x\n"})) == 1
    assert len(found(file_sizes, {path: "gone.py | 450 | one table\n"})) == 1


def forbidden(path: str, line: str) -> list[str]:
    rule = "*.rs | a reminder is an issue | \\b(TODO|FIXME)\\b\n"
    return found(forbidden_words, {"tools/lint/forbidden_words.txt": rule, path: line})


def test_a_forbidden_word_is_found_where_its_rule_applies() -> None:
    assert len(forbidden("a.rs", "// TODO later\n")) == 1
    assert forbidden("a.md", "TODO later\n") == []
    assert forbidden("a.rs", "// TODOS\n") == []


def test_a_rule_without_reason_is_found() -> None:
    assert len(found(forbidden_words, {"tools/lint/forbidden_words.txt": "*.rs | why\n"})) == 1


def test_a_link_to_a_missing_file_or_heading_is_found() -> None:
    texts = {
        "docs/b.md": "# One two\n",
        "a.md": "[b](docs/b.md#one-two) [d](docs) [n](https://x.y)\n",
    }
    assert found(doc_links, texts) == []
    assert len(found(doc_links, {**texts, "a.md": "[b](docs/c.md)\n"})) == 1
    assert len(found(doc_links, {**texts, "a.md": "[b](docs/b.md#three)\n"})) == 1
    assert found(doc_links, {"a.md": "```\n[b](c.md)\n```\n`[b](c.md)`\n"}) == []


STYLE = {"rust/a/Cargo.toml": "[lints]\nworkspace = true\n"}


def test_rust_files_keep_the_house_rules() -> None:
    assert (
        found(rust_style, {**STYLE, "rust/a/src/b.rs": "//! Owns.\nassert!(matches!(a, B));\n"})
        == []
    )
    assert len(found(rust_style, {**STYLE, "rust/a/src/b.rs": "use a;\n"})) == 1
    assert (
        len(found(rust_style, {**STYLE, "rust/a/src/b.rs": "//! O.\n    matches!(a, B);\n"})) == 1
    )
    named = "//! O.\n#[test]\nfn test_b() {}\n"
    assert len(found(rust_style, {**STYLE, "rust/a/src/b.rs": named})) == 1
    assert len(found(rust_style, {**STYLE, "rust/a/src/utils.rs": "//! O.\n"})) == 1
    assert len(found(rust_style, {"rust/a/Cargo.toml": "[package]\n"})) == 1


LIST = "tools/lint/unsafe_list.txt"
BLOCK = "// SAFETY: the caller keeps it.\nlet a = unsafe { b() };\n"


def test_unsafe_code_is_listed_counted_and_argued() -> None:
    listed = {LIST: "a.rs | 1 | mapping\n"}
    assert found(unsafe_list, {**listed, "a.rs": BLOCK}) == []
    assert len(found(unsafe_list, {LIST: "", "a.rs": BLOCK})) == 1
    assert len(found(unsafe_list, {**listed, "a.rs": BLOCK + BLOCK})) == 1
    assert len(found(unsafe_list, {**listed, "a.rs": "let a = unsafe { b() };\n"})) == 1
    assert len(found(unsafe_list, listed)) == 1


def test_words_about_unsafe_are_not_unsafe_code() -> None:
    text = '// unsafe { }\nlet a = "unsafe { }";\n#![expect(unsafe_code)]\n'
    assert found(unsafe_list, {LIST: "", "a.rs": text}) == []


def test_a_crate_without_a_level_for_unsafe_code_is_found() -> None:
    assert found(unsafe_list, {LIST: "", "rust/a/src/lib.rs": "#![forbid(unsafe_code)]\n"}) == []
    assert len(found(unsafe_list, {LIST: "", "rust/a/src/lib.rs": "//! A.\n"})) == 1
