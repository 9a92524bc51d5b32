#!/usr/bin/env bash
# Python's protobuf reads spans in OTLP/JSON without an error, and gives every span another id.
#
# Versions: opentelemetry-proto 1.45.2 and protobuf 7.36.2 (PyPI).
# Behaviour: OTLP/JSON is the JSON mapping of protobuf, except that ids are hexadecimal and not base64. Sixteen or thirty-two hexadecimal digits are
# also valid base64, so the generic reader takes them: a trace id has 24 bytes instead of 16 and a span id 12 instead of 8. Parents still match
# their children, so the tree looks right; only the ids are wrong.
# Seen:
#   24 bytes, e5bf1e7df7fb…; 12 bytes; parent equal to its span: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check opentelemetry-proto==1.45.2 protobuf==7.36.2

seen=$(python/bin/python - <<'PY'
import json

from google.protobuf.json_format import Parse
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

ids = {"traceId": "5b8efff798038103d269b633813fc60c"}
root = {**ids, "spanId": "eee19b7ec3c1b174", "name": "root"}
child = {**ids, "spanId": "0123456789abcdef", "parentSpanId": "eee19b7ec3c1b174", "name": "child"}
text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [root, child]}]}]})
root, child = Parse(text, TracesData()).resource_spans[0].scope_spans[0].spans
print(len(root.trace_id), root.trace_id.hex()[:12], len(root.span_id), child.parent_span_id == root.span_id)
PY
)
echo "$seen"
[ "$seen" = '24 e5bf1e7df7fb 12 True' ]
