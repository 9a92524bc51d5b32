//! Every form of agent and grader that is documented is accepted, without annotations where it is passed.

use std::error::Error;
use std::fmt;

use evalsuite::{
    Agent, AgentError, Assertion, BoxError, Evidence, Grader, GraderKind, IntoAgent, IntoGrader, IntoJudge, Outcome,
    Score, Trial, asks_judge,
};
use serde::Deserialize;

fn agent<M>(agent: impl IntoAgent<M>) {
    let _ = agent.into_agent();
}

fn grader<M>(grader: impl IntoGrader<M>) {
    let _ = grader.into_grader();
}

#[derive(Debug)]
struct Custom;

impl fmt::Display for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("custom")
    }
}

impl Error for Custom {}

async fn anyhow_string(trial: &mut Trial<'_>) -> anyhow::Result<String> {
    tokio::task::yield_now().await;
    Ok(trial.prompt().to_owned())
}

async fn not_send(trial: &mut Trial<'_>) -> anyhow::Result<String> {
    let held = std::rc::Rc::new(trial.index());
    tokio::task::yield_now().await;
    Ok(held.to_string())
}

async fn boxed_local(_: &mut Trial<'_>) -> Result<&'static str, Box<dyn Error>> {
    Err("no")?
}

async fn boxed_send(_: &mut Trial<'_>) -> Result<Outcome, BoxError> {
    Ok(Outcome::new().with_text("x"))
}

async fn custom(_: &mut Trial<'_>) -> Result<String, Custom> {
    Err(Custom)
}

async fn agent_error(_: &mut Trial<'_>) -> Result<String, AgentError> {
    Err(AgentError::skip("not today"))
}

async fn text_error(_: &mut Trial<'_>) -> Result<String, String> {
    Err("text".into())
}

fn plain(trial: &mut Trial<'_>) -> Result<String, Custom> {
    trial.log("working");
    Ok(String::new())
}

fn plain_anyhow(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
    Ok("x".into())
}

fn plain_boxed(_: &mut Trial<'_>) -> Result<String, Box<dyn Error>> {
    Err(Box::new(Custom))
}

struct Typed;

impl Agent for Typed {
    async fn run(&self, trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        Ok(Outcome::from(trial.prompt()))
    }
}

#[test]
fn agents() {
    agent(anyhow_string);
    agent(not_send);
    agent(boxed_local);
    agent(boxed_send);
    agent(custom);
    agent(agent_error);
    agent(text_error);
    agent(plain);
    agent(plain_anyhow);
    agent(plain_boxed);
    agent(Typed);
    let model = String::from("m");
    agent(async move |_: &mut Trial<'_>| Ok::<_, Custom>(model.clone()));
    agent(|trial: &mut Trial<'_>| Ok::<_, Custom>(trial.prompt().to_owned()));
}

#[derive(Deserialize)]
struct Config {
    #[allow(dead_code)]
    needles: Vec<String>,
}

fn gives_bool(evidence: &Evidence<'_>) -> bool {
    evidence.answer().is_empty()
}

fn gives_number(_: &Evidence<'_>) -> f64 {
    0.5
}

fn gives_assertions(_: &Evidence<'_>) -> Vec<Assertion> {
    vec![Assertion::new("a", true)]
}

fn gives_score(_: &Evidence<'_>) -> Score {
    Score::pass()
}

fn gives_option(_: &Evidence<'_>) -> Option<bool> {
    None
}

fn gives_option_of_assertions(_: &Evidence<'_>) -> Option<Vec<Assertion>> {
    None
}

fn gives_anyhow(_: &Evidence<'_>) -> anyhow::Result<bool> {
    Ok(true)
}

fn gives_boxed(_: &Evidence<'_>) -> Result<Option<f64>, Box<dyn Error>> {
    Ok(None)
}

fn with_config(config: Config, evidence: &Evidence<'_>) -> bool {
    config.needles.iter().all(|needle| evidence.answer().contains(needle))
}

fn with_config_fallible(_: Config, _: &Evidence<'_>) -> Result<Score, Custom> {
    Err(Custom)
}

async fn slow(evidence: &Evidence<'_>) -> bool {
    tokio::task::yield_now().await;
    evidence.answer().is_empty()
}

async fn slow_fallible(_: &Evidence<'_>) -> anyhow::Result<Vec<Assertion>> {
    Ok(Vec::new())
}

async fn slow_with_config(config: Config, evidence: &Evidence<'_>) -> anyhow::Result<bool> {
    tokio::task::yield_now().await;
    Ok(config.needles.iter().all(|needle| evidence.answer().contains(needle)))
}

fn with_json(config: evalsuite_schema::Value, _: &Evidence<'_>) -> bool {
    config.is_object()
}

struct Person;

impl Grader for Person {
    type Config = Config;

    async fn grade(&self, config: Config, evidence: &Evidence<'_>) -> Score {
        Score::from(config.needles.len() > evidence.answer().len())
    }

    fn kind(&self) -> GraderKind {
        GraderKind::Human
    }

    fn pass_mark(&self) -> Option<f64> {
        Some(0.5)
    }
}

#[test]
fn graders() {
    grader(gives_bool);
    grader(gives_number);
    grader(gives_assertions);
    grader(gives_score);
    grader(gives_option);
    grader(gives_option_of_assertions);
    grader(gives_anyhow);
    grader(gives_boxed);
    grader(with_config);
    grader(with_config_fallible);
    grader(slow);
    grader(slow_fallible);
    grader(slow_with_config);
    grader(with_json);
    grader(Person);
    grader(|evidence: &Evidence<'_>| evidence.trial() == 0);
}

#[test]
fn what_was_bound_can_be_bound_again() {
    async fn judge(_: evalsuite::JudgeRequest) -> Result<String, Custom> {
        Err(Custom)
    }
    let agent = IntoAgent::into_agent(IntoAgent::into_agent(plain));
    assert!(format!("{agent:?}").contains("signatures::plain"), "{agent:?}");
    let grader = asks_judge(IntoGrader::into_grader(|_: &Evidence<'_>| true));
    grader.into_grader();
    let judge = IntoJudge::into_judge(IntoJudge::into_judge(judge));
    assert!(format!("{judge:?}").contains("judge"), "{judge:?}");
}
