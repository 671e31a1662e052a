"""A machine that is made up: a home folder, and programs that stand before those of the system."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

TOOLS = Path("tools").absolute()
SYSTEM_PATH = "/usr/bin:/bin"
PARTS = re.findall(r"/airgap/(\w+)\.sh", (TOOLS / "bazel").read_text())
# what the launcher reads before it does anything
PRELUDE = f"set -euo pipefail; tools={TOOLS}; " + "".join(
    f'. "$tools/airgap/{part}.sh"; ' for part in PARTS
)


class Machine:
    """A home folder, and programs that stand before those of the system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "bin").mkdir()
        self.environment = {
            "HOME": str(root),
            "PATH": f"{root / 'bin'}:{SYSTEM_PATH}",
            "XDG_CACHE_HOME": str(root / "cache"),
        }

    def program(self, name: str, script: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def hide(self, *names: str) -> None:
        """From now on the system has no programs of these names."""
        folder = self.root / "system"
        folder.mkdir()
        for path in Path("/usr/bin").iterdir():
            if path.name not in names:
                (folder / path.name).symlink_to(path)
        self.environment["PATH"] = f"{self.root / 'bin'}:{folder}"

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=self.environment | environment,
            cwd=TOOLS.parent,
        )

    def bazel(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(TOOLS / "bazel"), *arguments, **environment)

    def function(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run("bash", "-c", PRELUDE + script, **environment)
