#!/usr/bin/env bash
# In LangChain for Python, a mustache prompt has `&lt;` where the answer to be judged has `<`, and loses the items 0, false, "" and {} of a list.
#
# Versions: langchain-core 1.8.3 (PyPI), @langchain/core 1.4.0 (npm).
# Behaviour: Prompts in LangSmith's mustache format are meant for both languages. LangChain for JavaScript has switched the escaping for HTML off. LangChain for Python has not, and its
# documentation of the format `mustache` does not mention it: a judge sees `if a &lt; b &amp;&amp; c` instead of the code, and each quote costs six
# characters. In a section that repeats for the items of a list, an item that counts as false in Python leaves nothing, not even the text around it. Mustache
# repeats a section for each item of a list that is not empty. So a list of scores lacks the zeros, and a list of calls those without arguments. The same
# prompt for a judge differs in both languages, and so do its scores.
# Guess before the run: the same text in both languages.
# Seen (a template with an answer and the lists scores [2, 0, 1] and calls [{"city": "Rome"}, {}]):
#   Python: if (a &lt; b &amp;&amp; c == &quot;x&quot;) scores: [2][1] calls: (Rome)
#   JavaScript: if (a < b && c == "x") scores: [2][0][1] calls: (Rome)()
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check langchain-core==1.8.3
npm install --silent --no-audit --no-fund @langchain/core@1.4.0 >npm.log 2>&1

cat >prompt.json <<'JSON'
{
  "template": "{{answer}} scores: {{#scores}}[{{.}}]{{/scores}} calls: {{#calls}}({{city}}){{/calls}}",
  "values": { "answer": "if (a < b && c == \"x\")", "scores": [2, 0, 1], "calls": [{ "city": "Rome" }, {}] }
}
JSON
cat >prompt.py <<'PY'
import json

from langchain_core.prompts import PromptTemplate

prompt = json.load(open("prompt.json"))
print("Python:", PromptTemplate.from_template(prompt["template"], template_format="mustache").format(**prompt["values"]))
PY
cat >prompt.mjs <<'JS'
import { readFileSync } from "node:fs";
import { PromptTemplate } from "@langchain/core/prompts";

const { template, values } = JSON.parse(readFileSync("prompt.json", "utf8"));
console.log("JavaScript:", await PromptTemplate.fromTemplate(template, { templateFormat: "mustache" }).format(values));
JS
seen=$(
  python/bin/python prompt.py
  node prompt.mjs
)
expected='Python: if (a &lt; b &amp;&amp; c == &quot;x&quot;) scores: [2][1] calls: (Rome)
JavaScript: if (a < b && c == "x") scores: [2][0][1] calls: (Rome)()'
echo "$seen"
[ "$seen" = "$expected" ]
