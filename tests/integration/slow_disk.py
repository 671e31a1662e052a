"""A shard whose opening waits for a word: what a slow disk does, without a disk.

Another process holds a lease on the file (`fcntl(2)`, F_SETLEASE). Whoever opens it waits in the
kernel until the lease is given up, and the holder is told that somebody does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from children import ended, start
from support import Rows, write_ok

if TYPE_CHECKING:
    from pathlib import Path

    import dataset_rt as drt

SHARDS = 200
"""More than a reader without mappings keeps open, so that the last one is opened for each read."""

HOLD = """
import fcntl, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
file = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
say("held")
signal.sigwait([signal.SIGIO])
say("asked for")
sys.stdin.readline()
with open("/proc/locks") as text:
    locks = [line.split() for line in text]
say(any(str(os.getpid()) in line and "BREAKING" in line for line in locks))
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
"""


def payload(sample_id: int) -> bytes:
    return b"%4d" % sample_id * 30


def write_many_shards(runtime: drt.DatasetRuntime, base: Path) -> Path:
    """A cache with one sample in each shard."""
    rows = [(payload(number), {"number": number}) for number in range(SHARDS)]
    return write_ok(runtime, Rows("many", rows), base, max_shard_bytes=120).path


class SlowShard:
    """Holds back who opens the last shard of such a cache."""

    def __init__(self, cache: Path) -> None:
        self._holder = start(HOLD, cache / "shards" / f"{SHARDS - 1:06d}.bin")
        self._expect("held")

    def _expect(self, word: str) -> None:
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == f'"{word}"\n'

    def wait_for_reader(self) -> None:
        """Wait until somebody waits for the shard."""
        self._expect("asked for")

    def release(self) -> None:
        """Let the reader go on, who must have been waiting until now: leases end by themselves."""
        output, errors = ended(self._holder, "go on\n")
        assert (output, errors) == ("true\n", "")

    def close(self) -> None:
        """End the holder whatever happened."""
        self._holder.kill()
        if not self._holder.stdin.closed:
            ended(self._holder)
