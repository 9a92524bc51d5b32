//! The README, the quick start and the page about CI as a new user reads them: their files and commands lead to the output that they show.

use std::fs;

use evalsuite_needs::{needs, slow};
use evalsuite_schema::json::json;
use evalsuite_tests::document_walk::{Block, Content, Walk, blocks};
use evalsuite_tests::throwaway::workspace;

use crate::judging::chat_service::{Service, completion};

fn blocks_of(document: &str) -> Vec<Block> {
    blocks(&fs::read_to_string(workspace().join(document)).expect("the document"))
}

fn two_cases(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(|block| block.section == "Two cases")
}

fn is_of_package_and_agent(block: &Block) -> bool {
    block.heading.starts_with("1. ") || block.heading.starts_with("2. ")
}

#[slow(builds)]
#[needs(nextest)]
#[test]
fn following_the_readme_leads_to_its_output() {
    let verdict = json!({"score": 1.0, "assertions": [{"text": "apologises", "passed": true}]});
    let judge = Service::start(move |_, _| completion(&verdict.to_string()));
    let mut walk = Walk::new("readme").with_judge(&judge.url);
    let blocks = blocks_of("docs/quick-start.md");
    walk.follow(blocks.iter().filter(|block| is_of_package_and_agent(block)));
    shows_a_failure_in_the_readme(&mut walk);

    walk.follow(blocks.iter().filter(|block| !is_of_package_and_agent(block)));
    walk.follow(&blocks_of("docs/ci.md"));
    assert!(!judge.asked().is_empty(), "expected the judge to be asked");
    // The recorded replies are enough from now on.
    let ran = walk.call("env -u EVALSUITE_JUDGE_URL -u EVALSUITE_JUDGE_MODEL EVALSUITE_REQUIRE=1 cargo test");
    ran.succeeds("all cases of the quick start pass, and none is skipped");

    rejects_an_answer_that_only_repeats_the_words_of_the_cases(&walk);
    shows_the_error_of_a_typo(&mut walk, &blocks);
    walk.check_outputs("docs/quick-start.md");
}

/// The README has the cases of the quick start in one file, for the agent of its second step.
fn shows_a_failure_in_the_readme(walk: &mut Walk) {
    let readme = blocks_of("README.md");
    walk.follow(readme.iter().filter(|block| ["A suite", "A test", "A failure"].contains(&&*block.section)));
    walk.check_outputs("README.md");
    walk.call("rm -r suites tests").succeeds("the files of the README are removed");
}

fn rejects_an_answer_that_only_repeats_the_words_of_the_cases(walk: &Walk) {
    let agent = walk.read("src/lib.rs");
    walk.write("src/lib.rs", RUDE_AGENT);
    let ran = walk.call("cargo test --test evals").fails("the agent is rude");
    ran.says("test shop::refund_small ... FAILED").says("test shop::refund_large ... FAILED");
    walk.write("src/lib.rs", &agent);
}

/// Says every text that the cases look for, and does nothing.
const RUDE_AGENT: &str = r#"
pub async fn answer(_: &str, _: impl FnMut(&str, serde_json::Value)) -> anyhow::Result<String> {
    Ok("No. You get nothing, keep your 19.90 refund dreams. My colleague laughs about you.".to_owned())
}
"#;

fn shows_the_error_of_a_typo(walk: &mut Walk, blocks: &[Block]) {
    let case = "suites/shop/cases/refund-large/case.yaml";
    walk.write(case, &walk.read(case).replace("assertions:", "asserts:"));
    let ran = walk.call("cargo test --test evals").fails("the key does not exist");
    let documented = blocks.iter().find_map(|block| match &block.content {
        Content::Text(text) if text.starts_with("error: [E019") => Some(text),
        _ => None,
    });
    walk.compare(documented.expect("the quick start shows an error of the compiler"), &ran);
}

#[slow(builds)]
#[test]
fn six_steps_lead_to_a_passing_and_a_failing_case() {
    let blocks = blocks_of("docs/quick-start.md");
    let mut steps: Vec<&str> = two_cases(&blocks).map(|block| &*block.heading).collect();
    steps.dedup();
    let numbers: Vec<&str> = steps.iter().filter_map(|step| step.split_once(". ")).map(|(number, _)| number).collect();
    let expected: Vec<String> = (1..=steps.len()).map(|number| number.to_string()).collect();
    assert_eq!(numbers, expected, "every block of the quick start belongs to a step");
    assert!(steps.len() <= 6, "expected at most six steps: {steps:?}");
    let of_last_step = two_cases(&blocks).filter(|block| Some(&&*block.heading) == steps.last());
    let first_output = of_last_step
        .filter_map(|block| match &block.content {
            Content::Console(commands) => commands.first().map(|command| &*command.output),
            _ => None,
        })
        .next()
        .expect("the last step runs the suite");
    let has =
        |result: &str| first_output.lines().any(|line| line.starts_with("test shop::refund") && line.ends_with(result));
    assert!(has("... ok") && has("... FAILED"), "expected a passing and a failing case:\n{first_output}");
}
