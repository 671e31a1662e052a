"""A crate reaches only what it may: `crate_graph.py LABELS --own=a,b --never=c`.

LABELS is a file with the labels of everything that the crate depends on, one a line.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = re.compile(r"^(?:@@?)?//rust/([^:/]+)")
THIRD_PARTY = re.compile(r"crates__(.+?)-\d+\.")


def problems(labels: list[str], own: set[str], never: set[str]) -> Iterator[str]:
    """Crates among the labels that may not be reached."""
    reached = {found[1] for label in labels if (found := OWN.match(label))}
    third_party = {found[1] for label in labels if (found := THIRD_PARTY.search(label))}
    if not reached or not third_party:
        yield "found no crate of ours, or none of others: labels are not written as expected"
    for name in sorted(reached - own):
        yield f"reaches our crate {name}, may reach {sorted(own)}"
    for name in sorted(third_party & never):
        yield f"reaches {name}"


def main() -> int:
    """Reads the labels and prints one line for each crate that may not be reached."""
    parser = argparse.ArgumentParser()
    parser.add_argument("labels", type=Path)
    parser.add_argument("--own", type=lambda text: set(text.split(",")), required=True)
    parser.add_argument("--never", type=lambda text: set(text.split(",")), required=True)
    args = parser.parse_args()
    found = list(problems(args.labels.read_text().splitlines(), args.own, args.never))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
