#!/usr/bin/env bash
# In bleuscore, a wrong answer of one word has a BLEU of 0.84 with smoothing, and a sentence with one wrong word 0.64.
#
# Versions: bleuscore 0.2.0 (crates.io), sacrebleu 2.6.0 (PyPI).
# Behaviour: BLEU is the geometric mean of four precisions, of words and of sequences of two, three and four words. Without smoothing, every answer of less than four
# words has 0; the example in the documentation smooths. Smoothing adds one to the hits and to the possible hits of every precision, that of the words included.
# An answer of one word has no sequences, so three of its four precisions are 1 of 1, and that of a wrong word is 1 of 2. The usual form, which sacrebleu has,
# leaves the precision of the words as it is: without a common word, the score is 0. The documentation says that the usage is that of the metric of Hugging
# Face, and nothing about how it smooths. A threshold of 0.8 passes every answer of one word where one word is expected.
# Guess before the run: 0, or nearly so, for a wrong word.
# Seen (reference, answer; without smoothing, with smoothing; sacrebleu with one added):
#   yes, no: 0.00, 0.84, 0.00; Paris, Rome: 0.00, 0.84, 0.00; "refund it", "cancel them": 0.00, 0.64, 0.00;
#   "It was refunded on Monday.", "It was refunded on Tuesday.": 0.54, 0.64, 0.64
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check sacrebleu==2.6.0
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "word"
version = "0.1.0"
edition = "2024"

[dependencies]
bleuscore = "=0.2.0"
TOML
cat >src/main.rs <<'RUST'
use std::env::args;

use bleuscore::{RefLenMethod, compute_score};

fn main() {
    let [reference, answer] = [1, 2].map(|place| args().nth(place).expect("reference and answer"));
    for smooth in [false, true] {
        let score = compute_score(&[vec![reference.clone()]], &[answer.clone()], 4, smooth, RefLenMethod::Shortest);
        print!("{:.2} ", score.bleu);
    }
}
RUST
cargo build --quiet
cat >score.py <<'PY'
import sys

from sacrebleu.metrics import BLEU

reference, answer = sys.argv[1:]
bleu = BLEU(smooth_method="add-k", smooth_value=1)
print(f"{bleu.corpus_score([answer], [[reference]]).score / 100:.2f}")
PY
seen=$(
    while IFS='|' read -r reference answer; do
        echo "$reference, $answer: $(target/debug/word "$reference" "$answer")$(python/bin/python score.py "$reference" "$answer")"
    done <<'TEXT'
yes|no
Paris|Rome
refund it|cancel them
It was refunded on Monday.|It was refunded on Tuesday.
TEXT
)
expected='yes, no: 0.00 0.84 0.00
Paris, Rome: 0.00 0.84 0.00
refund it, cancel them: 0.00 0.64 0.00
It was refunded on Monday., It was refunded on Tuesday.: 0.54 0.64 0.64'
echo "$seen"
[ "$seen" = "$expected" ]
