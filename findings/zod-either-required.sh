#!/usr/bin/env bash
# Zod reads "an id or a name" from a JSON Schema in a way that everything is valid with anyOf, and nothing with oneOf.
#
# Versions: zod 4.6.7, ajv 8.20.0 (npm).
# Behaviour: `z.fromJSONSchema`, which its authors call semi-experimental, throws for what it does not support: `not`, `if`, `dependentRequired`. `required`
# is supported, but looked at only for names in `properties` of the same object. So `{required: [id]}`, the usual way to say that one of two properties is
# needed, accepts every value: an `anyOf` of two of those is always met, so a tool's call without either is valid, and a `oneOf` never, as both are
# met. The same is true in `allOf`, and for a required property whose schema is in `additionalProperties`. JSON Schema has no such link between
# the two keywords. A constant that is an object is not equal to itself, and rejects its own value.
# Seen (schema and value, then ajv and Zod):
#   anyOf {}: false true; oneOf {"id":1}: true false; allOf {}: false true; additional {}: false true; constant {"unit":{"code":"C"}}: true false
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund zod@4.6.7 ajv@8.20.0 >npm.log 2>&1

cat >compare.mjs <<'JS'
import Ajv from "ajv/dist/2020.js";
import * as z from "zod";

const user = { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } };
const either = [{ required: ["id"] }, { required: ["name"] }];
const cases = {
  anyOf: [{ ...user, anyOf: either }, {}],
  oneOf: [{ ...user, oneOf: either }, { id: 1 }],
  allOf: [{ ...user, allOf: [{ required: ["id"] }] }, {}],
  additional: [{ type: "object", additionalProperties: { type: "number" }, required: ["total"] }, {}],
  constant: [{ type: "object", properties: { unit: { const: { code: "C" } } } }, { unit: { code: "C" } }],
};
const ajv = new Ajv.default({ strict: false });
for (const [name, [schema, value]] of Object.entries(cases)) {
  const verdicts = [ajv.validate(schema, value), z.fromJSONSchema(schema).safeParse(value).success];
  process.stdout.write(`${name} ${JSON.stringify(value)}: ${verdicts.join(" ")}; `);
}
JS
seen=$(node compare.mjs)
echo "$seen"
expected='anyOf {}: false true; oneOf {"id":1}: true false; allOf {}: false true; additional {}: false true; '
expected+='constant {"unit":{"code":"C"}}: true false; '
[ "$seen" = "$expected" ]
