"""Prints the results of Inspect's metrics on the data of `statistics/src/tests.rs` and `records/src/statistics/tests.rs`.

    pip install inspect_ai
    python report/tests/tools/inspect_statistics.py
"""

from importlib.metadata import version

import numpy
from inspect_ai.scorer import SampleScore, Score, ci, ci_wilson, mean, stderr

DIFFERENCES = [0.5, -0.25, 0, 1, 0, -0.5, 0.25, 0, 0.75, -0.125, 0, 0.5, -1, 0.25, 0, 0.375, 0.5, -0.25, 0.125, 0]
CLUSTERS = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 5, 5, 5, 6, 7, 7, 8, 8]
SCORES = [1, 0.5, 0.75, 0, 1, 1, 0.25, 0.9]


def samples(values, clusters):
    return [
        SampleScore(score=Score(value=value), sample_id=index, sample_metadata={"cluster": str(cluster)})
        for index, (value, cluster) in enumerate(zip(values, clusters))
    ]


def show(name, value):
    print(f"{name}: {value}")


print("inspect_ai", version("inspect_ai"))
differences = samples(DIFFERENCES, CLUSTERS)
show("mean", mean()(differences))
for cluster in (None, "cluster"):
    show(f"stderr, cluster={cluster}", stderr(cluster=cluster)(differences))
    show(f"ci, cluster={cluster}", ci(cluster=cluster)(differences))
    numpy.random.seed(1)
    resampled = ci(method="bootstrap", num_samples=200_000, cluster=cluster)(differences)
    show(f"ci by bootstrap, cluster={cluster}", resampled)
scores = samples(SCORES, range(len(SCORES)))
show("scores", (mean()(scores), stderr()(scores), ci()(scores)))
for passed, cases in [(20, 20), (18, 20), (48, 50), (3, 7)]:
    rate = ci_wilson()(samples([1] * passed + [0] * (cases - passed), range(cases)))
    show(f"ci_wilson, {passed} of {cases}", rate)
