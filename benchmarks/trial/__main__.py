"""A contender's process: takes one JSON message a line, answers one line each.

The answers go to the descriptor that was standard output; what the contender prints goes to
standard error.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks.trial.base import Trial, Workload
from benchmarks.trial.engine import Engine, engine_class
from benchmarks.trial.kinds import KINDS
from benchmarks.trial.records import RecordSpec, check_delivered

_DONE = "complete.json"
_PR_SET_PDEATHSIG = 1


class _Served:
    """State between messages."""

    engine: Engine
    trial: Trial

    def begin(self, message: dict[str, Any]) -> dict[str, Any]:
        """Import the contender and take its task."""
        spec = RecordSpec.from_message(message["records"])
        workload = Workload(**message["workload"])
        kind = engine_class(message["engine"])
        self.engine = kind(spec, Path(message["store"]) / "data", message["options"])
        self.trial = KINDS[workload.kind](self.engine, workload, Path(message["scratch"]))
        return {
            "versions": self.engine.versions(),
            "build_profile": self.engine.build_profile(),
        }

    def store(self, message: dict[str, Any]) -> dict[str, Any]:
        """Write the store unless a finished one is there."""
        del message
        engine = self.engine
        mark = engine.store.parent / _DONE
        if mark.exists():
            return {"written": False}
        shutil.rmtree(engine.store.parent, ignore_errors=True)
        engine.store.parent.mkdir(parents=True)
        spec, make = engine.spec, engine.make_input
        engine.write(
            engine.store,
            [
                (make(data, metadata) for data, metadata in spec.records(cache_id))
                for cache_id in range(spec.caches)
            ],
        )
        mark.write_text(json.dumps(engine.versions()))
        return {"written": True}

    def check(self, message: dict[str, Any]) -> dict[str, Any]:
        """Compare what the timed path delivers with what was stored."""
        del message
        checked = 0
        seen = set()
        for delivered in self.trial.check():
            check_delivered(self.engine.spec, delivered)
            seen.add(delivered[:2])
            checked += 1
        if checked == 0:
            raise RuntimeError("nothing was delivered for checking")
        return {"checked": checked, "distinct": len(seen)}

    def prepare(self, message: dict[str, Any]) -> dict[str, Any]:
        """Open and warm up."""
        del message
        self.trial.prepare()
        return {}

    def run(self, message: dict[str, Any]) -> dict[str, Any]:
        """One measured trial."""
        del message
        return {"steps": {name: step.message() for name, step in self.trial.run().items()}}


def _die_with_parent() -> None:
    """Let the kernel kill this process when the harness is gone, stopped or not."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def serve() -> None:
    """Answer messages until standard input ends."""
    _die_with_parent()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    served = _Served()
    actions = {
        "begin": served.begin,
        "store": served.store,
        "check": served.check,
        "prepare": served.prepare,
        "run": served.run,
    }
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        try:
            answer = actions[message["do"]](message)
        except Exception:
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
