#!/usr/bin/env bash
# In agentrel, the 95 % interval of pass^k does not contain its own estimate, nor, in most studies, the true value.
#
# Versions: agentrel 0.1.0 (PyPI), numpy 2.4.6, scipy 1.17.1.
# Behaviour: `pass_hat_k` is the probability that k runs of a task all succeed, estimated without bias from n runs by C(c, k) / C(n, k). Its interval draws tasks,
# and then n runs of each with replacement, and puts these into the same formula. But a drawn run may come twice, so a task of which one run in five failed
# has no failure in a third of its resamples. On average they give (c/n)^k, which is more than the formula gives for the runs. The nearer k is to n, the
# further the interval is off, and for `pass_at_k` in the other direction. The description promises honest intervals for every number, and says that
# pass^k is the one to look at. For k = 1 the interval is rather too wide.
# Seen (five runs of each of 100 tasks):
#   four succeed: pass^5 0.000 in 0.240 to 0.420; one in 40 of the tasks fails: pass^5 0.600 in 0.640 to 0.810, pass^1 0.920 in 0.888 to 0.946;
#   one succeeds: pass@5 1.000 in 0.580 to 0.760
#   100 such studies in which a run succeeds with probability 0.9: the interval contains the true value in all of them for k = 1, and in 28 for k = 5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agentrel==0.1.0 numpy==2.4.6 scipy==1.17.1

cat >intervals.py <<'PY'
import numpy as np
from agentrel import pass_at_k, pass_hat_k


def tasks(*passed):
    return {f"task {number}": np.array([1.0] * count + [0.0] * (5 - count)) for number, count in enumerate(passed)}


def show(name, found):
    print(f"{name} {found.value:.3f} in {found.ci_low:.3f} to {found.ci_high:.3f}", end="; ")


show("four of five each: pass^5", pass_hat_k(tasks(*[4] * 100), 5, seed=0))
mixed = tasks(*[5] * 60, *[4] * 40)
show("40 of 100 failed once: pass^5", pass_hat_k(mixed, 5, seed=0))
show("pass^1", pass_hat_k(mixed, 1, seed=0))
show("one of five each: pass@5", pass_at_k(tasks(*[1] * 100), 5, seed=0))

draws = np.random.default_rng(1)
studies = [{f"task {number}": (draws.random(5) < 0.9).astype(float) for number in range(100)} for _ in range(100)]
for k in (1, 5):
    found = [pass_hat_k(study, k, n_boot=100, seed=number) for number, study in enumerate(studies)]
    print(f"coverage k = {k}: {np.mean([one.ci_low <= 0.9**k <= one.ci_high for one in found]):.2f}", end="; ")
PY
seen=$(python/bin/python intervals.py)
expected='four of five each: pass^5 0.000 in 0.240 to 0.420; 40 of 100 failed once: pass^5 0.600 in 0.640 to 0.810; '
expected+='pass^1 0.920 in 0.888 to 0.946; one of five each: pass@5 1.000 in 0.580 to 0.760; coverage k = 1: 1.00; coverage k = 5: 0.28; '
echo "$seen"
[ "$seen" = "$expected" ]
