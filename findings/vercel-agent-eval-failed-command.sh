#!/usr/bin/env bash
# In Vercel's agent-eval, a command that failed is successful as soon as any later tool works.
#
# Versions: @vercel/agent-eval 2.2.1 (npm). The lines are those of Claude Code's `--output-format stream-json`, shortened.
# Behaviour: The summary of a transcript has `shellCommands` with `success`, for tests of what the agent did; the documentation lists it. A
# result of a tool is not matched with its call by `tool_use_id`: each result, of any tool, sets `success` of the newest command, unless that
# has an exit code, which Claude Code does not report. So `npm test` that failed is successful after a file was read. A failed search makes
# a command that worked fail. Of two commands at once, the first has no result, and the second the result that arrived last.
# Seen:
#   fails, then reads: npm test true; works, then search fails: npm test false; two at once: npm test -, npm run lint true
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @vercel/agent-eval@2.2.1 >npm.log 2>&1

cat >summary.mjs <<'JS'
import { parseTranscriptSummary } from "@vercel/agent-eval";

const call = (id, name, input) => ({ type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", id, name, input }] } });
const result = (id, works, content) => ({
  type: "user",
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, is_error: !works, content }] },
});
const test = call("a", "Bash", { command: "npm test" });

for (const [name, ...lines] of [
  ["fails, then reads", test, result("a", false, "Exit code 1"), call("b", "Read", { file_path: "a.txt" }), result("b", true, "text")],
  ["works, then search fails", test, result("a", true, "ok"), call("b", "Grep", { pattern: "(" }), result("b", false, "no pattern")],
  [
    "two at once",
    test,
    call("b", "Bash", { command: "npm run lint" }),
    result("b", false, "Exit code 2"),
    result("a", true, "ok"),
  ],
]) {
  const raw = lines.map((line) => JSON.stringify(line)).join("\n");
  const { shellCommands } = parseTranscriptSummary(raw, "claude-code");
  console.log(`${name}: ${shellCommands.map(({ command, success }) => `${command} ${success ?? "-"}`).join(", ")}`);
}
JS
seen=$(node summary.mjs)
expected='fails, then reads: npm test true
works, then search fails: npm test false
two at once: npm test -, npm run lint true'
echo "$seen"
[ "$seen" = "$expected" ]
