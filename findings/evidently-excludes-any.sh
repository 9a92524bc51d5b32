#!/usr/bin/env bash
# In Evidently, a text excludes forbidden words as long as one of them is not in it, and a further forbidden word makes a text pass.
#
# Versions: evidently 0.7.23, pandas 2.3.3 (PyPI).
# Behaviour: The documentation says that `ExcludesWords` checks that a text excludes all words of the list, and that its mode is "all" unless "any" is
# given. The default of the code is "any", with which a text passes unless it has all of the words. `DoesNotContain`, which does the same for parts of
# a text, has the opposite meaning of both modes: with its default "any", a text passes if it has none of them, and with "all" unless it has all.
# Guess before the run: a text with one of two forbidden words fails both checks.
# Seen (passed for "We refund it.", "We refund it with a discount.", "It is lost."):
#   ExcludesWords of refund: no, no, yes; of refund and discount: yes, no, yes; with mode "all": no, no, yes
#   DoesNotContain of refund and discount: no, no, yes; with mode "all": yes, no, yes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check evidently==0.7.23 pandas==2.3.3

cat >excludes.py <<'PY'
import pandas
from evidently import DataDefinition, Dataset
from evidently.descriptors import DoesNotContain, ExcludesWords

answers = pandas.DataFrame({"answer": ["We refund it.", "We refund it with a discount.", "It is lost."]})
both = ["refund", "discount"]
descriptors = [
    ExcludesWords("answer", ["refund"], lemmatize=False, alias="words: refund"),
    ExcludesWords("answer", both, lemmatize=False, alias="words: both"),
    ExcludesWords("answer", both, mode="all", lemmatize=False, alias="words: both, all"),
    DoesNotContain("answer", both, alias="parts: both"),
    DoesNotContain("answer", both, mode="all", alias="parts: both, all"),
]
checked = Dataset.from_pandas(answers, data_definition=DataDefinition(text_columns=["answer"]), descriptors=descriptors).as_dataframe()
for column in checked.columns[1:]:
    print(f"{column}:", *("yes" if passed else "no" for passed in checked[column]))
PY
seen=$(DO_NOT_TRACK=1 python/bin/python -W ignore excludes.py)
expected='words: refund: no no yes
words: both: yes no yes
words: both, all: no no yes
parts: both: no no yes
parts: both, all: yes no yes'
echo "$seen"
[ "$seen" = "$expected" ]
