#!/usr/bin/env bash
# The standard error that lighteval computes by bootstrap is 31 times too small, and is halved by four times as many resamples.
#
# Versions: lighteval 0.13.0, numpy 2.4.6, scipy 1.17.1 (PyPI).
# Behaviour: For a metric of the whole corpus, such as F1, Matthews' correlation or BLEU, the results get a standard error by bootstrap, which is the standard
# deviation of the metric over the resamples. Lighteval divides it by the square root of their number, 1,000 by default, as if the resamples were new
# data. So differences of two models that are noise look certain, and the setting `bootstrap_iters`, which should only affect the precision of the standard
# error, scales it. Its origin, the harness lm-eval, returns the standard deviation. Metrics that are means of samples are right.
# The module is loaded by its file, as the package itself needs PyTorch; the metric is the usual F1 of pairs of truth and judgement.
# Seen (F1 0.75 of 200 pairs; standard error, then the standard deviation over 2,000 samples of that distribution):
#   1000 resamples: 0.0012; 4000 resamples: 0.0006; samples: 0.0385
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-deps lighteval==0.13.0
python/bin/pip install --quiet --disable-pip-version-check numpy==2.4.6 scipy==1.17.1 tqdm==4.70.1 >pip.log 2>&1

cat >stderr.py <<'PY'
import importlib.util
import random
import sysconfig
from statistics import stdev


def f1(pairs):
    both = sum(truth and judged for truth, judged in pairs)
    return 2 * both / (sum(truth for truth, _ in pairs) + sum(judged for _, judged in pairs))


if __name__ == "__main__":
    path = sysconfig.get_paths()["purelib"] + "/lighteval/metrics/utils/stderr.py"
    spec = importlib.util.spec_from_file_location("lighteval_stderr", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    pairs = [(1, 1)] * 60 + [(1, 0)] * 20 + [(0, 1)] * 20 + [(0, 0)] * 100
    for resamples in (1000, 4000):
        print(f"{resamples} resamples: {module.get_stderr_function(f1, number_experiments=resamples)(pairs):.4f}", end="; ")
    random.seed(1)
    print(f"samples: {stdev(f1(random.choices(pairs, k=200)) for _ in range(2000)):.4f}")
PY
LIGHTEVAL_DISABLE_TQDM=1 python/bin/python stderr.py | tee seen
python/bin/python - <<'PY'
small, large, true = [float(part.split(": ")[1]) for part in open("seen").read().split("; ")]
assert 28 < true / small < 35, true / small
assert 1.8 < small / large < 2.2, small / large
PY
