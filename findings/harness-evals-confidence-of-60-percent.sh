#!/usr/bin/env bash
# In harness-evals, an agent that is always wrong, and 60 % sure of it, is calibrated perfectly.
#
# Versions: harness-evals 0.25.6 (PyPI).
# Behaviour: `CalibrationMetric` is 1 less the expected calibration error. It sorts the cases into ten bins by their confidence. The end of a bin is computed by adding
# its width to its start, and the start of the next one by multiplying: 0.5 + 0.1 is 0.6, and 6 * 0.1 is a little more. A confidence of 0.6 is not below the one and not
# above the other, so it is in no bin. Such cases count in the number of cases, and not in the error. As models state round numbers, 0.6 is a common confidence. With 20
# bins, it is 0.3 that is lost.
# Guess before the run: 0.4 for 100 cases with 0.6 and no success, as for other confidences.
# Seen (100 cases with one confidence; value without a success):
#   0.5: 0.50; 0.59: 0.41; 0.6: 1.00, 100 cases, error 0.0000; 0.61: 0.39; 0.7: 0.30; half of the cases 0.6, half 0.9: 0.55; 20 bins: 0.3: 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check harness-evals==0.25.6

cat >confidences.py <<'PY'
from harness_evals.core.eval_case import EvalCase
from harness_evals.metrics.reliability import CalibrationMetric


def wrong(confidences, bins=10):
    """Calibration of cases that all fail."""
    cases = [EvalCase(input="", output="", confidence=confidence) for confidence in confidences]
    return CalibrationMetric(n_bins=bins).measure_dataset(cases, [False] * len(cases))


for confidence in [0.5, 0.59, 0.6, 0.61, 0.7]:
    score = wrong([confidence] * 100)
    print(f"{confidence}: {score.value:.2f}, {score.metadata['n_cases']} cases, error {score.metadata['ece']:.4f}")
print(f"half 0.6, half 0.9: {wrong([0.6, 0.9] * 50).value:.2f}")
print(f"0.3 in 20 bins: {wrong([0.3] * 100, 20).value:.2f}")
PY
seen=$(python/bin/python confidences.py)
expected='0.5: 0.50, 100 cases, error 0.5000
0.59: 0.41, 100 cases, error 0.5900
0.6: 1.00, 100 cases, error 0.0000
0.61: 0.39, 100 cases, error 0.6100
0.7: 0.30, 100 cases, error 0.7000
half 0.6, half 0.9: 0.55
0.3 in 20 bins: 1.00'
echo "$seen"
[ "$seen" = "$expected" ]
