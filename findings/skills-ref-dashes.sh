#!/usr/bin/env bash
# A skill whose description has three hyphens is valid, and loses the rest of its front matter.
#
# Versions: skills-ref 0.1.1 (PyPI).
# Behaviour: the front matter of SKILL.md is between two lines `---`. The reader looks for the next `---` in the text, not for a line: a value with
# three hyphens ends the front matter there. The skill is valid with half of its description and without the keys below, and nothing says so.
# Seen, for the description `Compares a --- b` and the license MIT:
#   [] 'Compares a' None
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check skills-ref==0.1.1

mkdir compare
printf -- '---\nname: compare\ndescription: Compares a --- b\nlicense: MIT\n---\nText\n' >compare/SKILL.md
seen=$(python/bin/python - <<'PY'
from pathlib import Path

from skills_ref import read_properties, validate

skill = Path("compare")
properties = read_properties(skill)
print(validate(skill), repr(properties.description), properties.license)
PY
)
echo "$seen"
[ "$seen" = "[] 'Compares a' None" ]
