"""Definitions as data: what is stored, what is done with it, by whom, and what is aimed at.

A definition is one TOML file. A list of row counts in it stands for one definition each.
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_toml: Any = import_module("tomllib")  # of Python 3.11; the package itself supports 3.10

Kind = Literal["read", "batches", "get_item", "write", "verify", "growth", "loader", "remote"]
Quantity = Literal[
    "speed", "cpu", "cpu_us", "wall_ms", "switches", "private_mib", "worker_mib", "fetched_share"
]
_COMPARED = {"speed", "cpu", "worker_mib"}
Positive = Annotated[int, Field(gt=0)]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Records(_Data):
    """What every contender stores.

    Attributes:
        rows: Rows of all caches together; a list in the file is taken apart on loading.
        payload_bytes: Least and most; lengths are uniform between them.
        content: ``"random"`` does not compress, ``"text"`` does.
        codec: Asked of contenders that compress.
    """

    rows: Positive
    payload_bytes: tuple[int, int]
    caches: Positive = 2
    content: Literal["random", "text"] = "random"
    codec: Literal["none", "lz4"] = "none"
    seed: int = 1

    @model_validator(mode="before")
    @classmethod
    def _one_size(cls, values: dict[str, Any]) -> dict[str, Any]:
        size = values.get("payload_bytes")
        return {**values, "payload_bytes": (size, size)} if isinstance(size, int) else values

    @model_validator(mode="after")
    def _sizes_in_order(self) -> Records:
        least, most = self.payload_bytes
        if not 0 <= least <= most:
            raise ValueError(f"payload_bytes: 0 <= least <= most is wanted, not {least}, {most}")
        if self.rows < self.caches:
            raise ValueError(f"{self.rows} rows do not fill {self.caches} caches")
        return self

    def message(self) -> dict[str, Any]:
        """The fields as the contender's process takes them."""
        least, most = self.payload_bytes
        values = self.model_dump(exclude={"payload_bytes"})
        return {**values, "least_bytes": least, "most_bytes": most}

    def digest(self) -> str:
        """Names stores: equal records, equal digest."""
        return _digest(self.message())


class Workload(_Data):
    """What one trial does.

    Attributes:
        draws: Samples of one pass; the number of rows if 0.
        pass_seconds: A warm trial repeats passes until it has run this long.
        spinner: Whether a second Python thread spins meanwhile.
        workers: Processes of a loader.
        repeats: Of growth: how often the weighted table has each row of the caches.
    """

    kind: Kind
    draws: Annotated[int, Field(ge=0)] = 0
    consume: Literal["count", "crc32"] = "count"
    temperature: Literal["warm", "cold"] = "warm"
    spinner: bool = False
    batch_size: Annotated[int, Field(ge=0)] = 0
    workers: Annotated[int, Field(ge=0)] = 0
    pass_seconds: Annotated[float, Field(ge=0)] = 0.5
    repeats: Positive = 1

    @property
    def needs_fresh_process(self) -> bool:
        """Whether a trial only means something in a process that has done nothing yet."""
        return self.kind in {"growth", "remote"} or self.temperature == "cold"


class Target(_Data):
    """One line of what is aimed at, for ``contender``.

    Attributes:
        quantity: ``speed`` is the other's wall time by ours, ``cpu`` our CPU time by the
            other's, ``worker_mib`` what our worker holds more than the other's, all paired
            by round; the rest are absolute.
        over: The contender or group that is the other.
        rows: The row count this is for; every one if left out.
        step: Which step of the trial; the trial's kind if left out.
    """

    quantity: Quantity
    over: str | None = None
    contender: str = "ours"
    step: str = ""
    rows: int | None = None
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _complete(self) -> Target:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("exactly one of at_least and at_most is wanted")
        if (self.over is not None) != (self.quantity in _COMPARED):
            raise ValueError(f"{self.quantity}: 'over' goes with {sorted(_COMPARED)} only")
        return self


class Definition(_Data):
    """One benchmark. ``family`` is the file's name, ``name`` adds the row count if it varies."""

    name: str
    family: str
    title: str
    records: Records
    workload: Workload
    contenders: tuple[str, ...]
    rounds: Positive = 7
    targets: tuple[Target, ...] = ()

    @model_validator(mode="after")
    def _no_repeats(self) -> Definition:
        if len(set(self.contenders)) != len(self.contenders):
            raise ValueError(f"{self.name}: a contender is named twice")
        return self

    @property
    def draws(self) -> int:
        """Samples of one pass."""
        return self.workload.draws or self.records.rows

    @property
    def own_targets(self) -> list[Target]:
        """The targets for this row count."""
        return [each for each in self.targets if each.rows in {None, self.records.rows}]

    def workload_message(self) -> dict[str, Any]:
        """The workload as the contender's process takes it."""
        return {**self.workload.model_dump(), "draws": self.draws}

    def digest(self) -> str:
        """What was done, in 16 digits; titles, targets and contenders do not count."""
        return _digest({"records": self.records.message(), "workload": self.workload_message()})


def _digest(values: dict[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_definition(text: str, name: str) -> Iterator[Definition]:
    """Read one file's text into one definition per row count."""
    values: dict[str, Any] = _toml.loads(text)
    rows = values.get("records", {}).get("rows")
    counts = rows if isinstance(rows, list) else [rows]
    for count in counts:
        records = {**values.get("records", {}), "rows": count}
        full = f"{name}/{count}" if len(counts) > 1 else name
        yield Definition.model_validate(
            {**values, "name": full, "family": name, "records": records}
        )


def load_definitions(folder: Path) -> list[Definition]:
    """Load every definition of a folder, ordered by file name and row count."""
    found: list[Definition] = []
    for path in sorted(folder.glob("*.toml")):
        found.extend(read_definition(path.read_text(encoding="utf-8"), path.stem))
    return found


class Contender(_Data):
    """Who takes part: an engine, the environment it runs in, and its options.

    Attributes:
        group: Contenders of one group count as one, the best of each round.
    """

    engine: str
    environment: str
    group: str = ""
    options: dict[str, int | bool | str] = {}


def load_contenders(file: Path) -> dict[str, Contender]:
    """Load ``contenders.toml``."""
    values: dict[str, Any] = _toml.loads(file.read_text(encoding="utf-8"))
    return {name: Contender.model_validate(entry) for name, entry in values.items()}
