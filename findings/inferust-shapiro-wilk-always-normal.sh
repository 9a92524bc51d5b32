#!/usr/bin/env bash
# In inferust, samples of 20 and 500 values are always normal for the test of Shapiro and Wilk: two groups of latencies, or two runs that hang, have p = 1.00.
#
# Versions: inferust 0.8.2 (crates.io), scipy 1.17.1 (PyPI).
# Behaviour: the statistic W is nearly that of scipy. The p-value is that of the wrong side: the smaller W is, the farther the sample from a normal one, and the nearer p to 1.
# For a W above 0.8 it is at least (W - 0.8) / 0.18, however many values there are. The test of Anderson and Darling of the same crate is right. The documentation names the
# approximation of Royston, valid for 3 to 5000 values; the list of changes has that p-values differ from those of scipy by the approximation, but not the direction. So whoever chooses a
# test of two agents by the normality of their scores or latencies always takes the one for normal values.
# Guess before the run: p-values as in scipy, less than 0.01 for values that are not normal.
# Seen (quantiles of a distribution; W and p of Shapiro and Wilk, p of Anderson and Darling; W and p of scipy):
#   20 values: exponential: 0.853, 0.994, 0.016; 0.856, 0.007; two groups: 0.694, 1.000, 0.000; 0.669, 0.000; two that hang: 0.345, 1.000, 0.000; 0.359, 0.000;
#   500 values: exponential: 0.819, 1.000, 0.000; 0.820, 0.000; uniform: 0.957, 1.000, 0.000; 0.955, 0.000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check scipy==1.17.1
cat >samples.py <<'PY'
import json
import math

quantiles = {count: [(place + 0.5) / count for place in range(count)] for count in (20, 500)}
exponential = {count: [-math.log(1 - share) for share in shares] for count, shares in quantiles.items()}
groups = [share / 10 + (0.9 if share > 0.5 else 0) for share in quantiles[20]]
hang = [share + (100 if share > 0.9 else 0) for share in quantiles[20]]
samples = {
    "exponential, 20": exponential[20],
    "two groups, 20": groups,
    "two hang, 20": hang,
    "exponential, 500": exponential[500],
    "uniform, 500": quantiles[500],
}
with open("samples.json", "w") as file:
    json.dump(samples, file)
PY
python/bin/python samples.py
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "normal"
version = "0.1.0"
edition = "2024"

[dependencies]
inferust = "=0.8.2"
serde_json = { version = "1", features = ["preserve_order"] }
TOML
cat >src/main.rs <<'RUST'
use inferust::hypothesis::nonparametric::{anderson_darling, shapiro_wilk};
use serde_json::{Map, Value};

fn main() {
    let text = std::fs::read_to_string("samples.json").expect("samples");
    let samples: Map<String, Value> = serde_json::from_str(&text).expect("samples");
    for (name, values) in samples {
        let values: Vec<f64> = serde_json::from_value(values).expect("numbers");
        let test = shapiro_wilk(&values).expect("sample");
        let other = anderson_darling(&values).expect("sample");
        println!("{name}: {:.3} {:.3} {:.3}", test.w_statistic, test.p_value, other.p_value);
    }
}
RUST
cargo build --quiet
cat >test.py <<'PY'
import json

from scipy.stats import shapiro

with open("samples.json") as file:
    for values in json.load(file).values():
        test = shapiro(values)
        print(f"{test.statistic:.3f} {test.pvalue:.3f}")
PY
seen=$(paste -d ' ' <(cargo run --quiet) <(python/bin/python test.py))
expected='exponential, 20: 0.853 0.994 0.016 0.856 0.007
two groups, 20: 0.694 1.000 0.000 0.669 0.000
two hang, 20: 0.345 1.000 0.000 0.359 0.000
exponential, 500: 0.819 1.000 0.000 0.820 0.000
uniform, 500: 0.957 1.000 0.000 0.955 0.000'
echo "$seen"
[ "$seen" = "$expected" ]
