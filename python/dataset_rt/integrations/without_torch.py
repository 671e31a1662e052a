"""What stands in for the PyTorch names where PyTorch is not installed."""

from typing import Any, NoReturn

__all__ = ["SizedTorchIterableDataset"]


class SizedTorchIterableDataset:
    """A name that can be imported, and explains itself when it is used."""

    def __init__(self, *_args: Any, **_options: Any) -> NoReturn:
        raise ImportError(
            "SizedTorchIterableDataset needs PyTorch: pip install torch", name="torch"
        )
