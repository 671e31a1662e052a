"""``python -m dataset_rt``: the command ``dataset-rt``."""

import sys

from dataset_rt.cli import main

if __name__ == "__main__":
    sys.exit(main())
