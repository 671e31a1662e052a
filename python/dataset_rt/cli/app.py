"""The arguments of ``dataset-rt``; what a command does stands in the file of its name."""

# ruff: noqa: PLR0917 - nobody calls a command but typer, by name

import enum
from pathlib import Path
from typing import Annotated

import typer

from dataset_rt.cli import USAGE
from dataset_rt.cli.failures import reported
from dataset_rt.cli.screen import Screen

__all__ = ["run"]

MOST_SEED = 2**64 - 1

app = typer.Typer(
    name="dataset-rt",
    help="Look at caches of training samples, check, measure and convert them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 fine, 1 damage or a cache that can't be opened, 2 wrong arguments.",
)

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Caches, or folders that hold caches.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON value instead of text.")]
Workers = Annotated[int, typer.Option(min=1, max=1024, help="Threads.")]
Seed = Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Seed of the draws.")]
Ordered = Annotated[bool, typer.Option("--ordered", help="Table order instead of shuffled.")]
EachOnce = Annotated[bool, typer.Option("--each-once", help="Each row once per cycle.")]


class Compression(str, enum.Enum):
    """Values of ``--compression``."""

    none = "none"
    lz4 = "lz4"


def run() -> int:
    """Run the command line of this process and give the exit code."""
    try:
        app(prog_name="dataset-rt")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE if end.code else 0
    return 0


def _version(wanted: bool) -> None:
    if wanted:
        import dataset_rt

        print(f"dataset-rt {dataset_rt.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def info(
    paths: Paths,
    files: Annotated[bool, typer.Option("--files", help="List every file.")] = False,
    json: Json = False,
) -> None:
    """What the manifest says: format, source, samples, sizes, schema, files, digest."""
    with reported():
        from dataset_rt.cli.info import info as answer

        answer(Screen(as_json=json), paths, all_files=files)


@app.command()
def head(
    paths: Paths,
    rows: Annotated[int, typer.Option("-n", "--rows", min=1, help="How many samples.")] = 10,
    workers: Workers = 1,
    json: Json = False,
) -> None:
    """The first samples: metadata, payload size and first bytes."""
    with reported():
        from dataset_rt.cli.head import head as answer

        answer(Screen(as_json=json), paths, rows=rows, workers=workers)


@app.command()
def verify(
    paths: Paths,
    workers: Workers = 4,
    most: Annotated[
        int, typer.Option("--most", min=1, help="Findings to show of each cache.")
    ] = 20,
    json: Json = False,
) -> None:
    """Check every byte and name what is damaged; exit code 1 if something is."""
    with reported():
        from dataset_rt.cli.verify import verify as answer

        answer(Screen(as_json=json), paths, workers=workers, most=most)


@app.command()
def stats(
    paths: Paths,
    by: Annotated[
        str | None, typer.Option(help="Column whose expected and drawn shares to compare.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            help="Weight of the rows, an SQL expression over the table: quality, or "
            "1.0 / COUNT(*) OVER (PARTITION BY label)."
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option("-n", "--draws", min=0, help="How many draws.", show_default="one per row"),
    ] = None,
    seed: Seed = 0,
    each_once: EachOnce = False,
    all_payloads: Annotated[
        bool, typer.Option("--all-payloads", help="Read every payload, not a random choice.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a figure: .png or .svg.")
    ] = None,
    workers: Workers = 2,
    json: Json = False,
) -> None:
    """Counts, payload sizes, columns; with --by expected against drawn shares."""
    with reported():
        from dataset_rt.cli.shares import Shares
        from dataset_rt.cli.stats import stats as answer

        answer(
            Screen(as_json=json),
            paths,
            shares=Shares(by, weight, draws, seed, each_once),
            every_payload=all_payloads,
            plot=plot,
            workers=workers,
        )


@app.command()
def plan(
    paths: Paths,
    draws: Annotated[int, typer.Option("-n", "--draws", min=0, help="How many draws.")] = 20,
    start: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="First position.")] = 0,
    seed: Seed = 0,
    ordered: Ordered = False,
    each_once: EachOnce = False,
    json: Json = False,
) -> None:
    """The draws to come from the untouched table; reads no payload."""
    with reported():
        from dataset_rt.cli.plan import plan as answer

        answer(
            Screen(as_json=json),
            paths,
            draws=draws,
            start=start,
            seed=seed,
            ordered=ordered,
            each_once=each_once,
        )


@app.command()
def bench(
    paths: Paths,
    seconds: Annotated[
        float, typer.Option(min=0.01, max=3600, help="Time for each way of reading.")
    ] = 1.0,
    batch_size: Annotated[int, typer.Option(min=1, help="Samples of a batch.")] = 64,
    workers: Workers = 2,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Read speed on this machine now, beside its speed of copying memory."""
    with reported():
        from dataset_rt.cli.bench import bench as answer

        answer(
            Screen(as_json=json),
            paths,
            seconds=seconds,
            batch_size=batch_size,
            workers=workers,
            seed=seed,
        )


@app.command()
def convert(
    path: Annotated[Path, typer.Argument(help="The cache to read.", show_default=False)],
    out: Annotated[Path, typer.Argument(help="The new cache; must not exist.", show_default=False)],
    compression: Annotated[
        Compression | None,
        typer.Option(help="How the new records are stored.", show_default="as they are"),
    ] = None,
    max_shard_bytes: Annotated[
        int, typer.Option(min=1, help="A shard is closed before it grows beyond this.")
    ] = 64 * 1024 * 1024,
    workers: Workers = 4,
    json: Json = False,
) -> None:
    """Rewrite a cache as one of format 1, with another compression on wish."""
    with reported():
        from dataset_rt.cli.convert import convert as answer

        answer(
            Screen(as_json=json),
            path,
            out,
            compression=compression.value if compression else None,
            max_shard_bytes=max_shard_bytes,
            workers=workers,
        )
