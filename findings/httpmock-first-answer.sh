#!/usr/bin/env bash
# In httpmock, a job that was pending and then done in the recording is pending for ever in its playback, and the orders that are refunded are all orders.
#
# Versions: httpmock 0.8.3, ureq 2.12.1 (crates.io). The service is a server of httpmock on loopback.
# Behaviour: A recording has each request with its answer, in their order, and the playback is documented to answer a request that matches a recorded one with the recorded answer of it. If one
# request was made twice, as it is when an agent waits for something, the file has both, and the first one answers for ever; the second one is never served. So what was recorded cannot be
# repeated, and an agent that waits does not end. A recorded request matches all requests that have at least what it has, as a mock does: if the list of orders was recorded, a request
# for the list with a further condition, which was never made, gets it, and so does a request with a body where none was recorded.
# Guess before the run: pending, then done; a request that was not recorded has no answer.
# Seen (recorded: a job twice, and a list; played back):
#   recorded: pending, done; played back: pending, pending, pending; orders?state=refunded: all orders; the order POST with a body, of one without: accepted; another path: 404
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "shop"
version = "0.1.0"
edition = "2024"

[dependencies]
httpmock = { version = "=0.8.3", features = ["record"] }
ureq = { version = "=2.12.1", default-features = false }
TOML
cat >src/main.rs <<'RUST'
use httpmock::MockServer;

fn send(server: &MockServer, method: &str, path: &str, body: &str) -> String {
    match ureq::request(method, &server.url(path)).send_string(body) {
        Ok(answer) => answer.into_string().expect("text"),
        Err(ureq::Error::Status(status, _)) => status.to_string(),
        Err(error) => panic!("{error}"),
    }
}

fn answer(server: &MockServer, path: &str, body: &str) -> usize {
    let (path, body) = (path.to_owned(), body.to_owned());
    server.mock(|when, then| {
        when.path(path);
        then.body(body);
    }).id
}

fn main() {
    let service = MockServer::start();
    let pending = answer(&service, "/job", "pending");
    answer(&service, "/orders", "all orders");
    answer(&service, "/order", "accepted");
    let recorder = MockServer::start();
    recorder.forward_to(service.base_url(), |rule| {
        rule.filter(|when| {
            when.any_request();
        });
    });
    let recording = recorder.record(|rule| {
        rule.filter(|when| {
            when.any_request();
        });
    });
    println!("recorded: {}", send(&recorder, "GET", "/job", ""));
    httpmock::Mock::new(pending, &service).delete();
    answer(&service, "/job", "done");
    println!("recorded: {}", send(&recorder, "GET", "/job", ""));
    for (method, path) in [("GET", "/orders"), ("POST", "/order")] {
        println!("recorded: {}", send(&recorder, method, path, ""));
    }
    let file = recording.save("shop").expect("recording");
    println!("interactions: {}", std::fs::read_to_string(&file).expect("recording").matches("when:").count());

    let player = MockServer::start();
    player.playback(&file);
    for _ in 0..3 {
        println!("played back: {}", send(&player, "GET", "/job", ""));
    }
    println!("orders that are refunded: {}", send(&player, "GET", "/orders?state=refunded", ""));
    println!("order of a lamp: {}", send(&player, "POST", "/order", "lamp"));
    println!("another path: {}", send(&player, "GET", "/refunds", ""));
}
RUST
seen=$(cargo run --quiet)
expected='recorded: pending
recorded: done
recorded: all orders
recorded: accepted
interactions: 4
played back: pending
played back: pending
played back: pending
orders that are refunded: all orders
order of a lamp: accepted
another path: 404'
echo "$seen"
[ "$seen" = "$expected" ]
