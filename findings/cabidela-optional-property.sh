#!/usr/bin/env bash
# In Cabidela, an optional property may have any value if its schema has alternatives, and a list of texts may have numbers.
#
# Versions: @cloudflare/cabidela 0.2.4, ajv 8.20.0 (npm).
# Behaviour: The documentation says that `anyOf`, `oneOf`, `allOf` and `not` are supported, and names what is not: several types, patterns, and conditions. But
# a property that fits no alternative only counts as missing, which is an error of required properties alone. In a list that has only texts and numbers,
# the items are not looked at, and `minItems` is not looked at in any list. Ajv rejects each of these, as the specification says.
# Seen:
#   number or null, given a text: cabidela accepts, ajv rejects; whole numbers, given 1 and a text: cabidela accepts, ajv rejects;
#   one day or more, given none: cabidela accepts, ajv rejects; a number, given a text: both reject
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @cloudflare/cabidela@0.2.4 ajv@8.20.0 >npm.log 2>&1

cat >validate.mjs <<'JS'
import { Cabidela } from "@cloudflare/cabidela";
import Ajv from "ajv/dist/2020.js";

const validators = {
  cabidela: (schema, value) => {
    try {
      new Cabidela(schema).validate(value);
      return true;
    } catch {
      return false;
    }
  },
  ajv: (schema, value) => new Ajv().validate(schema, value),
};
for (const [name, property, value] of [
  ["number or null, given a text", { anyOf: [{ type: "number" }, { type: "null" }] }, "all"],
  ["whole numbers, given 1 and a text", { type: "array", items: { type: "integer" } }, [1, "all"]],
  ["one day or more, given none", { type: "array", items: { type: "integer" }, minItems: 1 }, []],
  ["a number, given a text", { type: "number" }, "all"],
]) {
  const found = Object.entries(validators).map(([validator, validate]) => {
    const schema = { type: "object", properties: { refund: property } };
    return `${validator} ${validate(schema, { refund: value }) ? "accepts" : "rejects"}`;
  });
  console.log(`${name}: ${found.join(", ")}`);
}
JS
seen=$(node validate.mjs)
expected='number or null, given a text: cabidela accepts, ajv rejects
whole numbers, given 1 and a text: cabidela accepts, ajv rejects
one day or more, given none: cabidela accepts, ajv rejects
a number, given a text: cabidela rejects, ajv rejects'
echo "$seen"
[ "$seen" = "$expected" ]
