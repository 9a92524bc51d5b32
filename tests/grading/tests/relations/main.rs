//! Relations that hold for every grader: no oracle is needed to see that they are broken.
//!
//! The table of graders has a sample for each row: a type without one fails the first test. Suites of these samples go through the loader
//! and the runtime, with judges whose replies belong to the sample.

mod complete_run;
mod forms;
mod samples;

use std::collections::BTreeSet;

use evalsuite::Status;
use evalsuite::record::GraderState;
use evalsuite_needs::slow;
use evalsuite_schema::GraderKind;
use evalsuite_schema::grader::{BUILT_IN, built_in_kind};
use evalsuite_schema::json::{Value, json};

use crate::complete_run::{CaseResult, SampleCase, run, run_in, run_with};
use crate::forms::{FORMS, Form, OF_SKILLS};
use crate::samples::{Sample, Work, samples};

/// The sample and one of its works, and whether the work passes.
type Graded = (Sample, Work, bool);

fn works() -> Vec<Graded> {
    let works = |sample: Sample| {
        let passing = sample.passes.clone().into_iter().map(|work| (work, true));
        let failing = sample.fails.clone().into_iter().map(|work| (work, false));
        passing.chain(failing).map(move |(work, passes)| (sample.clone(), work, passes)).collect::<Vec<_>>()
    };
    samples().into_iter().flat_map(works).collect()
}

fn with(entry: &Value, keys: &[(&str, Value)]) -> Value {
    let mut entry = entry.clone();
    for (key, value) in keys {
        entry[*key] = value.clone();
    }
    entry
}

/// A grader that passes whatever the agent does.
fn passing() -> Value {
    json!({"name": "passing", "type": "latency", "threshold": 1e12})
}

/// A grader that fails whatever the agent does.
fn failing() -> Value {
    json!({"name": "failing", "type": "contains", "value": "what no agent says"})
}

/// The entry among others: together they score high enough at some thresholds, and not at others.
fn mixed(entry: &Value) -> Vec<Value> {
    vec![with(entry, &[("weight", json!(2))]), failing(), with(&passing(), &[("weight", json!(1.5))])]
}

fn passed(result: &CaseResult) -> bool {
    result.outcome == Status::Passed
}

/// Runs one case per work, or none, and checks each result.
fn each(case: impl Fn(&Graded) -> Option<SampleCase>, check: impl Fn(&Graded, &CaseResult) -> Result<(), String>) {
    let works: Vec<Graded> = works();
    let (used, cases): (Vec<&Graded>, Vec<SampleCase>) =
        works.iter().filter_map(|graded| Some((graded, case(graded)?))).unzip();
    let results = run(&cases);
    let broken: Vec<String> = used
        .iter()
        .zip(&results)
        .filter_map(|(graded, result)| {
            let error = check(graded, result).err()?;
            Some(format!("{}\n  with {}\n  {error}\n  {result:?}", graded.0.entry, graded.1.evidence))
        })
        .collect();
    assert!(broken.is_empty(), "{} of {} cases:\n{}", broken.len(), used.len(), broken.join("\n"));
}

/// Checks that two cases for each work end alike.
fn alike(one: impl Fn(&Graded) -> Option<(SampleCase, SampleCase)>) {
    let works: Vec<Graded> = works();
    let (used, cases): (Vec<&Graded>, Vec<(SampleCase, SampleCase)>) =
        works.iter().filter_map(|graded| Some((graded, one(graded)?))).unzip();
    let (left, right): (Vec<SampleCase>, Vec<SampleCase>) = cases.into_iter().unzip();
    let (left, right) = (run(&left), run(&right));
    let broken: Vec<String> = used
        .iter()
        .zip(left.iter().zip(&right))
        .filter(|(_, (left, right))| (left.outcome, left.score) != (right.outcome, right.score))
        .map(|(graded, (left, right))| format!("{}\n  {}\n  {left:?}\n  {right:?}", graded.0.entry, graded.1.evidence))
        .collect();
    assert!(broken.is_empty(), "{} of {} works:\n{}", broken.len(), used.len(), broken.join("\n"));
}

#[slow(hostile)]
#[test]
fn every_grader_has_a_sample() {
    let samples = samples();
    for name in BUILT_IN {
        let own: Vec<&Sample> = samples.iter().filter(|sample| sample.entry["type"] == *name).collect();
        let has = |works: fn(&Sample) -> bool| own.iter().any(|sample| works(sample));
        assert!(has(|sample| !sample.passes.is_empty()), "tests/relations/samples.rs: no work that passes `{name}`");
        assert!(has(|sample| !sample.fails.is_empty()), "tests/relations/samples.rs: no work that fails `{name}`");
        if built_in_kind(name) != Some(GraderKind::Code) {
            assert!(has(|sample| !sample.unreadable.is_empty()), "no result of `{name}` that cannot be read");
        }
    }
    let known: BTreeSet<&str> = BUILT_IN.iter().copied().collect();
    assert!(samples.iter().all(|sample| known.contains(sample.entry["type"].as_str().unwrap_or_default())));
}

#[slow(hostile)]
#[test]
fn samples_pass_and_fail_as_they_say() {
    each(
        |(sample, work, _)| Some(SampleCase::new(vec![sample.entry.clone()], work)),
        |(.., passes), result| if passed(result) == *passes { Ok(()) } else { Err(format!("passes: {passes}")) },
    );
}

/// What is wrong with the results of works in a form: each has to pass or fail as its sample says.
fn wrong_in(form: Form, graded: &[&Graded], results: &[CaseResult]) -> Vec<String> {
    let is_right = |passes: bool, result: &CaseResult| {
        result.outcome == if passes { Status::Passed } else { Status::Failed }
            && result.state == Some(GraderState::Decided)
    };
    let wrong = graded.iter().zip(results).filter(|((.., passes), result)| !is_right(*passes, result));
    wrong
        .map(|((sample, work, passes), result)| {
            format!("{form:?}: {}\n  with {}\n  passes: {passes}\n  {result:?}", sample.entry, work.evidence)
        })
        .collect()
}

#[slow(hostile)]
#[test]
fn every_grader_passes_and_fails_in_every_layout() {
    let works = works();
    let mut wrong = Vec::new();
    for form in FORMS {
        let used: Vec<&Graded> = works.iter().filter(|(sample, ..)| form.has(&sample.entry)).collect();
        // A type without a work that passes and one that fails is not tested.
        let expected: Vec<&str> = if form == Form::Skill { OF_SKILLS.to_vec() } else { BUILT_IN.to_vec() };
        for (name, wanted) in expected.iter().flat_map(|name| [(name, true), (name, false)]) {
            let is_tested = used.iter().any(|(sample, _, passes)| sample.entry["type"] == *name && *passes == wanted);
            assert!(is_tested, "{form:?}: no work with which `{name}` {}", if wanted { "passes" } else { "fails" });
        }
        let case = |graded: &Graded| SampleCase::new(vec![graded.0.entry.clone()], &graded.1);
        if form == Form::OfSuite {
            for graded in used {
                wrong.extend(wrong_in(form, &[graded], &run_in(form, &[case(graded)], None)));
            }
            continue;
        }
        let cases: Vec<SampleCase> = used.iter().map(|graded| case(graded)).collect();
        wrong.extend(wrong_in(form, &used, &run_in(form, &cases, None)));
    }
    assert!(wrong.is_empty(), "{} results:\n{}", wrong.len(), wrong.join("\n"));
}

#[slow(hostile)]
#[test]
fn the_order_of_graders_does_not_matter() {
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        alike(|(sample, work, _)| {
            let graders = mixed(&sample.entry);
            let other = order.map(|index: usize| graders[index].clone()).to_vec();
            Some((SampleCase::new(graders, work), SampleCase::new(other, work)))
        });
    }
}

#[slow(hostile)]
#[test]
fn the_order_of_calls_does_not_matter_unless_the_grader_says_so() {
    alike(|(sample, work, _)| {
        let other = work.with_calls(|calls| calls.reverse());
        let graders = || mixed(&sample.entry);
        (!sample.is_ordered).then(|| (SampleCase::new(graders(), work), SampleCase::new(graders(), &other)))
    });
}

/// The value with the keys of all its objects in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let entries: Vec<_> = object.iter().map(|(key, value)| (key.clone(), reversed(value))).collect();
            Value::Object(entries.into_iter().rev().collect())
        }
        Value::Array(values) => values.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

#[slow(hostile)]
#[test]
fn the_order_of_keys_does_not_matter() {
    alike(|(sample, work, _)| {
        let other = Work { evidence: reversed(&work.with_answer(reversed).evidence), ..work.clone() };
        let graders = mixed(&sample.entry);
        let reversed = graders.iter().map(reversed).collect();
        Some((SampleCase::new(graders, work), SampleCase::new(reversed, &other)))
    });
}

#[slow(hostile)]
#[test]
fn a_failing_required_grader_never_turns_red_to_green() {
    each(
        |(sample, work, _)| {
            let required = with(&failing(), &[("required", json!(true)), ("weight", json!(0))]);
            Some(SampleCase::new(vec![sample.entry.clone(), passing(), required], work))
        },
        |_, result| if passed(result) { Err("a required grader fails".to_owned()) } else { Ok(()) },
    );
}

#[slow(hostile)]
#[test]
fn a_forbidden_call_never_helps() {
    let forbids =
        json!({"name": "forbids", "type": "tool-trajectory", "mode": "any_order", "maximums": {"delete_*": 0}});
    let with_call = |work: &Work| work.with_calls(|calls| calls.push(json!({"tool": "delete_database"})));
    for graders in [0, 8] {
        each(
            |(sample, work, _)| {
                // Others cannot make up for it.
                let others = (0..graders).map(|index| with(&passing(), &[("name", json!(format!("passing-{index}")))]));
                let entries = [sample.entry.clone(), forbids.clone()].into_iter().chain(others).collect();
                Some(SampleCase::new(entries, &with_call(work)))
            },
            |_, result| if passed(result) { Err("a call is forbidden".to_owned()) } else { Ok(()) },
        );
    }
    each(
        |(sample, work, _)| {
            let is_about_calls = sample.entry["type"] == "tool-trajectory";
            is_about_calls.then(|| SampleCase::new(vec![sample.entry.clone()], &with_call(work)))
        },
        |(.., passes), result| if passed(result) && !passes { Err("red turned green".to_owned()) } else { Ok(()) },
    );
}

/// An aggregator of one member whose verdict is that of the member, also if both are inverted: the mean, for a score that is compared with
/// the threshold of the case, and else the share of members that pass.
fn around(entry: &Value) -> Value {
    let has_own_mark = entry["type"] == "compare" || entry["aggregator"]["type"] == "threshold";
    if has_own_mark { json!({"type": "threshold", "threshold": 1}) } else { json!({"type": "weighted_average"}) }
}

#[slow(hostile)]
#[test]
fn a_grader_that_is_inverted_twice_is_the_grader() {
    each(
        |(sample, work, _)| {
            let inner = with(&sample.entry, &[("negate", json!(true))]);
            let mut twice = json!({"name": "twice", "type": "composite", "assertions": [inner], "negate": true});
            twice["aggregator"] = around(&sample.entry);
            Some(SampleCase::new(vec![twice], work))
        },
        |(.., passes), result| if passed(result) == *passes { Ok(()) } else { Err(format!("passes: {passes}")) },
    );
}

#[slow(hostile)]
#[test]
fn a_grader_and_its_inverse_do_not_both_pass() {
    each(
        |(sample, work, _)| Some(SampleCase::new(vec![with(&sample.entry, &[("negate", json!(true))])], work)),
        |(.., passes), result| match result.score {
            _ if *passes && passed(result) => Err("both pass".to_owned()),
            Some(1.0) if !passed(result) => Err("fails with score 1".to_owned()),
            _ => Ok(()),
        },
    );
}

#[slow(hostile)]
#[test]
fn weights_times_two_change_nothing() {
    alike(|(sample, work, _)| {
        let graders = mixed(&sample.entry);
        let twice = |entry: &Value| with(entry, &[("weight", json!(entry["weight"].as_f64().unwrap_or(1.0) * 2.0))]);
        let doubled = graders.iter().map(twice).collect();
        Some((SampleCase::new(graders, work), SampleCase::new(doubled, work)))
    });
}

#[slow(hostile)]
#[test]
fn a_lower_threshold_never_fails_what_passed() {
    let thresholds = [1.0, 0.95, 0.8, 0.77, 0.75, 0.5, 0.33, 0.1];
    let works = works();
    let cases: Vec<SampleCase> =
        works.iter().map(|(sample, work, _)| SampleCase::new(mixed(&sample.entry), work)).collect();
    let mut before: Option<Vec<CaseResult>> = None;
    for threshold in thresholds {
        let results = run_with(&cases, Some(threshold));
        for (index, result) in results.iter().enumerate() {
            let (sample, work, _) = &works[index];
            let turned = before.as_ref().is_some_and(|before| passed(&before[index])) && !passed(result);
            assert!(!turned, "{} fails at {threshold} with {}: {result:?}", sample.entry, work.evidence);
        }
        before = Some(results);
    }
}

/// Whether a grader reads a document in the answer: an answer without one is data, and fails.
fn reads_documents(entry: &Value) -> bool {
    matches!(entry["type"].as_str(), Some("json-schema" | "field-accuracy"))
}

#[slow(hostile)]
#[test]
fn what_was_not_reported_is_an_error_in_every_layout() {
    let is_code = |entry: &Value| entry["type"].as_str().and_then(built_in_kind) == Some(GraderKind::Code);
    let unreported: Vec<(Value, Work)> = samples().into_iter().flat_map(|sample| sample.unreadable).collect();
    for form in FORMS {
        let reads = |entry: &Value| is_code(entry) && !reads_documents(entry) && form.has(entry);
        for (entry, work) in unreported.iter().filter(|(entry, _)| reads(entry)) {
            let result = run_in(form, &[SampleCase::new(vec![entry.clone()], work)], None).remove(0);
            let (ended, shown) = ((result.outcome, result.score), format!("{form:?}: {entry}: {result:?}"));
            assert_eq!(ended, (Status::Error, None), "{shown}");
        }
    }
}

#[slow(hostile)]
#[test]
fn what_cannot_be_read_is_never_a_pass() {
    for negate in [false, true] {
        let samples = samples();
        let unreadable = samples.iter().flat_map(|sample| {
            let case = move |(entry, work): &(Value, Work)| {
                let entry = with(entry, &[("negate", json!(negate))]);
                SampleCase::new(vec![entry, passing()], work)
            };
            sample.unreadable.iter().map(case)
        });
        let cases: Vec<SampleCase> = unreadable.collect();
        for (case, result) in cases.iter().zip(run(&cases)) {
            let shown = format!("{} with {} {:?}: {result:?}", case.graders[0], case.work.evidence, case.work.reply);
            assert!(!passed(&result), "{shown}");
            if !reads_documents(&case.graders[0]) {
                assert_eq!((result.state, result.outcome), (Some(GraderState::Error), Status::Error), "{shown}");
            }
        }
    }
}
