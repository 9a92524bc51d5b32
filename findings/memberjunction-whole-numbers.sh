#!/usr/bin/env bash
# In MemberJunction's testing engine, 30 is not a number, and 9 is between 1 and 5.
#
# Versions: @memberjunction/testing-engine 5.51.3, ajv 8.20.0 (npm).
# Behaviour: The oracle `schema-validate` holds an answer against a JSON Schema, of draft 7 as its documentation says. A whole number has the type integer, and
# only that, so it does not conform where the schema asks for a number. An agent whose prices happen to be whole fails, and the answer of the example in the
# documentation does not conform to the schema beside it. The limits of a number are checked for values that are not whole, so a whole one may be anything,
# with the type integer and without a type. Ajv accepts and rejects as the draft says.
# Seen (schema, value; oracle, Ajv):
#   number, 30: failed, passed; number, 30.5: both passed; integer of 1 to 5, 9: passed, failed; any type of 1 to 5, 9: passed, failed;
#   number of 1 to 5, 9.5: both failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ajv@8.20.0 >npm.log 2>&1
npm pack --silent @memberjunction/testing-engine@5.51.3 >npm.log
tar -xzf memberjunction-testing-engine-5.51.3.tgz

cat >oracle.mjs <<'JS'
import { Ajv } from "ajv";
import { SchemaValidatorOracle } from "./package/dist/oracles/SchemaValidatorOracle.js";

const ajv = new Ajv({ strict: false });
const limits = { minimum: 1, maximum: 5 };
for (const [schema, value] of [
  [{ type: "number" }, 30],
  [{ type: "number" }, 30.5],
  [{ type: "integer", ...limits }, 9],
  [limits, 9],
  [{ type: "number", ...limits }, 9.5],
]) {
  const input = { expectedOutput: { responseSchema: schema }, actualOutput: value };
  const { passed } = await new SchemaValidatorOracle().evaluate(input, {});
  console.log(`${JSON.stringify(schema)} ${value}: ${passed} ${ajv.validate(schema, value)}`);
}
JS
seen=$(node oracle.mjs)
expected='{"type":"number"} 30: false true
{"type":"number"} 30.5: true true
{"type":"integer","minimum":1,"maximum":5} 9: true false
{"minimum":1,"maximum":5} 9: true false
{"type":"number","minimum":1,"maximum":5} 9.5: false false'
echo "$seen"
[ "$seen" = "$expected" ]
