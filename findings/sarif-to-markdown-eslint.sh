#!/usr/bin/env bash
# A report of ESLint with errors is "Nothing here" for sarif-to-markdown, which is not told to fail either.
#
# Versions: @security-alert/sarif-to-markdown 1.11.1, @microsoft/eslint-formatter-sarif 3.1.0, eslint 9.39.5 (npm).
# Behaviour: In SARIF, `level` of a result is its level; only without it, that of its rule counts, and `warning` without both (3.27.10). The formatter of
# ESLint writes the first. Sarif-to-markdown takes that of the rule alone. Results of a rule without one are left out of the Markdown, and neither
# `hasMessages` nor, with `failOn`, `shouldFail` is set, so a comment on a pull request or a gate says that all is well. If the rule has a level, it hides the
# one of the result. Its types call both options severities, and do not say whose.
# Seen (a warning and an error; then the same with rules whose own level is `note`):
#   eslint: exit 1, levels warning, error; as written: messages false, fail false, Nothing here; rules are notes: messages true, fail false, [NOTE]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @security-alert/sarif-to-markdown@1.11.1 @microsoft/eslint-formatter-sarif@3.1.0 eslint@9.39.5 >npm.log 2>&1

cat >eslint.config.mjs <<'JS'
export default [{ files: ["app.js"], rules: { "no-undef": "error", "no-unused-vars": "warn" } }];
JS
echo 'const answer = total + 1;' >app.js
status=0
npx eslint --format @microsoft/eslint-formatter-sarif app.js >eslint.sarif || status=$?
cat >markdown.cjs <<'JS'
const { readFileSync } = require("node:fs");
const { sarifToMarkdown } = require("@security-alert/sarif-to-markdown");

const convert = sarifToMarkdown({ owner: "owner", repo: "repo", branch: "main", sourceRoot: "", failOn: ["error", "warning"], suppressedResults: false });
const show = (name, log) => {
  const [{ hasMessages, shouldFail, body }] = convert(log);
  const text = [...new Set(body.match(/Nothing here|\[(ERROR|WARNING|NOTE)\]/g))].join(", ");
  console.log(`${name}: messages ${hasMessages}, fail ${shouldFail}, ${text}`);
};
const log = JSON.parse(readFileSync("eslint.sarif", "utf8"));
console.log("levels:", log.runs[0].results.map(({ level }) => level).join(", "));
show("as written", log);
for (const rule of log.runs[0].tool.driver.rules) rule.defaultConfiguration = { level: "note" };
show("rules are notes", log);
JS
seen="eslint: exit $status
$(node markdown.cjs)"
expected='eslint: exit 1
levels: warning, error
as written: messages false, fail false, Nothing here
rules are notes: messages true, fail false, [NOTE]'
echo "$seen"
[ "$seen" = "$expected" ]
