#!/usr/bin/env bash
# MCPJam's SDK uploads a test that passed as failed, and not the test that failed, from a JUnit report of pytest.
#
# Versions: @mcpjam/sdk 1.14.0, @modelcontextprotocol/client 2.0.0-alpha.2 (npm), pytest 9.2.0 (PyPI).
# Behaviour: `uploadEvalArtifact` takes JUnit XML. A test case without content is one element without an end tag, as pytest, jest-junit and most others write
# a test that passed. It is read as the begin of an element that lasts to the next end tag, which is that of the first test which failed. So the first of
# some passed tests gets the failure of another test, and all up to that other one are missing. With a failure near the end of the report, nearly
# everything is. The names, the number of tests and the pass rate are wrong, and there is no error. The SDK also asks for client 2.4.0, the newest,
# with which it cannot be loaded; so the client is fixed here.
# Seen (test_add, test_subtract, test_divide, which fails, test_power, test_root):
#   pytest: 1 failed, 4 passed; uploaded: add failed, power passed, root passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0
npm install --silent --no-audit --no-fund @mcpjam/sdk@1.14.0 @modelcontextprotocol/client@2.0.0-alpha.2 >npm.log 2>&1

cat >test_tools.py <<'PY'
def test_add():
    assert 1 + 1 == 2


def test_subtract():
    assert 2 - 1 == 1


def test_divide():
    assert 1 / 2 == 1


def test_power():
    assert 2**3 == 8


def test_root():
    assert 4**0.5 == 2
PY
python/bin/python -m pytest -q -p no:cacheprovider --junitxml=junit.xml test_tools.py >pytest.log || true
cat >upload.mjs <<'JS'
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { uploadEvalArtifact } from "@mcpjam/sdk";

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part)).on("end", () => {
    const { results } = JSON.parse(body);
    const name = ({ caseTitle }) => caseTitle.replace("test_tools::test_", "");
    console.log("uploaded:", results.map((result) => `${name(result)} ${result.passed ? "passed" : "failed"}`).join(", "));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ok: true, runId: "run", suiteId: "suite", summary: {} }));
  });
});
server.listen(0, "127.0.0.1", async () => {
  const artifact = readFileSync("junit.xml", "utf8");
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  await uploadEvalArtifact({ suiteName: "tools", format: "junit-xml", artifact, apiKey: "none", baseUrl });
  server.close();
});
JS
seen="pytest: $(tail -1 pytest.log | sed 's/ in .*//'); $(DO_NOT_TRACK=1 node upload.mjs)"
echo "$seen"
[ "$seen" = 'pytest: 1 failed, 4 passed; uploaded: add failed, power passed, root passed' ]
