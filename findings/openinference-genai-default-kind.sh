#!/usr/bin/env bash
# A span of a database becomes a call of a language model when it is converted to OpenInference.
#
# Versions: @arizeai/openinference-genai 0.3.10 (npm).
# Behaviour: the package converts attributes of OpenTelemetry's GenAI conventions. A span without `gen_ai.operation.name` is none of them, but it
# gets the span kind `LLM`: an HTTP request, a query, and a span without any attribute. Counts of model calls by span kind are then too high.
# arize-phoenix 20.26.1, of the same vendor, has a conversion of its own when it receives spans, which leaves such a span `unknown`.
# Seen:
#   http LLM, database LLM, no attributes LLM, invoke_agent AGENT, execute_tool TOOL
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @arizeai/openinference-genai@0.3.10 >npm.log 2>&1

cat >convert.mjs <<'JS'
import { convertGenAISpanAttributesToOpenInferenceSpanAttributes as convert } from "@arizeai/openinference-genai";

const kinds = [
  { "http.request.method": "GET", "url.path": "/health" },
  { "db.system.name": "postgresql", "db.query.text": "SELECT 1" },
  {},
  { "gen_ai.operation.name": "invoke_agent" },
  { "gen_ai.operation.name": "execute_tool" },
].map((attributes) => convert(attributes)["openinference.span.kind"]);
console.log(kinds.join(" "));
JS
seen=$(node convert.mjs)
echo "$seen"
[ "$seen" = 'LLM LLM LLM AGENT TOOL' ]
