#!/usr/bin/env bash
# The price of a streamed answer of Gemini is a multiple of the true one if its chunks are added as genai-prices suggests.
#
# Versions: genai-prices 0.2.3 (PyPI). The chunks are those of Gemini's `streamGenerateContent`, reduced to the model and the usage.
# Behaviour: `extract_usage` reads each chunk, and its result has a `+` whose documentation names this use: adding up the chunks of a stream to
# compute its costs. But the usage of a chunk of Gemini covers the call so far: the whole prompt, and the output up to there. So the prompt is
# paid once a chunk. A long answer has hundreds of them. The last chunk alone has the right price.
# Seen:
#   last of 20 chunks: 10000 in, 500 out, 0.0042500; all added: 200000 in, 5250 out, 0.0731250
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check genai-prices==0.2.3

seen=$(python/bin/python - <<'PY'
from functools import reduce
from operator import add

from genai_prices import extract_usage

chunks = [
    {"modelVersion": "gemini-2.5-flash", "usageMetadata": {"promptTokenCount": 10_000, "candidatesTokenCount": 25 * n, "totalTokenCount": 10_000 + 25 * n}}
    for n in range(1, 21)
]
found = [extract_usage(chunk, provider_id="google") for chunk in chunks]
for name, total in [("last of 20 chunks", found[-1]), ("all added", reduce(add, found))]:
    print(f"{name}: {total.usage.input_tokens} in, {total.usage.output_tokens} out, {total.calc_price().total_price:.7f}", end="; ")
PY
)
echo "$seen"
[ "$seen" = 'last of 20 chunks: 10000 in, 500 out, 0.0042500; all added: 200000 in, 5250 out, 0.0731250; ' ]
