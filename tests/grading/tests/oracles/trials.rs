//! Graders in composites, and the trials, conversations and cases that they decide.

use std::path::Path;

use evalsuite::__private::{EndedTrial, GradableEvidence, end_case, end_conversation, end_trial};
use evalsuite::Status;
use evalsuite::record::GraderRecord;
use evalsuite::schema::{Aggregation, Layout, Strategy as TrialStrategy, SuiteKind};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::case_rules::{End, State, Trial, counted, end, mean, trial};
use crate::compared::{Expected, compare, for_each, is_close};
use crate::decimal::{Decimal, Exact, share, whole};
use crate::grader_tree::{Kind, Node, nodes, work};

/// Thresholds, of which most are round.
fn thresholds() -> impl Strategy<Value = Decimal> {
    prop_oneof![3 => Just(Decimal { units: 8, places: 1 }), 1 => Just(Decimal { units: 1, places: 0 }), 4 => share()]
}

fn grade(nodes: &[Node], threshold: Decimal) -> Vec<GraderRecord> {
    let evidence = GradableEvidence::new(work());
    let grade = |(index, node): (usize, &Node)| {
        evidence.grade_at(&node.grader(&format!("g{index}")), threshold.float(), Path::new(""))
    };
    nodes.iter().enumerate().map(grade).collect()
}

fn ends(nodes: &[Node], threshold: Decimal) -> Vec<End> {
    nodes.iter().map(|node| end(node, &threshold.exact())).collect()
}

#[test]
fn graders_end_as_the_rules_say() {
    for_each("composites and marks", (nodes(), thresholds()), |(node, threshold)| {
        let record = grade(std::slice::from_ref(node), *threshold).remove(0);
        let end = end(node, &threshold.exact());
        let expected = match &end.state {
            State::Error => Expected::Error,
            State::Undecided => Expected::Undecided,
            State::Decided { score, passes } => Expected::Decided(score.clone(), *passes),
        };
        compare(&record, &expected)?;
        let guards = record.guard || record.required;
        if end.state != State::Error && guards != (end.guard || end.required) {
            return Err(format!("a guard: expected {}, found {guards}", end.guard || end.required));
        }
        Ok(())
    });
}

/// Compares a trial.
fn same_trial(ours: &EndedTrial, expected: &Trial) -> Result<(), String> {
    let same = match expected {
        Trial::Error | Trial::Nothing => ours.outcome == Status::Error && ours.score.is_none(),
        Trial::Broken { score } => {
            ours.outcome == Status::Failed && is_close(ours.score, score) && ours.has_broken_guard
        }
        Trial::Scored { score, passes } => {
            let outcome = if *passes { Status::Passed } else { Status::Failed };
            ours.outcome == outcome && is_close(ours.score, score) && !ours.has_broken_guard
        }
    };
    if same { Ok(()) } else { Err(format!("the oracle expects {expected:?}; the product: {ours:?}")) }
}

#[test]
fn trials_end_as_the_rules_say() {
    let inputs = (vec(nodes(), 1..5), thresholds(), prop::bool::weighted(0.2));
    for_each("trials", inputs, |(nodes, threshold, is_tasks)| {
        let mut nodes = nodes.clone();
        if *is_tasks {
            nodes.iter_mut().for_each(|node| (node.required, node.weight) = (false, Decimal { units: 1, places: 0 }));
        }
        let layout = if *is_tasks { Layout::Tasks } else { Layout::Cases };
        let ours = end_trial(layout, &grade(&nodes, *threshold), threshold.float());
        same_trial(&ours, &trial(&ends(&nodes, *threshold), &threshold.exact(), *is_tasks))
    });
}

/// The node without an inverted composite: with a lower threshold, more of its members pass.
fn plain(node: &Node) -> Node {
    let mut node = node.clone();
    if let Kind::Average { members, .. } | Kind::Share { members, .. } = &mut node.kind {
        members.iter_mut().for_each(|member| *member = plain(member));
        node.negate = false;
    }
    node
}

#[test]
fn relations_of_trials_hold() {
    let inputs = (vec(nodes(), 1..5), thresholds(), share(), any::<prop::sample::Index>());
    for_each("trials, relations", inputs, |(nodes, threshold, lower, rotation)| {
        let nodes: Vec<Node> = nodes.iter().map(plain).collect();
        let end = |nodes: &[Node], threshold: Decimal| {
            let ended = end_trial(Layout::Cases, &grade(nodes, threshold), threshold.float());
            (ended.outcome, ended.score)
        };
        let before = end(&nodes, *threshold);
        let mut other = nodes.clone();
        other.rotate_left(rotation.index(nodes.len()));
        for order in [other.clone(), other.into_iter().rev().collect()] {
            if end(&order, *threshold) != before {
                return Err(format!("the order matters: {before:?}, {:?}", end(&order, *threshold)));
            }
        }
        let mut doubled = nodes.clone();
        doubled.iter_mut().for_each(|node| node.weight.units *= 2);
        if end(&doubled, *threshold) != before {
            return Err(format!("weights times two: {before:?}, {:?}", end(&doubled, *threshold)));
        }
        if lower.exact() < threshold.exact() && before.0 == Status::Passed {
            let after = end(&nodes, *lower);
            if after.0 != Status::Passed {
                return Err(format!("passes at {}, and fails at {}: {after:?}", threshold.text(), lower.text()));
            }
        }
        let mut more = nodes.clone();
        let kind = Kind::Plain { hit: 0, miss: 1 };
        let none = Decimal { units: 0, places: 0 };
        more.push(Node { kind, weight: none, required: true, min_score: None, negate: false });
        // A score of 0 reaches a threshold of 0.
        if threshold.units > 0 && end(&more, *threshold).0 == Status::Passed {
            return Err("a required grader fails, and the trial passes".to_owned());
        }
        Ok(())
    });
}

/// How a conversation ends, from its turns.
fn conversation(how: Aggregation, turns: &[Trial], threshold: &Exact) -> Trial {
    if turns.contains(&Trial::Error) {
        return Trial::Error;
    }
    if let Some(broken) = turns.iter().find(|turn| matches!(turn, Trial::Broken { .. })) {
        return broken.clone();
    }
    let scores: Vec<(Exact, bool)> = turns
        .iter()
        .filter_map(|turn| match turn {
            Trial::Scored { score, passes } => Some((score.clone(), *passes)),
            _ => None,
        })
        .collect();
    let one = whole(1);
    let Some(score) = (match how {
        Aggregation::Mean => mean(scores.iter().map(|(score, _)| (whole(1), score.clone()))),
        Aggregation::Min => scores.iter().map(|(score, _)| score.clone()).min(),
        Aggregation::Max => scores.iter().map(|(score, _)| score.clone()).max(),
    }) else {
        return Trial::Nothing;
    };
    let passes = match how {
        Aggregation::Mean => counted(scores.iter().map(|(score, passes)| (&one, score, *passes)), threshold),
        // A turn that fails counts as less than the threshold, and one that passes as not less.
        Aggregation::Min => scores.iter().all(|(_, passes)| *passes),
        Aggregation::Max => scores.iter().any(|(_, passes)| *passes),
    };
    Trial::Scored { score, passes }
}

#[test]
fn conversations_end_as_the_rules_say() {
    let turn = || option::weighted(0.9, vec(nodes(), 1..3));
    let how = select(vec![Aggregation::Mean, Aggregation::Min, Aggregation::Max]);
    let inputs = (vec(turn(), 1..5), option::weighted(0.3, vec(nodes(), 1..3)), how, thresholds());
    for_each("conversations", inputs, |(turns, whole_graders, how, threshold)| {
        let graded = |nodes: &Vec<Node>| grade(nodes, *threshold);
        // A turn without graders does not count.
        let records: Vec<_> = turns.iter().flatten().map(graded).collect();
        let of_whole = whole_graders.as_ref().map(graded);
        let ours = end_conversation(*how, &records, of_whole.as_deref(), threshold.float());
        let exact = threshold.exact();
        let ended = |nodes: &Vec<Node>| trial(&ends(nodes, *threshold), &exact, false);
        let all: Vec<Trial> = turns.iter().flatten().chain(whole_graders).map(ended).collect();
        match conversation(*how, &all, &exact) {
            // Its score is that of the turns.
            Trial::Broken { .. } if ours.outcome == Status::Failed && ours.has_broken_guard => Ok(()),
            expected => same_trial(&ours, &expected),
        }
    });
}

/// A trial of a case: it passes, fails or breaks, with a score.
fn ended_trial() -> impl Strategy<Value = (Status, Decimal)> {
    let outcome = prop_oneof![
        6 => Just(Status::Passed), 4 => Just(Status::Failed), 1 => Just(Status::Error), 1 => Just(Status::Skipped),
    ];
    (outcome, share())
}

#[test]
fn cases_end_as_the_rules_say() {
    let kind = select(vec![SuiteKind::Capability, SuiteKind::Regression, SuiteKind::Mixed]);
    let strategy = select(vec![None, Some(TrialStrategy::PassAtK), Some(TrialStrategy::Mean)]);
    let inputs = (kind, strategy, vec(ended_trial(), 1..7), thresholds(), 0..3_u32);
    for_each("cases", inputs, |(kind, strategy, trials, threshold, tolerated)| {
        let points: Vec<(Status, Option<f64>)> = trials
            .iter()
            .map(|(outcome, score)| {
                (*outcome, matches!(outcome, Status::Passed | Status::Failed).then(|| score.float()))
            })
            .collect();
        let ours = end_case((*kind, *strategy), threshold.float(), *tolerated, &points);
        let of = |outcome: Status| trials.iter().filter(move |(ended, _)| *ended == outcome).count();
        let completed: Vec<(Exact, bool)> = trials
            .iter()
            .filter(|(outcome, _)| matches!(outcome, Status::Passed | Status::Failed))
            .map(|(outcome, score)| (score.exact(), *outcome == Status::Passed))
            .collect();
        let scores = || completed.iter().map(|(score, _)| score.clone());
        let (is_mean, is_any) = (*strategy == Some(TrialStrategy::Mean), *kind == SuiteKind::Capability);
        let score = if is_mean {
            mean(scores().map(|score| (whole(1), score)))
        } else if is_any {
            scores().max()
        } else {
            scores().min()
        };
        let one = whole(1);
        let passes = if is_mean {
            counted(completed.iter().map(|(score, passes)| (&one, score, *passes)), &threshold.exact())
        } else if is_any {
            completed.iter().any(|(_, passes)| *passes)
        } else {
            completed.iter().all(|(_, passes)| *passes)
        };
        let expected = if of(Status::Skipped) == trials.len() {
            Status::Skipped
        } else if !is_mean && !is_any && of(Status::Failed) > 0 {
            Status::Failed
        } else if of(Status::Error) > *tolerated as usize || completed.is_empty() {
            Status::Error
        } else if is_any && !is_mean && passes {
            Status::Passed
        } else if of(Status::Skipped) > 0 {
            Status::Error
        } else if passes {
            Status::Passed
        } else {
            Status::Failed
        };
        let same_score = match &score {
            Some(score) => is_close(ours.1, score),
            None => ours.1.is_none(),
        };
        if ours.0 == expected && same_score {
            return Ok(());
        }
        Err(format!("the oracle expects {expected:?} {score:?}; the product: {ours:?}"))
    });
}
