#!/usr/bin/env bash
# In the replay of reqwest-vcr, an agent that pays three times gets three receipts from a recording in which it looked, ordered and paid.
#
# Versions: reqwest-vcr 0.4.0, reqwest 0.13.5, reqwest-middleware 0.5.2, vcr-cassette 2.0.1 (crates.io). The script writes the recording.
# Behaviour: The default mode of a replay, `SkipFound`, is documented to skip requests that have been found, and to be useful to verify a strict order of requests. What
# is skipped is not what was found: request number n is looked for among all but the first n - 1 recorded ones, wherever the others were found. So a recorded
# answer is served again as long as its place has not come, and an agent may leave out all steps before it. The answer at place n is only lost
# after n requests. Requests that are missing at the end are not noticed. `SearchAll` is documented to search all
# requests each time, and serves each answer any number of times.
# Guess before the run: the second payment is not found.
# Seen (recorded look, order, pay; replayed with the default mode; then with SearchAll):
#   look order pay: 200 200 200; pay pay pay: 200 200 200; order order pay: 200 200 200; pay: 200; order look: 200 error; SearchAll: pay pay pay: 200 200 200
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "order"
version = "0.1.0"
edition = "2024"

[dependencies]
reqwest = { version = "=0.13.5", default-features = false }
reqwest-middleware = "=0.5.2"
reqwest-vcr = "=0.4.0"
tokio = { version = "1", features = ["rt"] }
vcr-cassette = "=2.0.1"
TOML
python3 - >recorded.json <<'PY'
import json

interactions = []
for step in ["look", "order", "pay"]:
    request = {"uri": f"http://localhost/{step}", "body": "", "method": "get", "headers": {}}
    response = {"body": step, "http_version": "1.1", "status": {"code": 200, "message": "OK"}, "headers": {}}
    interactions.append({"request": request, "response": response, "recorded_at": "Mon, 30 Nov 2026 10:00:00 +0000"})
print(json.dumps({"http_interactions": interactions, "recorded_with": "script"}))
PY
cat >src/main.rs <<'RUST'
use reqwest::Client;
use reqwest_middleware::ClientBuilder;
use reqwest_vcr::{VCRMiddleware, VCRReplaySearch};

async fn replay(steps: &str, search: Option<VCRReplaySearch>) {
    print!("{}{steps}:", if search.is_some() { "SearchAll, " } else { "" });
    let mut recorded = VCRMiddleware::try_from(std::path::PathBuf::from("recorded.json")).expect("cassette");
    if let Some(search) = search {
        recorded = recorded.with_search(search);
    }
    let client = ClientBuilder::new(Client::new()).with(recorded).build();
    for step in steps.split(' ') {
        match client.get(format!("http://localhost/{step}")).send().await {
            Ok(response) => print!(" {}", response.status().as_u16()),
            Err(_) => print!(" error"),
        }
    }
    println!();
}

fn main() {
    tokio::runtime::Builder::new_current_thread().build().expect("runtime").block_on(async {
        for steps in ["look order pay", "pay pay pay", "order order pay", "pay", "order look"] {
            replay(steps, None).await;
        }
        replay("pay pay pay", Some(VCRReplaySearch::SearchAll)).await;
    });
}
RUST
seen=$(cargo run --quiet)
expected='look order pay: 200 200 200
pay pay pay: 200 200 200
order order pay: 200 200 200
pay: 200
order look: 200 error
SearchAll, pay pay pay: 200 200 200'
echo "$seen"
[ "$seen" = "$expected" ]
