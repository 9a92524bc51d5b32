#!/usr/bin/env bash
# fancy-regex 0.20.0 finds `b+(?:ab)*b+` in a text with one `b`.
#
# Versions: fancy-regex 0.20.0 and 0.20.2, regex 1.13.1 (crates.io), of October and November 2026.
# Behaviour: in 0.20.0, two repeats of the same letter around an optional group match where only one of them is there, with and without a
# capture. With another letter in one of the repeats, the match is right. The pattern has nothing that `regex` lacks, so it looks as if it were
# given to the same engine. 0.20.2 is right; its list of changes says that some optimisations were not sound.
# Seen, each line with the answer of fancy-regex and that of regex for b+(?:ab)*b+, b+(ab)*b+ and a+(?:ab)*b+:
#   0.20.0 and regex: true false; true false; false false;
#   0.20.2 and regex: false false; false false; false false;
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "repeats"
version = "0.1.0"
edition = "2024"

[dependencies]
old = { package = "fancy-regex", version = "=0.20.0" }
regex = "=1.13.1"
TOML
cat >src/main.rs <<'RUST'
fn main() {
    for (pattern, text) in [("b+(?:ab)*b+", "b"), ("b+(ab)*b+", "b"), ("a+(?:ab)*b+", "a")] {
        let old = old::Regex::new(pattern).unwrap().is_match(text).unwrap();
        let linear = regex::Regex::new(pattern).unwrap().is_match(text);
        print!("{old} {linear}; ");
    }
}
RUST
old=$(cargo run --quiet)
sed -i 's/=0.20.0/=0.20.2/' Cargo.toml
new=$(cargo run --quiet)
printf '0.20.0 and regex: %s\n0.20.2 and regex: %s\n' "$old" "$new"
[ "$new" = "false false; false false; false false; " ]
[ "$old" = "true false; true false; false false; " ]
