//! Answers that a judge compares in pairs.

use evalsuite_tests::http_service::serve;
use fastrand::Rng;
use serde_json::{Value, json};

use super::agent::Trials;
use super::command::judged;
use super::run_files::{Case, write_run};
use super::tables::{share, simulate};

/// Shares of the cases that the run wins, and that neither does.
const OUTCOMES: [(f64, f64); 4] = [(0.5, 0.0), (0.3, 0.4), (0.9, 0.0), (0.7, 0.2)];

/// Sizes of clusters, whose cases come out alike.
const CLUSTERS: [(&str, &[usize]); 4] = [
    ("6 cases", &[1; 6]),
    ("30 cases", &[1; 30]),
    ("10 clusters of 3", &[3; 10]),
    ("one of 10 cases, and 10 others", &UNEQUAL),
];

const UNEQUAL: [usize; 11] = [10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

pub(crate) fn print(simulations: usize) {
    let url = serve(reply);
    println!("| cases | wins, ties | regressed | improved | undecided | win rate above its interval | below it |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, clusters) in CLUSTERS {
        for (win, tie) in OUTCOMES {
            let truth = win + tie / 2.0;
            let found = simulate(simulations, |random| compare(clusters, win, tie, &url, random));
            let is = |verdict: &str| share(&found, |judged| judged["verdict"] == verdict);
            let end = |judged: &Value, index: usize| judged["win_interval"][index].as_f64().expect("an interval");
            let above = share(&found, |judged| end(judged, 1) < truth - 1e-9);
            let below = share(&found, |judged| end(judged, 0) > truth + 1e-9);
            println!(
                "| {name} | {win}, {tie} | {:.1} % | {:.1} % | {:.1} % | {above:.1} % | {below:.1} % |",
                is("regressed"),
                is("improved"),
                is("undecided"),
            );
        }
    }
}

/// What the command says about the answers of two runs.
fn compare(clusters: &[usize], win: f64, tie: f64, url: &str, random: &mut Rng) -> Value {
    let output = tempfile::tempdir().expect("a temporary directory");
    let mut runs = [Vec::new(), Vec::new()];
    for (cluster, size) in clusters.iter().enumerate() {
        let answers = match random.f64() {
            drawn if drawn < win => ["an answer", "the best answer"],
            drawn if drawn < win + tie => ["an answer", "another answer"],
            _ => ["the best answer", "an answer"],
        };
        for _ in 0..*size {
            for (run, answer) in runs.iter_mut().zip(answers) {
                run.push(Case { group: Some([cluster, 0]), answer: Some(answer), ..Case::new(vec![true]) });
            }
        }
    }
    for (id, cases) in ["base", "run"].into_iter().zip(&runs) {
        write_run(output.path(), id, Trials::All(1), cases);
    }
    judged(output.path(), url, &["--cluster-by", "group", "--criteria", "Is right"])
}

/// The judge prefers the best answer, and of two others the one that it sees first: in both orders, so that neither wins.
fn reply(body: &str) -> String {
    let body: Value = serde_json::from_str(body).expect("JSON");
    let prompt = body["messages"][1]["content"].as_str().expect("the prompt of the user");
    let second = prompt.find("[[ ## second_answer ## ]]").expect("a second answer");
    let better = if prompt.find("the best answer").is_none_or(|best| best < second) { "first" } else { "second" };
    let content =
        json!({"reasoning": "It is better.", "better": better, "undecided": false, "reason": null}).to_string();
    json!({"model": "simulated", "choices": [{"message": {"role": "assistant", "content": content}}]}).to_string()
}
