#!/usr/bin/env bash
# In rusty-llm-jury, the confidence interval of a success rate has no width, however few answers it is estimated from.
#
# Versions: rusty-llm-jury 0.1.0 (crates.io), judgy 0.1.0 (PyPI), the same estimate in Python, as a comparison.
# Behaviour: the share of answers that a judge calls right is corrected by how often the judge was right about answers that people have labelled. The interval is
# to come from resamples of the labelled answers. But each resample draws all of them without replacement, so it is the same answers in another order,
# with the same estimate. The interval is one number with 20 labels, with 200, and at each level of confidence. The description shows intervals
# of more than half of the scale for 8 labels.
# Seen (a judge that is right about 8 of 10 good and 7 of 10 bad answers, and calls 3 of 5 new ones good), each with the estimate:
#   rusty-llm-jury: 0.95: 0.6000 in 0.6000 to 0.6000; 0.5: 0.6000 in 0.6000 to 0.6000; ten times the labels: 0.6000 in 0.6000 to 0.6000
#   judgy: 0.95: 0.6000 in 0.00 to 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "width"
version = "0.1.0"
edition = "2024"

[dependencies]
rusty-llm-jury = "=0.1.0"
TOML
cat >src/main.rs <<'RUST'
fn main() {
    let labels = [[1_u8; 10], [0; 10]].concat();
    let judged = [[1, 1, 1, 1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]].concat();
    let new = [1, 1, 1, 0, 0];
    for (name, times, level) in [("0.95", 1, 0.95), ("0.5", 1, 0.5), ("ten times the labels", 10, 0.95)] {
        let found = llmjury::estimate_success_rate(&labels.repeat(times), &judged.repeat(times), &new, 5_000, level).unwrap();
        print!("{name}: {:.4} in {:.4} to {:.4}; ", found.theta_hat, found.lower_bound, found.upper_bound);
    }
}
RUST
seen=$(cargo run --quiet)
expected='0.95: 0.6000 in 0.6000 to 0.6000; 0.5: 0.6000 in 0.6000 to 0.6000; '
expected+='ten times the labels: 0.6000 in 0.6000 to 0.6000; '
echo "$seen"
[ "$seen" = "$expected" ]

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check judgy==0.1.0 numpy==2.4.6
cat >width.py <<'PY'
import numpy as np
from judgy import estimate_success_rate

np.random.seed(0)
labels = [1] * 10 + [0] * 10
judged = [1] * 8 + [0] * 2 + [0] * 7 + [1] * 3
estimate, low, high = estimate_success_rate(labels, judged, [1, 1, 1, 0, 0], 5000, 0.95)
print(f"{estimate:.4f} in {low:.2f} to {high:.2f}")
PY
reference=$(python/bin/python width.py)
echo "$reference"
[ "$reference" = "0.6000 in 0.00 to 1.00" ]
