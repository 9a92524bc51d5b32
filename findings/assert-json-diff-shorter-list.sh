#!/usr/bin/env bash
# In assert-json-diff, an agent that deletes an order meets the expectation that it calls no tool.
#
# Versions: assert-json-diff 2.0.2, wiremock 0.6.5, serde_json 1.0.154 (crates.io).
# Behaviour: `assert_json_include` allows further data in the actual value, and its examples have further keys of an object. A list may have further items at its end, too,
# which is in neither the text nor the examples. So an expected list is the begin of the actual one, and an empty one is the begin of each list: that there
# is nothing cannot be expected. At the begin of the list, the same further item is a difference. `body_partial_json` of wiremock compares with it, so a mocked
# model that expects a first request with one message also answers all later requests of the conversation.
# Guess before the run: a list needs the same number of items, as it does in Jest's toMatchObject.
# Seen (expected and actual calls of tools; then the messages that a mock expects and gets):
#   none, delete: includes; find, find and delete: includes; find, delete and find: differs; find and delete, find: differs
#   one message, three messages: answered
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "list"
version = "0.1.0"
edition = "2024"

[dependencies]
assert-json-diff = "=2.0.2"
serde_json = "=1.0.154"
wiremock = "=0.6.5"
TOML
cat >src/main.rs <<'RUST'
use assert_json_diff::{CompareMode, Config, assert_json_matches_no_panic};
use serde_json::json;
use wiremock::http::{HeaderMap, Method};
use wiremock::matchers::body_partial_json;
use wiremock::{Match, Request};

fn main() {
    for (expected, actual) in [
        (json!([]), json!(["delete"])),
        (json!(["find"]), json!(["find", "delete"])),
        (json!(["find"]), json!(["delete", "find"])),
        (json!(["find", "delete"]), json!(["find"])),
    ] {
        let config = Config::new(CompareMode::Inclusive);
        let found = assert_json_matches_no_panic(&json!({ "calls": actual }), &json!({ "calls": expected }), config);
        println!("{expected} {actual}: {}", found.map_or("differs", |()| "includes"));
    }
    let [first, later] = [1, 3].map(|count| json!({ "messages": vec![json!({ "role": "user" }); count] }));
    let request = Request {
        url: "http://localhost/v1/chat/completions".parse().expect("URL"),
        method: Method::POST,
        headers: HeaderMap::new(),
        body: serde_json::to_vec(&later).expect("JSON"),
    };
    println!("a mock for 1 message, 3 messages: {}", if body_partial_json(first).matches(&request) { "answered" } else { "not answered" });
}
RUST
seen=$(cargo run --quiet)
expected='[] ["delete"]: includes
["find"] ["find","delete"]: includes
["find"] ["delete","find"]: differs
["find","delete"] ["find"]: differs
a mock for 1 message, 3 messages: answered'
echo "$seen"
[ "$seen" = "$expected" ]
