"""Which rank this process is, and what ranks tell each other about their streams."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch.distributed

from dataset_rt.errors import InvalidConfigError, StateMismatchError

if TYPE_CHECKING:
    from dataset_rt import _native

__all__ = ["compare_ranks", "own_rank"]


def own_rank(dataset: _native.Dataset) -> tuple[int, int] | None:
    """Rank and world size of this process; None if it is the only one.

    They come from ``torch.distributed`` where it is initialised. Before that the variables of
    the launcher hold, so that a loader may be made first. A dataset that is one rank's view
    already is not split again.

    Raises:
        InvalidConfigError: The launcher's variables are no rank of a world.
    """
    if dataset.rank[1] > 1:
        return None
    if _is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return _launched_rank()


def _launched_rank() -> tuple[int, int] | None:
    """``RANK`` and ``WORLD_SIZE``, as torchrun and its like set them for each process."""
    texts = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not all(texts):
        return None
    try:
        rank, world_size = map(int, texts)
    except ValueError:
        rank, world_size = -1, 0
    if not 0 <= rank < world_size:
        raise InvalidConfigError(
            f"the variables RANK={texts[0]!r} and WORLD_SIZE={texts[1]!r} are no rank of a world; "
            "unset them, or pass rank= and world_size=",
            field="RANK",
            value=texts[0],
        )
    return (rank, world_size) if world_size > 1 else None


def compare_ranks(dataset: _native.Dataset, found: tuple[int, int]) -> None:
    """Make sure that all ranks are about to draw from one stream; a collective call.

    Args:
        dataset: This rank's dataset.
        found: What ``own_rank`` found when the loader was made.

    Raises:
        InvalidConfigError: ``torch.distributed`` is not initialised, or has another rank or
            world size than the launcher said.
        StateMismatchError: Another rank has other caches, another table, mode, seed, epoch
            length or position. Every rank raises it.
    """
    distributed = torch.distributed
    if not _is_initialized():
        raise InvalidConfigError(
            f"RANK and WORLD_SIZE say that this process is rank {found[0]} of {found[1]}, but "
            "torch.distributed, by which ranks make sure that they draw from one stream, is not "
            "initialised: call init_process_group before the loader is iterated, or pass rank= "
            "and world_size= to do without (0 and 1 for all draws in each process)",
            field="world_size",
            value=str(found[1]),
        )
    ranks = distributed.get_rank(), distributed.get_world_size()
    if ranks != found:
        raise InvalidConfigError(
            f"the loader was made for rank {found[0]} of {found[1]}, and torch.distributed says "
            f"{ranks[0]} of {ranks[1]}: make the loader after init_process_group",
            field="world_size",
            value=str(found[1]),
        )
    states: list[Any] = [None] * ranks[1]
    distributed.all_gather_object(states, dataset.state_dict())
    for rank, state in enumerate(states):
        _compare(dataset, state, f"rank {rank} does not draw what rank {ranks[0]} draws")


def _is_initialized() -> bool:
    distributed = torch.distributed
    return distributed.is_available() and distributed.is_initialized()


def _compare(dataset: _native.Dataset, state: dict[str, int | str], finding: str) -> None:
    try:
        dataset.check_equal(state)
    except StateMismatchError as error:
        fields = {name: getattr(error, name) for name in error.fields}
        raise StateMismatchError(f"{finding}: {error.message}", **fields) from error
