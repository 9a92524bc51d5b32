#!/usr/bin/env bash
# OpenTelemetry's instrumentation of the OpenAI client cannot be imported if it is installed as its metadata says.
#
# Versions: opentelemetry-instrumentation-openai-v2 2.4b0, openai 3.57.0, opentelemetry-util-genai 1.3b0 and 0.4b0, httpx 0.28.1 (PyPI).
# Behaviour: the package asks for opentelemetry-util-genai 0.4b0 or newer. The newest, 1.3b0, no longer has the module that it imports. It also
# imports httpx, which it does not ask for: clients up to version 2 brought it along, and version 3 has httpx2.
# So an installer finds no conflict, and programs stop at the import. It works with httpx and opentelemetry-util-genai 0.4b0.
# Its successor is opentelemetry-instrumentation-genai-openai.
# Seen:
#   as asked: No module named 'httpx'; with httpx: No module named 'opentelemetry.util.genai.instruments'; with 0.4b0: imported
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
install() { python/bin/pip install --quiet --disable-pip-version-check --pre "$@"; }
try() {
  python/bin/python - <<'PY'
try:
    import opentelemetry.instrumentation.openai_v2
    print("imported")
except ModuleNotFoundError as error:
    print(error)
PY
}

install opentelemetry-instrumentation-openai-v2==2.4b0 openai==3.57.0 opentelemetry-util-genai==1.3b0
as_asked=$(try)
install httpx==0.28.1
with_httpx=$(try)
install opentelemetry-util-genai==0.4b0
seen="as asked: $as_asked; with httpx: $with_httpx; with 0.4b0: $(try)"
echo "$seen"
[ "$seen" = "as asked: No module named 'httpx'; with httpx: No module named 'opentelemetry.util.genai.instruments'; with 0.4b0: imported" ]
