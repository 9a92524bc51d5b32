#!/usr/bin/env bash
# @llmist/testing cannot be imported outside of Vitest, and the agent of its first example calls the calculator ten times and answers nothing.
#
# Versions: @llmist/testing 18.4.0, llmist 18.4.0, vitest 4.1.12 (npm).
# Behaviour: the package with mock models for llmist has a copy of Vitest inside, which looks for a running Vitest when it is loaded. With node:test, Jest or a script, the import is
# an error about the internal state of Vitest. The description does not name Vitest, nor is it a dependency; it installs the package with npm or bun.
# In Vitest, the first example has a mock that calls the tool Calculator if a message contains "calculate". Any message counts, which the types say, and the question stays in the
# conversation. So the result of the tool is answered by the next call, until the limit of ten steps, and the answer of the agent is an empty text, without an error.
# A method withClient, with which the example gives the mock to the agent, does not exist; the constructor of the builder does.
# Guess before the run: one call of the calculator, and the import works anywhere.
# Seen: import in Node.js: an error; in Vitest: withClient exists: false; calls: 10, answer: ""; with whenLastMessageContains instead, and a second mock for the result: calls: 1, answer: "It is 3."
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund @llmist/testing@18.4.0 llmist@18.4.0 vitest@4.1.12
cat >agent.test.js <<'JS'
import { appendFileSync } from "node:fs";
import { createMockClient, mockLLM, resetMocks } from "@llmist/testing";
import { AgentBuilder, Gadget, LLMist, z } from "llmist";
import { test } from "vitest";

let calls = 0;

class Calculator extends Gadget({ name: "Calculator", description: "Adds.", schema: z.object({ a: z.number(), b: z.number() }) }) {
  execute({ a, b }) {
    calls += 1;
    return String(a + b);
  }
}

async function show(name) {
  calls = 0;
  const agent = new AgentBuilder(createMockClient()).withModel("mock:model").withGadgets(Calculator);
  const answer = await agent.askAndCollect("calculate 1 + 2");
  appendFileSync("seen.txt", `${name}: calls: ${calls}, answer: ${JSON.stringify(answer)}\n`);
  resetMocks();
}

test("agent", async () => {
  appendFileSync("seen.txt", `withClient exists: ${"withClient" in LLMist.createAgent()}\n`);
  mockLLM().whenMessageContains("calculate").returnsGadgetCall("Calculator", { a: 1, b: 2 }).register();
  await show("any message");
  mockLLM().whenLastMessageContains("calculate").returnsGadgetCall("Calculator", { a: 1, b: 2 }).register();
  mockLLM().whenLastMessageContains("3").returns("It is 3.").register();
  await show("last message");
});
JS
status=0
node --input-type=module --eval 'await import("@llmist/testing")' 2>error.txt || status=$?
echo "import: status $status, $(grep -o 'Vitest failed to access its internal state' error.txt)" >seen.txt
npx vitest run --silent >run.txt 2>&1 || cat run.txt
expected='import: status 1, Vitest failed to access its internal state
withClient exists: false
any message: calls: 10, answer: ""
last message: calls: 1, answer: "It is 3."'
cat seen.txt
[ "$(cat seen.txt)" = "$expected" ]
