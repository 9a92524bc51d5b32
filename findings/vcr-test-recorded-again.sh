#!/usr/bin/env bash
# In vcr-test, what was recorded again with the mode for that is not what a replay serves: the old answers come first.
#
# Versions: vcr-test 1.4.0 (npm). The API is a server of the script.
# Behaviour: The mode `all` is documented to record always and never to play back. It sends the requests and has their answers, but writes them behind the entries that the cassette had,
# which no request of this mode uses up. A replay takes the first entry that matches, and so serves the old answers; a new one is served only to a further request of the same kind.
# The cassette grows by one run with each recording. So a suite whose cassettes were recorded again after a change of the service passes against the answers of before. The mode `update`
# records only requests that are not found. The description advises to delete the file for a new recording; that `all` keeps the old answers, and in front, it does not say.
# Guess before the run: the new answer.
# Seen (one request; the service answers "open" in the first recording, and "refunded" in the second):
#   once: open; all: refunded; none: open; once: open; the cassette has 2 entries, and 3 after a third recording; with the file deleted before: refunded
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund vcr-test@1.4.0 >npm.log 2>&1

cat >replay.mjs <<'JS'
import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { FileStorage, RecordMode, VCR } from "vcr-test";

let status;
const server = createServer((request, response) => response.end(status)).listen(0, "127.0.0.1");
await new Promise((resolve) => server.on("listening", resolve));
const vcr = new VCR(new FileStorage("cassettes"));

async function ask(mode, now) {
  status = now;
  vcr.mode = mode;
  await vcr.useCassette("order", async () => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/orders/5`);
    console.log(`${mode}, the service has ${now}: ${await response.text()}`);
  });
  console.log(`entries: ${readFileSync("cassettes/order.yaml", "utf8").match(/^- request:/gm).length}`);
}

await ask(RecordMode.once, "open");
await ask(RecordMode.all, "refunded");
await ask(RecordMode.none, "nothing");
await ask(RecordMode.once, "nothing");
await ask(RecordMode.all, "refunded");
rmSync("cassettes/order.yaml");
await ask(RecordMode.all, "refunded");
await ask(RecordMode.none, "nothing");
server.close();
JS
seen=$(node replay.mjs)
expected='once, the service has open: open
entries: 1
all, the service has refunded: refunded
entries: 2
none, the service has nothing: open
entries: 2
once, the service has nothing: open
entries: 2
all, the service has refunded: refunded
entries: 3
all, the service has refunded: refunded
entries: 1
none, the service has nothing: refunded
entries: 1'
echo "$seen"
[ "$seen" = "$expected" ]
