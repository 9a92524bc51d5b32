//! Converts a judgement to the result of its grader.

use evalsuite_records::record::Assertion;
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::grader::Criterion;
use evalsuite_schema::json::{Object, Value};

use crate::grade::grader_record::GraderResult;
use crate::grade::scoring::weighted_mean;
use crate::judge::judgement::{Check, Judgement, SATISFIED};
use crate::judge::reply_shape::ReplyShape;
use crate::model::score::Score;

/// Evidence of a criterion that the judge did not answer.
const NOT_ANSWERED: &str = "not answered";

/// Lowest score, of 10, with which the assertion of a criterion passes.
const SHOWN_AS_PASSED: u8 = 7;

pub(crate) fn score(judgement: Judgement, criteria: &[Criterion]) -> GraderResult {
    match judgement {
        Judgement::Score(score) => score.into(),
        Judgement::Criteria { checks, reasoning } => by_criteria(criteria, &checks, reasoning),
    }
}

/// The weighted mean of the criteria. A criterion that is not met fails the answer.
fn by_criteria(criteria: &[Criterion], checks: &[Check], reasoning: Option<String>) -> GraderResult {
    let has_ranges = ReplyShape::of(criteria) == ReplyShape::Ranges;
    let (mut values, mut assertions, mut raw) = (Vec::new(), Vec::new(), Object::new());
    let mut forced_fail = false;
    for criterion in criteria {
        let (score, evidence) = worst(checks, &criterion.id);
        let value = f64::from(score) / f64::from(SATISFIED);
        let is_met =
            criterion.min_score.or(criterion.required.then_some(1.0)).is_none_or(|least| at_least(value, least));
        let mut text = format!("[{}] {}", criterion.id, criterion.outcome.as_deref().unwrap_or(&criterion.id));
        if has_ranges {
            let range = criterion.score_ranges.iter().find(|range| (range.low..=range.high).contains(&score));
            text.push_str(&format!(" - Score: {score}/10 ({})", range.map_or("", |range| &range.outcome)));
            if checks.iter().any(|check| check.id == criterion.id) {
                raw.insert(criterion.id.clone(), score.into());
            }
        }
        let mut assertion = Assertion::new(text, score >= SHOWN_AS_PASSED && is_met);
        assertion.evidence = evidence;
        assertions.push(assertion);
        values.push((criterion.weight, value));
        forced_fail |= !is_met;
    }
    let rationale = reasoning.filter(|text| !text.trim().is_empty());
    let mean = weighted_mean(values.into_iter()).unwrap_or(0.0);
    let mut score = Score { assertions, rationale, ..Score::new(mean) };
    let is_known = |check: &&Check| criteria.iter().any(|criterion| criterion.id == check.id);
    let unknown: Vec<String> = checks.iter().filter(|check| !is_known(check)).map(|check| check.id.clone()).collect();
    if !unknown.is_empty() {
        score = score.with_detail("unknown_ids", unknown);
    }
    if has_ranges {
        score = score.with_detail("raw_scores", Value::Object(raw));
    }
    GraderResult { forced_fail, ..score.into() }
}

/// The worst answer to a criterion; the worst possible one where the judge did not answer it.
fn worst(checks: &[Check], id: &str) -> (u8, Option<String>) {
    let answers = checks.iter().filter(|check| check.id == id);
    match answers.min_by_key(|check| check.score) {
        Some(check) => (check.score, check.reasoning.clone()),
        None => (0, Some(NOT_ANSWERED.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Operator, ScoreRange};
    use evalsuite_schema::json::json;

    use super::*;
    use crate::model::score::ScoreState;

    fn criterion(id: &str, weight: f64, required: bool) -> Criterion {
        let outcome = Some(format!("{id} holds"));
        let operator = Operator::Correctness;
        Criterion { id: id.into(), outcome, operator, weight, required, min_score: None, score_ranges: Vec::new() }
    }

    fn check(id: &str, score: u8) -> Check {
        Check { id: id.into(), score, reasoning: Some("why".into()) }
    }

    fn judged(criteria: &[Criterion], checks: Vec<Check>, reasoning: Option<&str>) -> GraderResult {
        score(Judgement::Criteria { checks, reasoning: reasoning.map(str::to_owned) }, criteria)
    }

    fn value(graded: &GraderResult) -> f64 {
        match graded.score.state {
            ScoreState::Decided(value) => value,
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn silence_is_not_satisfied_and_the_worse_of_two_answers_counts() {
        let criteria = [criterion("a", 2.0, true), criterion("b", 1.0, false), criterion("c", 1.0, false)];
        let checks = vec![check("b", SATISFIED), check("a", SATISFIED), check("b", 0), check("z", SATISFIED)];
        let graded = judged(&criteria, checks, Some(" "));
        assert_eq!((value(&graded), graded.forced_fail, &graded.score.rationale), (0.5, false, &None));
        let evidence: Vec<_> = graded.score.assertions.iter().map(|a| (a.passed, a.evidence.as_deref())).collect();
        assert_eq!(evidence, [(true, Some("why")), (false, Some("why")), (false, Some("not answered"))]);
        assert_eq!(graded.score.details["unknown_ids"], json!(["z"]));
        let none = judged(&criteria, Vec::new(), Some(""));
        assert_eq!((value(&none), none.forced_fail), (0.0, true));
    }

    #[test]
    fn a_range_below_its_minimum_fails_whatever_the_mean() {
        let range = |low, high, outcome: &str| ScoreRange { low, high, outcome: outcome.into() };
        let ranged = |id: &str, weight, min_score| Criterion {
            min_score,
            score_ranges: vec![range(0, 6, "poor"), range(7, 10, "good")],
            ..criterion(id, weight, false)
        };
        let criteria = [ranged("a", 3.0, None), ranged("b", 1.0, Some(0.6)), criterion("c", 1.0, true)];
        let checks = vec![check("a", 7), check("b", 5), check("c", 10)];
        let graded = judged(&criteria, checks, None);
        assert!((value(&graded) - 3.6 / 5.0).abs() < 1e-12 && graded.forced_fail);
        let shown: Vec<_> = graded.score.assertions.iter().map(|a| (a.text.as_str(), a.passed)).collect();
        assert_eq!(
            shown,
            [
                ("[a] a holds - Score: 7/10 (good)", true),
                ("[b] b holds - Score: 5/10 (poor)", false),
                ("[c] c holds - Score: 10/10 ()", true),
            ]
        );
        let met = judged(&criteria, vec![check("a", 0), check("b", 6), check("c", 10)], None);
        assert!(!met.forced_fail);
    }

    #[test]
    fn raw_scores_are_those_of_the_judge() {
        let any = ScoreRange { low: 0, high: 10, outcome: "any".into() };
        let criteria = ["a", "b"].map(|id| Criterion { score_ranges: vec![any.clone()], ..criterion(id, 1.0, false) });
        let graded = judged(&criteria, vec![check("b", 7)], None);
        assert_eq!(graded.score.details["raw_scores"], json!({"b": 7}));
    }
}
