//! Converted promptfoo configurations give the verdicts of the original.
//!
//! The verdicts were recorded with promptfoo 0.121.20 by `promptfoo eval -c FILE --no-cache --no-write -o verdicts.json`: one per result, in
//! the order of `testIdx` and `promptIdx`, `+` for `success`. The provider `echo` answers with its prompt, and so does the agent here.

#[cfg(unix)]
mod harbor_grader;
mod run_suite;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalsuite::{AgentError, Outcome, Trial};
use evalsuite_convert::{CasePlacement, Conversion, Outcome as ReportOutcome, SourceEntry, from_promptfoo};
use evalsuite_loader::{Request, load};
use evalsuite_needs::{needs, slow};
use evalsuite_schema::{Content, Message, Value};

/// Rules of thresholds, weights, sets, defaults and variables.
const RULES: &str = "+-+-++++--++-+-+-++-+";

/// Types of assertions.
const TYPES: &str = "+-+++-+-+-++-+++--+--+++-++-+-+-+-+-++--++-+-++-";

/// Code in JavaScript and Python.
const PROGRAMS: &str = "++-+-+---+++--++--++-+";

/// Prompts and tests in other files, scenarios.
const SOURCES: &str = "---+-++-++-+++-+---";

/// What JavaScript sees otherwise, recorded with promptfoo 0.123.1.
const JAVASCRIPT: &str =
    "---+-+++-++---+-++-++-+--++-+---++-++++--+---++++--+--+-++-+-+-++-+++---+---+++++++-+++++++--++";

/// Values of YAML, and schemas, recorded with promptfoo 0.121.20 and 0.123.1.
const VALUES: &str = "+-++++++++++++++-+-+-++-+-+--++-+-+-+-+----++-+----+---+++++++";

#[slow(hostile)]
#[test]
fn rules_decide_as_in_promptfoo() {
    compare("rules.yaml", RULES);
}

#[slow(hostile)]
#[needs(node, python)]
#[test]
fn types_decide_as_in_promptfoo() {
    compare("types.yaml", TYPES);
}

#[slow(hostile)]
#[needs(node, python)]
#[test]
fn programs_decide_as_in_promptfoo() {
    compare_in_one_file("programs.yaml", PROGRAMS);
}

#[slow(hostile)]
#[needs(node)]
#[test]
fn sources_decide_as_in_promptfoo() {
    compare("sources.yaml", SOURCES);
}

/// A verdict is another one only if the report says of an assertion of the case that it may be.
#[slow(hostile)]
#[needs(node)]
#[test]
fn a_verdict_that_differs_is_reported_before() {
    // Patterns that JavaScript refuses, values that are not text, metrics without a threshold, JSON with mistakes.
    let others = [0, 15, 24, 40, 43, 44, 49, 50, 65, 66, 67, 68, 69, 70, 73, 74, 75];
    compare_reported("javascript.yaml", JAVASCRIPT, &others);
}

#[slow(hostile)]
#[needs(node)]
#[test]
fn values_decide_as_in_promptfoo() {
    // Values that promptfoo reports as errors, schemas that Ajv refuses or reads otherwise, and JSON with mistakes.
    compare_reported("values.yaml", VALUES, &[16, 18, 35, 37, 39, 40, 41, 42, 47, 48, 49, 50, 55, 58]);
}

/// Compares the verdicts of a configuration; `expected` are the tests whose verdicts differ, each with a report.
fn compare_reported(file: &str, recorded: &str, expected: &[usize]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promptfoo").join(file);
    let conversion = from_promptfoo(&source).unwrap().in_layout(CasePlacement::File);
    let outcomes = outcomes(&conversion);
    let mut others = Vec::new();
    for (number, theirs) in (1..).zip(recorded.chars()) {
        let place = format!("tests[{}]", number - 1);
        let says = |outcome: ReportOutcome| {
            let concerns = |entry: &&SourceEntry| entry.name == place || entry.name.starts_with(&format!("{place}."));
            conversion.report.entries().iter().filter(concerns).any(|entry| entry.outcome == outcome)
        };
        let id = format!("test-{number}");
        let Some((_, ours, text)) = outcomes.iter().find(|(known, ..)| *known == id) else {
            assert!(says(ReportOutcome::Dropped), "{place} is not in the suite\n{}", conversion.report);
            continue;
        };
        if *ours != theirs {
            assert!(says(ReportOutcome::Different), "{place}: {ours} here, {theirs} there\n{text}");
            others.push(number - 1);
        }
    }
    assert_eq!(others, expected, "{}", conversion.report);
}

/// There every answer passes; here nobody looks at it.
#[slow(hostile)]
#[test]
fn a_test_without_assertions_is_skipped() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("promptfooconfig.yaml");
    let config = "prompts: ['Say {{word}}']\nproviders: [echo]\ntests:\n  - vars: {word: hello}\n  - vars: {word: bye}\n    \
                  assert: [{type: contains, value: bye}]\n";
    std::fs::write(&source, config).unwrap();
    for layout in [CasePlacement::File, CasePlacement::Directories] {
        let outcomes = outcomes(&from_promptfoo(&source).unwrap().in_layout(layout));
        let mut shown: Vec<char> = outcomes.iter().map(|(_, outcome, _)| *outcome).collect();
        shown.sort_unstable();
        assert_eq!(shown, ['+', '?'], "{outcomes:?}");
        assert!(outcomes.iter().any(|(_, _, text)| text.contains("nothing grades the case")), "{outcomes:?}");
    }
    let tasks = from_promptfoo(&source).unwrap().as_tasks().unwrap();
    assert_eq!(outcomes(&tasks).len(), 1, "{}", tasks.report);
}

#[slow(hostile)]
#[needs(node, python)]
#[test]
fn what_code_prints_is_not_its_verdict() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("promptfooconfig.yaml");
    let config = "prompts: [hello]\nproviders: [echo]\ntests:\n  - assert:\n      \
                  - { type: javascript, value: \"console.log('{}'), process.stdout.write('x'), true\" }\n      \
                  - type: python\n        value: |\n          print('{}')\n          return output == 'hello'\n";
    std::fs::write(&source, config).unwrap();
    let outcomes = outcomes(&from_promptfoo(&source).unwrap().in_layout(CasePlacement::File));
    assert_eq!(outcomes[0].1, '+', "{outcomes:?}");
}

/// Converts a configuration in every layout, and compares the outcomes of its cases with recorded verdicts.
fn compare(file: &str, recorded: &str) {
    let source = compare_in_one_file(file, recorded);
    let outcomes = outcomes(&from_promptfoo(&source).unwrap().in_layout(CasePlacement::Directories));
    // Directories are in the order of their names.
    let sorted = |outcomes: &mut dyn Iterator<Item = char>| {
        let mut all: Vec<char> = outcomes.collect();
        all.sort_unstable();
        all
    };
    let shown = sorted(&mut outcomes.iter().map(|(_, outcome, _)| *outcome));
    assert_eq!(shown, sorted(&mut recorded.chars()), "{file} in directories");
    compare_tasks(&source, recorded);
}

/// Compares the outcomes of the cases in an eval file; returns the configuration.
fn compare_in_one_file(file: &str, recorded: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promptfoo").join(file);
    let outcomes = outcomes(&from_promptfoo(&source).unwrap().in_layout(CasePlacement::File));
    let shown: String = outcomes.iter().map(|(_, outcome, _)| *outcome).collect();
    let details: Vec<String> = outcomes
        .iter()
        .zip(recorded.chars())
        .filter(|((_, ours, _), theirs)| ours != theirs)
        .map(|((id, ours, text), theirs)| format!("{id}: {ours} here, {theirs} there\n{text}"))
        .collect();
    assert!(shown == recorded, "{file}: {shown}, recorded {recorded}\n{}", details.join("\n"));
    source
}

/// A task whose graders are as in the eval file has the recorded verdict; the report names those that are not.
fn compare_tasks(source: &Path, recorded: &str) {
    let read = || from_promptfoo(source).unwrap();
    let ids = outcomes(&read().in_layout(CasePlacement::File)).into_iter().map(|(id, _, _)| id);
    let recorded: BTreeMap<String, char> = ids.zip(recorded.chars()).collect();
    let conversion = read().as_tasks().unwrap();
    // What is said of a case as a whole is about its description.
    let is_named = |id: &str| {
        let file = format!("tasks/{id}.json");
        let concerns = |entry: &SourceEntry| entry.file == file && entry.name.starts_with("case.");
        conversion.report.entries().iter().any(concerns)
    };
    let mut compared = 0;
    for (id, outcome, text) in outcomes(&conversion) {
        if !is_named(&id) {
            assert_eq!(outcome, recorded[&id], "{id} as a task of {}\n{text}", source.display());
            compared += 1;
        }
    }
    assert!(compared > 0, "{}", conversion.report);
}

/// Writes a suite, and runs it.
fn outcomes(conversion: &Conversion) -> Vec<(String, char, String)> {
    let directory = tempfile::tempdir().unwrap();
    conversion.output.write(&directory.path().join("suite"), false).unwrap();
    let mut request = Request::new("suite", directory.path());
    request.workspace_root = directory.path().to_path_buf();
    let loaded = load(&request);
    let problems: Vec<String> = loaded.diagnostics.iter().map(|problem| problem.to_string()).collect();
    let suite = loaded.suite.unwrap_or_else(|| panic!("the suite has errors: {problems:#?}"));
    run_suite::run(&suite, directory.path(), echo)
}

/// Answers with its prompt; a chat is JSON, as promptfoo sends it.
fn echo(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    let answer = match trial.messages() {
        // With the white space around it, which `prompt` does not have.
        [Message { content: Some(Content::Text(prompt)), .. }] => prompt.clone(),
        [] | [_] => trial.prompt().to_owned(),
        messages => {
            let chat =
                evalsuite_schema::json::to_value(messages).and_then(|chat: Value| serde_json::to_string_pretty(&chat));
            chat.map_err(|error| AgentError::new(error.to_string()))?
        }
    };
    Ok(Outcome::new().with_text(answer))
}
