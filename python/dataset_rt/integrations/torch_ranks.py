"""What the ranks of a ``torch.distributed`` job tell each other about their streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.distributed

from dataset_rt.errors import StateMismatchError

if TYPE_CHECKING:
    from dataset_rt import _native

__all__ = ["compare_ranks", "own_rank"]


def own_rank(dataset: _native.Dataset) -> tuple[int, int] | None:
    """Rank and world size of this process; None without ``torch.distributed``.

    A dataset that is one rank's view already is not split again.
    """
    distributed = torch.distributed
    if dataset.rank[1] > 1 or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def compare_ranks(dataset: _native.Dataset) -> None:
    """Make sure that all ranks are about to draw from one stream; a collective call.

    Raises:
        StateMismatchError: Another rank has other caches, another table, mode, seed, epoch
            length or position. Every rank raises it.
    """
    states: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(states, dataset.state_dict())
    own = torch.distributed.get_rank()
    for rank, state in enumerate(states):
        _compare(dataset, state, f"rank {rank} does not draw what rank {own} draws")


def _compare(dataset: _native.Dataset, state: dict[str, int | str], finding: str) -> None:
    try:
        dataset.check_equal(state)
    except StateMismatchError as error:
        fields = {name: getattr(error, name) for name in error.fields}
        raise StateMismatchError(f"{finding}: {error.message}", **fields) from error
