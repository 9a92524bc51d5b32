//! Converts a judgement to the result of its grader.

use evalsuite_records::record::Assertion;
use evalsuite_schema::grader::Criterion;
use evalsuite_schema::json::{Object, Value};

use crate::grade::grader_record::GraderResult;
use crate::grade::scoring::weighted_mean;
use crate::judge::judgement::{Check, Judgement};
use crate::model::score::Score;

/// Evidence of a criterion that the judge did not answer.
const NOT_ANSWERED: &str = "not answered";

/// Lowest score, of 10, with which the assertion of a criterion passes.
const SHOWN_AS_PASSED: u8 = 7;

pub(crate) fn score(judgement: Judgement, criteria: &[Criterion]) -> GraderResult {
    match judgement {
        Judgement::Undecided(reason) => Score::undecided(reason).into(),
        Judgement::FreeForm { score, assertions, details } => Score { assertions, details, ..Score::new(score) }.into(),
        Judgement::Checklist { checks, reasoning } => checklist(criteria, &checks, reasoning),
        Judgement::Ranges { checks, reasoning } => ranges(criteria, &checks, reasoning),
    }
}

fn checklist(criteria: &[Criterion], checks: &[Check<bool>], reasoning: String) -> GraderResult {
    by_criteria(criteria, checks, Some(reasoning), |criterion, is_satisfied, evidence| JudgedCriterion {
        value: if is_satisfied { 1.0 } else { 0.0 },
        is_met: is_satisfied || !criterion.required,
        assertion: Assertion::new(shown(criterion), is_satisfied).with_evidence(evidence.unwrap_or_default()),
    })
}

fn ranges(criteria: &[Criterion], checks: &[Check<u8>], reasoning: Option<String>) -> GraderResult {
    let mut raw = Object::new();
    let mut graded = by_criteria(criteria, checks, reasoning, |criterion, score, evidence| {
        let value = f64::from(score) / 10.0;
        let is_met = criterion.min_score.or(criterion.required.then_some(1.0)).is_none_or(|least| value >= least);
        let range = criterion.score_ranges.iter().find(|range| (range.low..=range.high).contains(&score));
        let text = format!("{} - Score: {score}/10 ({})", shown(criterion), range.map_or("", |range| &range.outcome));
        let mut assertion = Assertion::new(text, score >= SHOWN_AS_PASSED && is_met);
        assertion.evidence = evidence;
        raw.insert(criterion.id.clone(), score.into());
        JudgedCriterion { value, is_met, assertion }
    });
    graded.score.details.insert("raw_scores".to_owned(), Value::Object(raw));
    graded
}

struct JudgedCriterion {
    value: f64,
    /// Whether the answer may pass.
    is_met: bool,
    assertion: Assertion,
}

/// The weighted mean of the criteria. A criterion that is not met fails the answer.
fn by_criteria<T: Copy + Default + Ord>(
    criteria: &[Criterion],
    checks: &[Check<T>],
    reasoning: Option<String>,
    mut judge: impl FnMut(&Criterion, T, Option<String>) -> JudgedCriterion,
) -> GraderResult {
    let mut values = Vec::new();
    let mut assertions = Vec::new();
    let mut forced_fail = false;
    for criterion in criteria {
        let (judgement, evidence) = worst(checks, &criterion.id);
        let judged = judge(criterion, judgement, evidence);
        forced_fail |= !judged.is_met;
        values.push((criterion.weight, judged.value));
        assertions.push(judged.assertion);
    }
    let rationale = reasoning.filter(|text| !text.trim().is_empty());
    let mean = weighted_mean(values.into_iter()).unwrap_or(0.0);
    let mut score = Score { assertions, rationale, ..Score::new(mean) };
    let is_known = |check: &&Check<T>| criteria.iter().any(|criterion| criterion.id == check.id);
    let unknown: Vec<String> = checks.iter().filter(|check| !is_known(check)).map(|check| check.id.clone()).collect();
    if !unknown.is_empty() {
        score = score.with_detail("unknown_ids", unknown);
    }
    GraderResult { forced_fail, ..score.into() }
}

fn shown(criterion: &Criterion) -> String {
    format!("[{}] {}", criterion.id, criterion.outcome.as_deref().unwrap_or(&criterion.id))
}

/// The worst answer to a criterion; the worst possible one where the judge did not answer it.
fn worst<T: Copy + Default + Ord>(checks: &[Check<T>], id: &str) -> (T, Option<String>) {
    let answers = checks.iter().filter(|check| check.id == id);
    match answers.min_by_key(|check| check.judgement) {
        Some(check) => (check.judgement, check.reasoning.clone()),
        None => (T::default(), Some(NOT_ANSWERED.to_owned())),
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

    fn check<T>(id: &str, judgement: T) -> Check<T> {
        Check { id: id.into(), judgement, reasoning: Some("why".into()) }
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
        let checks = vec![check("b", true), check("a", true), check("b", false), check("z", true)];
        let graded = score(Judgement::Checklist { checks, reasoning: " ".into() }, &criteria);
        assert_eq!((value(&graded), graded.forced_fail, &graded.score.rationale), (0.5, false, &None));
        let evidence: Vec<_> = graded.score.assertions.iter().map(|a| (a.passed, a.evidence.as_deref())).collect();
        assert_eq!(evidence, [(true, Some("why")), (false, Some("why")), (false, Some("not answered"))]);
        assert_eq!(graded.score.details["unknown_ids"], json!(["z"]));
        let none = score(Judgement::Checklist { checks: Vec::new(), reasoning: String::new() }, &criteria);
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
        let graded = score(Judgement::Ranges { checks, reasoning: None }, &criteria);
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
        let met = score(
            Judgement::Ranges { checks: vec![check("a", 0), check("b", 6), check("c", 10)], reasoning: None },
            &criteria,
        );
        assert!(!met.forced_fail);
    }
}
