#!/usr/bin/env bash
# For lc-evaluation, the judge that finds the first answer better as it "names both cities" has found a tie, and one that answers "a", as it is told to, an error.
#
# Versions: lc-core, lc-schema and lc-evaluation 0.28.0 (crates.io), the parts of langchainrust. The judge is a function, without a model.
# Behaviour: A comparison asks the judge twice, with the answers in both orders. If the model has no tools, its text is searched, which is documented, and a text without a
# known word is an error. The prompt asks for a verdict "a", "b" or "tie". The search does not know "a" and "b". It looks for "tie" first, anywhere, so also in cities,
# properties, quantities, parties and activities, and then takes whichever of first and second comes first, so "Compared with the first answer, the second is better"
# elects the first. The latter happens in both orders, so the other answer wins. The search for "yes" and "no" in the same crate looks for whole words.
# For a grade, the first number after the word "score", else the first number counts: "On a scale of 0 to 10, this is an 8" is 0.
# Guess before the run: the better answer wins each time; 0.8.
# Seen (a judge that always prefers the answer of the agent): "The first answer is better.": the agent wins; "..., as it names both cities.": a tie;
#   "Compared with the second answer, the first is better.": the other wins; "a": an error; grades "8", "Score: 8/10" and "On a scale of 0 to 10, this is an 8.": 0.8, 0.8, 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "pairs"
version = "0.1.0"
edition = "2024"

[dependencies]
async-trait = "=0.1.92"
futures-util = "=0.3.34"
lc-core = "=0.28.0"
lc-evaluation = "=0.28.0"
lc-schema = "=0.28.0"
tokio = { version = "1", features = ["macros", "rt"] }

[profile.dev]
debug = false
TOML
cat >src/main.rs <<'RUST'
use std::fmt::Error;
use std::pin::Pin;

use async_trait::async_trait;
use futures_util::Stream;
use lc_core::language_models::{LLMResult, StreamChunk};
use lc_core::{BaseChatModel, BaseLanguageModel, Runnable, RunnableConfig};
use lc_evaluation::{Evaluator, LLMAsJudge, PairwiseJudge};
use lc_schema::Message;

const AGENT: &str = "Lyon and Nice";
const OTHER: &str = "Lyon";

/// A judge that prefers the answer of the agent: what it writes when that is first, and when it is second.
struct Judge([&'static str; 2]);

#[async_trait]
impl Runnable<Vec<Message>, LLMResult> for Judge {
    type Error = Error;

    async fn invoke(&self, messages: Vec<Message>, config: Option<RunnableConfig>) -> Result<LLMResult, Error> {
        self.chat(messages, config).await
    }
}

impl BaseLanguageModel<Vec<Message>, LLMResult> for Judge {
    fn model_name(&self) -> &str {
        "judge"
    }

    fn get_num_tokens(&self, text: &str) -> usize {
        text.len()
    }

    fn with_temperature(self, _: f32) -> Self {
        self
    }

    fn with_max_tokens(self, _: usize) -> Self {
        self
    }
}

#[async_trait]
impl BaseChatModel for Judge {
    async fn chat(&self, messages: Vec<Message>, _: Option<RunnableConfig>) -> Result<LLMResult, Error> {
        let question = format!("{messages:?}");
        let second = question.find(AGENT) > question.find(OTHER);
        let content = self.0[usize::from(second)].to_owned();
        Ok(LLMResult { content, model: "judge".into(), token_usage: None, tool_calls: None, thinking_content: None })
    }

    async fn stream_chat(
        &self,
        _: Vec<Message>,
        _: Option<RunnableConfig>,
    ) -> Result<Pin<Box<dyn Stream<Item = Result<StreamChunk, Error>> + Send>>, Error> {
        Err(Error)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for words in [
        ["The first answer is better.", "The second answer is better."],
        ["The first answer is better, as it names both cities.", "The second answer is better, as it names both cities."],
        ["Compared with the second answer, the first is better.", "Compared with the first answer, the second is better."],
        ["a", "b"],
    ] {
        match PairwiseJudge::new(Judge(words)).compare("Which towns?", AGENT, OTHER).await {
            Ok(verdict) => println!("{}: {verdict:?}", words[0]),
            Err(error) => println!("{}: {error}", words[0]),
        }
    }
    for words in ["8", "Score: 8/10", "On a scale of 0 to 10, this is an 8."] {
        let score = LLMAsJudge::new(Judge([words, words])).eval("Which towns?", AGENT, OTHER).await.expect("grade");
        println!("{words}: {}", score.value);
    }
}
RUST
seen=$(cargo run --quiet)
expected='The first answer is better.: AWins
The first answer is better, as it names both cities.: Tie
Compared with the second answer, the first is better.: BWins
a: parse error: failed to parse winner from judge reply: a
8: 0.8
Score: 8/10: 0.8
On a scale of 0 to 10, this is an 8.: 0'
echo "$seen"
[ "$seen" = "$expected" ]
