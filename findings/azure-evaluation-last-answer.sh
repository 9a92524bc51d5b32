#!/usr/bin/env bash
# The pass rate of Azure's evaluator of questions and answers is that of the metric whose judge answered last.
#
# Versions: azure-ai-evaluation 1.18.10 (PyPI). The judge is a server on loopback that gives groundedness 5 of 5, and the other metrics 1.
# Behaviour: `binary_aggregate` of `evaluate` is to be the aggregated pass rate of an evaluator, says its changelog. It is computed from every column
# whose name ends with `_result`, under a name that has the evaluator, but not the metric: the last column remains. `QAEvaluator` has six metrics,
# which run at once, and its columns are in the order in which they ended. So the same answers of the judge are a pass rate of 1.0 or 0.0. It
# depends on which of them was slow, and the other five metrics do not count.
# Seen:
#   groundedness slow: pass rate 1.0; similarity slow: pass rate 0.0; both times 2 metrics pass, and 4 fail
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check azure-ai-evaluation==1.18.10

cat >row.jsonl <<'JSON'
{"query": "Was it refunded?", "context": "The order was refunded.", "response": "It was refunded.", "ground_truth": "It was refunded."}
JSON
cat >rate.py <<'PY'
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from azure.ai.evaluation import QAEvaluator, evaluate

slow = sys.argv[1]


class Judge(BaseHTTPRequestHandler):
    def do_POST(self):
        prompt = self.rfile.read(int(self.headers["Content-Length"])).decode().lower()
        metric = next(name for name in ("groundedness", "similarity", "fluency", "coherence", "relevance") if name in prompt)
        if metric == slow:
            time.sleep(2)
        score = 5 if metric == "groundedness" else 1
        content = json.dumps({"explanation": "", "score": score})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "judge", "choices": [choice], "usage": usage}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
Thread(target=server.serve_forever, daemon=True).start()
model = {"type": "openai", "api_key": "none", "model": "judge", "base_url": f"http://127.0.0.1:{server.server_port}/v1"}
found = evaluate(data="row.jsonl", evaluators={"qa": QAEvaluator(model)})
results = [value for name, value in found["rows"][0].items() if name.endswith("_result")]
rate = found["metrics"]["qa.binary_aggregate"]
print(f"{slow} slow: pass rate {rate}, {results.count('pass')} pass, {results.count('fail')} fail")
PY
seen=$(for slow in groundedness similarity; do python/bin/python rate.py "$slow" 2>/dev/null | tail -n 1; done)
expected='groundedness slow: pass rate 1.0, 2 pass, 4 fail
similarity slow: pass rate 0.0, 2 pass, 4 fail'
echo "$seen"
[ "$seen" = "$expected" ]
