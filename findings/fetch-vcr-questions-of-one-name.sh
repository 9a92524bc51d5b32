#!/usr/bin/env bash
# In fetch-vcr, the question for the bonds rated BB gets the recorded answer to the question for those rated Aa, and is not sent.
#
# Versions: fetch-vcr 3.2.0 (npm). The API is a server of the script.
# Behaviour: The name of a recorded file has a number of 32 bits for the method, the headers and the body of a request, and nothing else of them is stored or compared. The number of a
# text is 31 times that of all before its last letter, plus the code of this letter. So "Aa" and "BB" count the same wherever they stand, as 65 * 31 + 97 and 66 * 31 + 66 are 2112, and so
# do "Bb" and "CC", or "1O" and "20". In the mode `cache`, the second question is never sent, and in `playback` an agent that asks for the wrong thing gets the right answer. If both are
# recorded, the file has the answer to the last. The description says neither what of a request is compared, nor that two can share a file.
# Guess before the run: two requests, two answers.
# Seen (the same question for three ratings in the mode cache, then in the mode playback):
#   Aa: answer for Aa; BB: answer for Aa; Ba: answer for Ba; the API was asked 2 times, and 2 answers are stored; playback: BB: answer for Aa; the rating B: error
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund fetch-vcr@3.2.0 >npm.log 2>&1
mkdir recorded

cat >ratings.mjs <<'JS'
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import fetchVcr from "fetch-vcr";

let asked = 0;
const server = createServer(async (request, response) => {
  asked += 1;
  response.end(`answer for ${JSON.parse(await text(request)).rating}`);
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.on("listening", resolve));

async function ask(mode, rating) {
  fetchVcr.configure({ fixturePath: "./recorded", mode });
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ question: "Which bonds?", rating }) };
  const answer = await fetchVcr(`http://127.0.0.1:${server.address().port}/bonds`, request).then((response) => response.text(), () => "error");
  console.log(`${mode}, ${rating}: ${answer}`);
}

for (const rating of ["Aa", "BB", "Ba"]) await ask("cache", rating);
console.log(`asked: ${asked}, stored: ${readdirSync("recorded").filter((name) => name.endsWith("_body.raw")).length}`);
for (const rating of ["BB", "B"]) await ask("playback", rating);
server.close();
JS
seen=$(node ratings.mjs)
expected='cache, Aa: answer for Aa
cache, BB: answer for Aa
cache, Ba: answer for Ba
asked: 2, stored: 2
playback, BB: answer for Aa
playback, B: error'
echo "$seen"
[ "$seen" = "$expected" ]
