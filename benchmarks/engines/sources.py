"""The source object that the writers of ours and of the original ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class NamedSource:
    """One cache's inputs under a name.

    Attributes:
        name: Directory of the cache.
    """

    def __init__(self, cache_id: int, inputs: Iterable[Any]) -> None:
        self.name = f"cache-{cache_id}"
        self._inputs = inputs

    def __iter__(self) -> Iterator[Any]:
        """The inputs in order."""
        return iter(self._inputs)
