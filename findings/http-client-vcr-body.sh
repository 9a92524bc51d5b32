#!/usr/bin/env bash
# In http-client-vcr, a matcher that was told to compare the body does not: to delete the orders has the recorded answer of listing them.
#
# Versions: http-client-vcr 1.1.0, http-client-2 6.6.3, http-types-2 3.1.0 (crates.io). The service is a function that repeats what it was asked.
# Behaviour: Requests are documented to be matched by address, method, headers and body, and the matcher has with_body(true) for the latter. The setting is stored, and read nowhere, and the
# matcher with the name Exact compares the method, the address and all headers. So all questions to a model, which go to one address, are one request, and the replay serves
# the recorded answers in their order, whatever is asked: an agent whose prompts have changed passes with the answers to the old ones.
# Guess before the run: with with_body(true) and with the exact matcher, a question that was not recorded is an error.
# Seen (recorded: "list the orders"; played back):
#   with_body(true) and ExactMatcher: another address: an error; "delete the orders": the answer to "list the orders"; then "list the orders", as recorded: an error, as its answer is used
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
async-trait = "=0.1.92"
http-client = { package = "http-client-2", version = "=6.6.3", default-features = false }
http-client-vcr = "=1.1.0"
http-types = { package = "http-types-2", version = "=3.1.0" }
tokio = { version = "1", features = ["macros", "rt"] }

[profile.dev]
debug = false
TOML
cat >src/main.rs <<'RUST'
use async_trait::async_trait;
use http_client::{Config, Error, HttpClient, Request, Response};
use http_client_vcr::{DefaultMatcher, ExactMatcher, NoOpClient, RequestMatcher, VcrClient, VcrMode};
use http_types::{Method, Url};

/// A service that repeats what it was asked.
#[derive(Debug, Default)]
struct Service(Config);

#[async_trait]
impl HttpClient for Service {
    async fn send(&self, mut request: Request) -> Result<Response, Error> {
        let question = request.body_string().await?;
        let mut response = Response::new(200);
        response.set_body(format!("answer to {question}"));
        Ok(response)
    }

    fn set_config(&mut self, config: Config) -> Result<(), Error> {
        self.0 = config;
        Ok(())
    }

    fn config(&self) -> &Config {
        &self.0
    }
}

async fn client(inner: impl HttpClient, mode: VcrMode, matcher: Box<dyn RequestMatcher>) -> VcrClient {
    VcrClient::builder("chat.yaml").inner_client(Box::new(inner)).mode(mode).matcher(matcher).build().await.expect("client")
}

async fn ask(client: &VcrClient, path: &str, question: &str) -> String {
    let url = Url::parse("http://models.example/").and_then(|host| host.join(path)).expect("address");
    let mut request = Request::new(Method::Post, url);
    request.set_body(question);
    match client.send(request).await {
        Ok(mut response) => response.body_string().await.expect("text"),
        Err(_) => "error".to_owned(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let with_body = || Box::new(DefaultMatcher::new().with_body(true));
    let recorder = client(Service::default(), VcrMode::Record, with_body()).await;
    println!("recorded: {}", ask(&recorder, "chat", "list the orders").await);
    recorder.save_cassette().await.expect("cassette");
    drop(recorder);
    let matchers: [(&str, Box<dyn RequestMatcher>); 2] = [("with_body", with_body()), ("exact", Box::new(ExactMatcher))];
    for (name, matcher) in matchers {
        let player = client(NoOpClient::new(), VcrMode::Replay, matcher).await;
        println!("{name}, another address: {}", ask(&player, "models", "list the orders").await);
        println!("{name}, another question: {}", ask(&player, "chat", "delete the orders").await);
        println!("{name}, the same again: {}", ask(&player, "chat", "list the orders").await);
    }
}
RUST
seen=$(cargo run --quiet 2>run.log) || { cat run.log && exit 1; }
expected='recorded: answer to list the orders
with_body, another address: error
with_body, another question: answer to list the orders
with_body, the same again: error
exact, another address: error
exact, another question: answer to list the orders
exact, the same again: error'
echo "$seen"
[ "$seen" = "$expected" ]
