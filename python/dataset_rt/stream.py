"""``DrawStream``: the part of a dataset that speaks of positions, plans and states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataset_rt.metadata import add_up, to_frame

if TYPE_CHECKING:
    import polars as pl

    from dataset_rt import _native

__all__ = ["DrawStream"]


class DrawStream:
    """The draw stream of a dataset: draws are a function of their position.

    Base of ``CachedDataset``; it has no use of its own.
    """

    _native: _native.Dataset

    @property
    def position(self) -> int:
        """The cursor: number of the draw with which the next window starts."""
        return self._native.position

    def skip(self, n: int) -> None:
        """Move the cursor ``n`` draws on; the state records it.

        Raises:
            InvalidConfigError: ``n`` is negative or the stream would overflow.
        """
        self._native.skip(n)

    def state_dict(self) -> dict[str, int | str]:
        """Describe the cursor, for an exact resume.

        In mid-window use the iterator's, which counts what was delivered.

        Returns:
            A plain dict under 1 KiB that JSON can hold.
        """
        return self._native.state_dict()

    def load_state_dict(self, state: dict[str, int | str]) -> None:
        """Resume: the next iterator covers the rest of the saved window.

        Args:
            state: From ``state_dict`` of a dataset, an iterator or a loader, whatever the
                number of threads, processes or ranks was.

        Raises:
            StateMismatchError: Caches, table, mode or seed differ; nothing changes.
        """
        self._native.load_state_dict(state)

    def plan(self, n: int, start: int | None = None) -> pl.DataFrame:
        """Look at draws to come; reads no payload and moves nothing.

        Args:
            n: Number of draws.
            start: First position; the cursor if left out.

        Returns:
            A frame of ``position``, ``row``, ``cache_id`` and ``sample_id``.
        """
        return to_frame(self._native.plan(n, start))

    def sampling_report(self, start: int, stop: int, by: str | None = None) -> pl.DataFrame:
        """Compare what a range of positions draws with what the weights ask for.

        Reads no payload and moves nothing. Positions are those of all ranks together, drawn
        already or still to come.

        Args:
            start: First position.
            stop: Position behind the last one.
            by: Column of the active table whose equal values share a line; one line per row
                of the table if left out.

        Returns:
            A frame that starts with ``row``, ``cache_id`` and ``sample_id`` (UInt64), in table
            order; or with the column named by ``by`` and ``rows`` (UInt64), the rows that have
            its value, in order of their first one. Then follow ``weight_share`` (Float64), the
            share of all weights; ``expected`` (Float64), the draws on average over all seeds;
            ``drawn`` (UInt64), the draws of this seed. The last two add up to the number of
            positions.

        Raises:
            InvalidConfigError: The range is turned round or leaves the stream; ``by`` names no
                column of the table, or one called like a column of the report.
        """
        frame = to_frame(self._native.sampling_report(start, stop, by))
        return frame if by is None else add_up(frame)

    def draw_seed(self, position: int) -> int:
        """Give the seed for augmentation of one draw, a function of seed and position."""
        return self._native.draw_seed(position)
