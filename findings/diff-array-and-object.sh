#!/usr/bin/env bash
# Three libraries find no difference between an array and an object, but only at the top.
#
# Versions: microdiff 1.6.0, just-diff 6.0.2, fast-json-patch 3.1.1 (npm).
# Behaviour: `[1]` and `{"0": 1}` have the same keys and values, and so have `[]` and `{}`. All three compare the types of values at every depth,
# but not of the two documents: their difference is empty, and the patch does not turn one into the other. One level down, all find it.
# rfc6902 5.4.0 replaces the whole document.
# Seen:
#   [1] and {"0": 1}: 0 0 0, rfc6902 1; the same below a key: 1 1 1, rfc6902 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund microdiff@1.6.0 just-diff@6.0.2 fast-json-patch@3.1.1 rfc6902@5.4.0 >npm.log 2>&1

cat >compare.mjs <<'JS'
import * as microdiff from "microdiff";
import { diff as justDiff } from "just-diff";
import patch from "fast-json-patch";
import { createPatch } from "rfc6902";

const micro = [microdiff.default, microdiff.default.default].find((value) => typeof value === "function");
const texts = [];
for (const [before, after] of [[[1], { 0: 1 }], [{ x: [1] }, { x: { 0: 1 } }], [[], {}], [{ x: [] }, { x: {} }]]) {
  texts.push([micro, justDiff, patch.compare, createPatch].map((diff) => diff(before, after).length).join(" "));
}
console.log(texts.join("; "));
JS
seen=$(node compare.mjs)
echo "$seen"
[ "$seen" = '0 0 0 1; 1 1 1 1; 0 0 0 1; 1 1 1 1' ]
