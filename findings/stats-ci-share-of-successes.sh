#!/usr/bin/env bash
# In stats-ci, the interval of a share of successes is that of one success less: 29 % of 100 are 28.
#
# Versions: stats-ci 0.1.1 (crates.io).
# Behaviour: `ci_wilson_ratio` takes the share of successes instead of their number, and is documented as a front for `ci_wilson`. It multiplies the share
# by the size of the sample and cuts the decimals off. But 29 / 100 * 100 is a little less than 29 in floating point, so 28 are counted. That is the case
# for 747 of the 19,482 shares k / n with n from 10 to 200 and at least two successes and failures. The interval of 7 of 55 does not even reach
# as far as it should by two points, and that of 2 of 49 is an error, as one success is too few.
# Seen, the interval by number and by share: 29 of 100: 0.210-0.385 and 0.201-0.375; 7 of 55: 0.063-0.240 and 0.051-0.218;
#   2 of 49: 0.011-0.137 and error; 30 of 100: 0.219-0.396 and 0.219-0.396
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "share"
version = "0.1.0"
edition = "2024"

[dependencies]
stats-ci = "=0.1.1"
TOML
cat >src/main.rs <<'RUST'
use stats_ci::{CIResult, Confidence, Interval, proportion};

fn text(found: CIResult<Interval<f64>>) -> String {
    found.map_or("error".into(), |interval| {
        let (low, high): (f64, f64) = interval.into();
        format!("{low:.3}-{high:.3}")
    })
}

fn main() {
    let level = Confidence::new(0.95);
    for (successes, all) in [(29_usize, 100_usize), (7, 55), (2, 49), (30, 100)] {
        let share = successes as f64 / all as f64;
        let number = text(proportion::ci_wilson(level, all, successes));
        print!("{successes} of {all}: {number} and {}; ", text(proportion::ci_wilson_ratio(level, all, share)));
    }
}
RUST
seen=$(cargo run --quiet)
expected='29 of 100: 0.210-0.385 and 0.201-0.375; 7 of 55: 0.063-0.240 and 0.051-0.218; '
expected+='2 of 49: 0.011-0.137 and error; 30 of 100: 0.219-0.396 and 0.219-0.396; '
echo "$seen"
[ "$seen" = "$expected" ]
