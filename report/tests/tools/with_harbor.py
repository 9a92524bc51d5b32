"""Reads trajectories of a run with Harbor's own models, which refuse every field that they do not know.

    pip install harbor
    python report/tests/tools/with_harbor.py RUN

RUN is a run directory.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

from harbor.models.trajectories import Trajectory


def main(run):
    files = sorted(Path(run).glob("suites/*/cases/*/trial-*/trajectory.json"))
    assert files, f"no trajectories in {run}"
    steps = 0
    for file in files:
        document = json.loads(file.read_text())
        trajectory = Trajectory.model_validate(document)
        written = json.loads(trajectory.model_dump_json(exclude_none=True))
        lost = [key for key in document if key not in written]
        assert not lost, f"{file}: {lost}"
        assert len(written["steps"]) == len(document["steps"]), file
        steps += len(document["steps"])
    print(f"harbor {version('harbor')}: {len(files)} trajectories, {steps} steps")


if __name__ == "__main__":
    main(sys.argv[1])
