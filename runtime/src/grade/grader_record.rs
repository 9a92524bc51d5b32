//! The result of a grader, and its conversion to a record: value, pass mark, verdict, negation.

use std::collections::BTreeMap;

use evalsuite_records::record::{
    Assertion, CommandRecord, GraderKind, GraderRecord, GraderState, JudgeRecord, ReasonCode, Verdict,
};
use evalsuite_schema::decimal::{at_least, without_noise};
use evalsuite_schema::{Grader, Object};

use crate::judge::judge_call::JudgeFailure;
use crate::model::depth::{MOST_LEVELS, replace_too_deep};
use crate::model::score::{Score, ScoreState};
use crate::platform::excerpt::last_chars;

/// Characters shown of what a command that crashed wrote to standard error.
const CRASH_SHOWN: usize = 600;

/// The result of a grader, before pass mark and negation.
#[derive(Debug)]
pub(crate) struct GraderResult {
    pub(crate) score: Score,
    /// The verdict is `fail` whatever the value.
    pub(crate) forced_fail: bool,
    /// The answer, or what the agent reported, is not what the grader reads: the verdict is `fail`, also if the result is inverted.
    pub(crate) lacks_evidence: bool,
    /// A member lacks evidence, or a part of it cannot be read: what is inverted is not certain.
    pub(crate) has_blind_member: bool,
    /// A member on which everything depends did not pass, so that the case fails, too.
    pub(crate) broken_guard: bool,
    /// Who decided; `None`: the kind of the grader's type.
    pub(crate) kind: Option<GraderKind>,
    /// The grader's own pass mark.
    pub(crate) pass_mark: Option<f64>,
    pub(crate) command: Option<CommandRecord>,
    pub(crate) members: Vec<GraderRecord>,
    /// The calls of judges.
    pub(crate) judge: Option<JudgeRecord>,
    /// Why the grader is an error, where a judge is the cause.
    pub(crate) code: Option<ReasonCode>,
}

impl From<Score> for GraderResult {
    fn from(score: Score) -> Self {
        Self {
            lacks_evidence: score.has_no_checks,
            score,
            forced_fail: false,
            has_blind_member: false,
            broken_guard: false,
            kind: None,
            pass_mark: None,
            command: None,
            members: Vec::new(),
            judge: None,
            code: None,
        }
    }
}

impl GraderResult {
    /// The result of a grader that finds nothing that it can read, as the assertions say.
    pub(crate) fn without_evidence(assertions: impl IntoIterator<Item = Assertion>) -> Self {
        let assertions = assertions.into_iter().collect();
        Score { assertions, has_no_checks: true, ..Score::new(0.0) }.into()
    }
}

impl From<JudgeFailure> for GraderResult {
    fn from(JudgeFailure { message, code }: JudgeFailure) -> Self {
        Self { code: Some(code), ..Score::error(message).into() }
    }
}

/// Lowest value of a passing verdict: `min_score`, else the grader's own, else everything for a guard, else the threshold of the trial.
pub(crate) fn pass_mark(grader: &Grader, own: Option<f64>, threshold: f64) -> f64 {
    let of_guard = grader.is_guard().then_some(1.0);
    grader.min_score.or(own).or(of_guard).unwrap_or(threshold)
}

/// The record of a result.
pub(crate) fn grader_record(grader: &Grader, result: GraderResult, threshold: f64) -> GraderRecord {
    let GraderResult { score, lacks_evidence, has_blind_member, broken_guard, pass_mark: own_mark, members, .. } =
        result;
    // The negation of a composite with such a member is not known either.
    let lacks_evidence = lacks_evidence || has_blind_member && grader.negate;
    let forced_fail = result.forced_fail || lacks_evidence;
    let mut record = GraderRecord::default();
    record.name = grader.name.clone();
    record.grader_type = grader.config.type_name().to_owned();
    record.kind = result.kind.unwrap_or_else(|| grader.config.kind());
    record.state = GraderState::Error;
    record.weight = grader.weight;
    record.required = grader.required;
    record.lacks_evidence = lacks_evidence || has_blind_member;
    record.guard = (grader.is_guard() || broken_guard) && grader.counts_entirely();
    record.min_score = grader.min_score;
    record.assertions = score.assertions;
    record.metrics = score.metrics;
    record.rationale = score.rationale;
    record.details = (!score.details.is_empty()).then_some(score.details);
    record.location = grader.location.clone();
    record.members = members;
    record.judge = result.judge;
    record.code = result.code;
    record.command = result.command;
    let crash = if grader.negate { crash(&record) } else { None };
    // The aggregation of a composite states a verdict as well, which follows from its members.
    let is_reported = result.kind.is_some() && score.verdict.is_some() && !forced_fail;
    let too_deep = replace_deep_details(&mut record.details);
    let unwritable = remove_not_finite(&mut record.metrics).or(too_deep);
    match score.state {
        ScoreState::Error(message) => record.error = Some(message),
        ScoreState::Decided(_) | ScoreState::Undecided(_) if unwritable.is_some() => record.error = unwritable,
        ScoreState::Undecided(reason) => {
            record.state = GraderState::Undecided;
            record.rationale.get_or_insert(reason);
        }
        ScoreState::Decided(_) if crash.is_some() => record.error = crash,
        ScoreState::Decided(value) if !(0.0..=1.0).contains(&value) => {
            record.error = Some(format!("the value {value} is not a number from 0 to 1"));
        }
        ScoreState::Decided(value) => {
            let mark = pass_mark(grader, own_mark, threshold);
            let reaches = |value| Verdict::from_passed(at_least(value, mark));
            let stated = if forced_fail { Some(Verdict::Fail) } else { score.verdict };
            let is_compared = stated.is_none() && own_mark.is_none() && !grader.is_guard();
            let verdict = stated.unwrap_or_else(|| reaches(value));
            let negated = without_noise(1.0 - value);
            let has_mark = is_compared || grader.min_score.is_some();
            let swapped = if has_mark { reaches(negated) } else { !verdict };
            record.pass_mark = Some(mark);
            record.value = Some(value);
            record.verdict = Some(verdict);
            record.forced_fail = forced_fail;
            if grader.negate
                && swapped == Verdict::Pass
                && let Some(why) = contradiction(&record, is_reported)
            {
                (record.value, record.verdict, record.pass_mark) = (None, None, None);
                record.error = Some(why);
                return record;
            }
            record.state = GraderState::Decided;
            if grader.negate && !lacks_evidence {
                invert(&mut record, negated, swapped);
            }
            explain(&mut record);
        }
    }
    record
}

/// Why a result cannot be negated: a command crashed, so that its exit code says nothing about the answer.
fn crash(record: &GraderRecord) -> Option<String> {
    let Some(command) = record.command.as_ref().filter(|command| command.crashed) else {
        let (member, crash) = record.members.iter().find_map(|member| Some((member, crash(member)?)))?;
        return Some(format!("member `{}`: {crash}", member.name));
    };
    let code = command.exit_code.map_or_else(|| "–".to_owned(), |code| code.to_string());
    let stderr =
        record.assertions.first().map(|assertion| last_chars(&assertion.text, CRASH_SHOWN)).unwrap_or_default();
    Some(format!("the command crashed (exit code {code}), and a crash cannot be negated: {stderr}"))
}

/// Why a result cannot pass when negated: a grader, or a member, states a score and a verdict that disagree. `is_reported`: whether this one
/// states both.
fn contradiction(record: &GraderRecord, is_reported: bool) -> Option<String> {
    let of_members = || {
        record.members.iter().find_map(|member| {
            let is_reported = member.kind == GraderKind::Command && !member.negated && !member.forced_fail;
            Some(format!("member `{}`: {}", member.name, contradiction(member, is_reported)?))
        })
    };
    let (Some(value), Some(mark), Some(verdict)) = (record.value, record.pass_mark, record.verdict) else {
        return of_members();
    };
    let is_stated =
        |word: &str| record.details.as_ref().and_then(|details| details.get("verdict")?.as_str()) == Some(word);
    let passed = verdict.is_pass() || is_stated("pass");
    let agrees = at_least(value, mark) == passed || value == 0.0 && !passed;
    if !is_reported || agrees {
        return of_members();
    }
    let (compared, stated) = if passed { ("is below", "pass") } else { ("reaches", "fail") };
    Some(format!(
        "the score {value} {compared} the pass mark {mark}, but the verdict is `{stated}`: a result that contradicts itself cannot be \
         negated; help: report a score that agrees with the verdict"
    ))
}

/// Removes metrics that JSON cannot hold, and returns what is wrong with the first of them.
fn remove_not_finite(metrics: &mut BTreeMap<String, f64>) -> Option<String> {
    let (name, value) = metrics.iter().find(|(_, value)| !value.is_finite())?;
    let problem = format!("the metric `{name}` is {value}, not a finite number");
    metrics.retain(|_, value| value.is_finite());
    Some(problem)
}

/// Replaces details that records cannot hold, and returns what is wrong with them.
fn replace_deep_details(details: &mut Option<Object>) -> Option<String> {
    let found = replace_too_deep(details.iter_mut().flat_map(Object::values_mut));
    found.then(|| format!("a value in `details` has more than {MOST_LEVELS} levels of lists and objects"))
}

/// Inverts a result, whose value and verdict become these. A value that is compared with the threshold of the trial, or with a
/// `min_score`, has to reach it; any other verdict is swapped.
fn invert(record: &mut GraderRecord, value: f64, verdict: Verdict) {
    record.negated = true;
    record.value = Some(value);
    record.verdict = Some(verdict);
    record.forced_fail = false;
    for assertion in &mut record.assertions {
        assertion.passed = !assertion.passed;
        if let Some(evidence) = &mut assertion.evidence {
            evidence.insert_str(0, "[Negated] ");
        }
        if let Some(expected) = &mut assertion.expected {
            expected.insert_str(0, "not: ");
        }
    }
}

/// Lists the failed assertions as the rationale of a grader that gives none.
fn explain(record: &mut GraderRecord) {
    if record.rationale.is_none() {
        let failed = record.assertions.iter().filter(|assertion| !assertion.passed);
        let failed: Vec<String> = failed.map(|assertion| format!("- {}", assertion.text)).collect();
        record.rationale = Some(failed.join("\n")).filter(|list| !list.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{GraderConfig, Location, Value};

    use super::*;

    fn grader(change: impl FnOnce(&mut Grader)) -> Grader {
        let mut grader = Grader::new("g", Location::new("f", 1, 1), GraderConfig::IsJson);
        change(&mut grader);
        grader
    }

    fn verdict(grader: &Grader, result: impl Into<GraderResult>, threshold: f64) -> (Option<f64>, Option<Verdict>) {
        let record = grader_record(grader, result.into(), threshold);
        (record.value, record.verdict)
    }

    #[test]
    fn the_pass_mark_is_written_or_the_graders_or_the_threshold() {
        let plain = grader(|_| ());
        assert_eq!(verdict(&plain, Score::new(0.8), 0.8).1, Some(Verdict::Pass));
        assert_eq!(verdict(&plain, Score::new(0.8), 1.0).1, Some(Verdict::Fail));
        let own = GraderResult { pass_mark: Some(0.5), ..Score::new(0.6).into() };
        assert_eq!(verdict(&plain, own, 1.0).1, Some(Verdict::Pass));
        let written = grader(|grader| grader.min_score = Some(0.9));
        let own = GraderResult { pass_mark: Some(0.5), ..Score::new(0.6).into() };
        assert_eq!(verdict(&written, own, 0.8).1, Some(Verdict::Fail));
    }

    #[test]
    fn a_forced_fail_keeps_its_value() {
        let forced = GraderResult { forced_fail: true, ..Score::new(0.9).with_verdict(Verdict::Pass).into() };
        assert_eq!(verdict(&grader(|_| ()), forced, 0.8), (Some(0.9), Some(Verdict::Fail)));
    }

    #[test]
    fn negation_inverts_value_verdict_and_assertions() {
        let negated = grader(|grader| grader.negate = true);
        let forced = GraderResult { forced_fail: true, ..Score::new(0.9).into() };
        let record = grader_record(&negated, forced, 0.8);
        assert_eq!((record.verdict, record.forced_fail), (Some(Verdict::Pass), false));

        let score = Score::new(1.0).with_assertion(Assertion::new("has it", true).with_evidence("here"));
        let record = grader_record(&negated, score.into(), 0.8);
        assert_eq!((record.value, record.verdict), (Some(0.0), Some(Verdict::Fail)));
        assert_eq!(record.assertions, [Assertion::new("has it", false).with_evidence("[Negated] here")]);
        assert_eq!(record.rationale.as_deref(), Some("- has it"));

        let marked = grader(|grader| (grader.negate, grader.min_score) = (true, Some(0.5)));
        assert_eq!(verdict(&marked, Score::new(0.4), 0.8), (Some(0.6), Some(Verdict::Pass)));
    }

    #[test]
    fn a_result_that_contradicts_itself_does_not_pass_when_negated() {
        let graded = |value, stated, min_score, threshold| {
            let negated = grader(|grader| (grader.negate, grader.min_score) = (true, min_score));
            let score = Score::new(value).with_verdict(stated);
            grader_record(&negated, GraderResult { kind: Some(GraderKind::Command), ..score.into() }, threshold)
        };
        for (value, stated, min_score, threshold) in [
            (1.0, Verdict::Fail, None, 0.8),
            (1.0, Verdict::Fail, None, 0.0),
            (0.9, Verdict::Fail, None, 0.8),
            (0.5, Verdict::Fail, Some(0.4), 0.8),
            (0.0, Verdict::Pass, Some(0.4), 0.8),
            (0.3, Verdict::Pass, Some(0.7), 0.8),
            (0.1, Verdict::Fail, None, 0.0),
        ] {
            let record = graded(value, stated, min_score, threshold);
            let error = record.error.as_deref().unwrap_or_default();
            assert!(error.contains("contradicts itself cannot be negated"), "{value} {stated:?}: {record:?}");
            assert_eq!((record.state, record.value, record.verdict), (GraderState::Error, None, None));
        }
        for (value, stated, passes) in [
            (0.0, Verdict::Fail, true),
            (0.5, Verdict::Fail, true),
            (1.0, Verdict::Pass, false),
            (0.3, Verdict::Pass, false),
        ] {
            let record = graded(value, stated, None, 0.8);
            assert_eq!(record.verdict, Some(Verdict::from_passed(passes)), "{value} {stated:?}");
        }
        assert_eq!(graded(0.0, Verdict::Fail, None, 0.0).verdict, Some(Verdict::Pass), "any score reaches 0");
    }

    #[test]
    fn a_composite_does_not_pass_when_negated_if_a_member_contradicts_itself() {
        let member = |score: Score| {
            grader_record(&grader(|_| ()), GraderResult { kind: Some(GraderKind::Command), ..score.into() }, 0.8)
        };
        let negated = |member: GraderRecord| {
            let composite = GraderResult { members: vec![member], ..Score::new(0.0).into() };
            grader_record(&grader(|grader| grader.negate = true), composite, 0.8)
        };
        for score in [Score::new(0.9).with_verdict(Verdict::Fail), Score::new(0.1).with_detail("verdict", "pass")] {
            let member = member(score);
            assert_eq!(member.verdict, Some(Verdict::Fail));
            let record = negated(member);
            let error = record.error.as_deref().unwrap_or_default();
            assert!(error.starts_with("member `g`: the score 0."), "{record:?}");
        }
        assert_eq!(negated(member(Score::new(0.3))).verdict, Some(Verdict::Pass));
    }

    #[test]
    fn errors_and_undecided_graders_are_not_negated() {
        let negated = grader(|grader| grader.negate = true);
        let record = grader_record(&negated, Score::error("broken").into(), 0.8);
        assert_eq!((record.state, record.value, record.negated), (GraderState::Error, None, false));
        let record = grader_record(&negated, Score::undecided("no idea").into(), 0.8);
        assert_eq!((record.state, record.rationale.as_deref()), (GraderState::Undecided, Some("no idea")));
    }

    #[test]
    fn metrics_are_recorded_as_they_are_and_do_not_count() {
        let negated = grader(|grader| grader.negate = true);
        let score = Score::new(1.0).with_metric("recall", 0.25).with_metric("latency_ms", 1250.0);
        let record = grader_record(&negated, score.into(), 0.8);
        assert_eq!((record.value, record.verdict), (Some(0.0), Some(Verdict::Fail)));
        let json = serde_json::to_string(&record).unwrap();
        assert!(json.contains(r#""metrics":{"latency_ms":1250.0,"recall":0.25}"#), "{json}");
        assert_eq!(serde_json::from_str::<GraderRecord>(&json).unwrap(), record);
    }

    #[test]
    fn a_metric_that_is_not_finite_is_an_error() {
        for value in [f64::NAN, f64::NEG_INFINITY] {
            let score = Score::new(1.0).with_metric("recall", value).with_metric("precision", 1.0);
            let record = grader_record(&grader(|_| ()), score.into(), 0.8);
            assert_eq!((record.state, record.value), (GraderState::Error, None));
            assert_eq!(record.error, Some(format!("the metric `recall` is {value}, not a finite number")));
            assert_eq!(record.metrics.keys().collect::<Vec<_>>(), ["precision"]);
        }
    }

    #[test]
    fn details_that_are_too_deep_are_an_error() {
        let nested = |levels| (0..levels).fold(Value::Null, |value, _| Value::from([value]));
        let record_with = |levels| {
            let score = Score::new(1.0).with_detail("tree", nested(levels));
            grader_record(&grader(|_| ()), score.into(), 0.8)
        };
        assert_eq!(record_with(MOST_LEVELS).state, GraderState::Decided);
        let record = record_with(MOST_LEVELS + 1);
        let problem = "a value in `details` has more than 100 levels of lists and objects";
        assert_eq!((record.state, record.error.as_deref()), (GraderState::Error, Some(problem)));
        assert_eq!(record.details.unwrap()["tree"], "(more than 100 levels)");
    }

    #[test]
    fn a_negated_score_reaches_the_mark_it_is_compared_with_and_a_stated_verdict_is_swapped() {
        let negated = |change: fn(&mut Grader)| {
            grader(|grader| {
                grader.negate = true;
                change(grader);
            })
        };
        let graded = |value| verdict(&negated(|_| ()), Score::new(value), 0.8);
        assert_eq!([graded(0.3), graded(0.2)].map(|graded| graded.1), [Some(Verdict::Fail), Some(Verdict::Pass)]);
        // A third of the expected calls: the expectation does not hold, so that its negation does.
        let trajectory = negated(|grader| {
            grader.config =
                serde_json::from_value(serde_json::json!({"tool-trajectory": {"mode": "superset"}})).unwrap();
        });
        assert_eq!(verdict(&trajectory, Score::new(0.25), 0.8), (Some(0.75), Some(Verdict::Pass)));
        let own = GraderResult { pass_mark: Some(0.5), ..Score::new(0.5).into() };
        assert_eq!(verdict(&negated(|_| ()), own, 0.8), (Some(0.5), Some(Verdict::Fail)));
    }

    #[test]
    fn what_cannot_be_read_fails_negated_or_not() {
        let blind = |negate| {
            let grader = grader(|grader| grader.negate = negate);
            let result = GraderResult::without_evidence([Assertion::new("no calls were reported", false)]);
            grader_record(&grader, result, 0.0)
        };
        for negate in [false, true] {
            let record = blind(negate);
            assert_eq!((record.value, record.verdict, record.negated), (Some(0.0), Some(Verdict::Fail), false));
            let composite = GraderResult { has_blind_member: true, members: vec![record], ..Score::new(0.0).into() };
            let negated = grader_record(&grader(|grader| grader.negate = true), composite, 0.8);
            assert_eq!((negated.verdict, negated.lacks_evidence), (Some(Verdict::Fail), true));
        }
        let either = GraderResult { has_blind_member: true, members: vec![blind(false)], ..Score::new(1.0).into() };
        assert_eq!(
            grader_record(&grader(|_| ()), either, 0.8).verdict,
            Some(Verdict::Pass),
            "another member is enough"
        );
    }

    #[test]
    fn a_grader_that_checked_nothing_fails_negated_or_not() {
        for negate in [false, true] {
            let grader = grader(|grader| grader.negate = negate);
            let record = grader_record(&grader, Score::from(Vec::<Assertion>::new()).into(), 0.8);
            assert_eq!((record.value, record.verdict, record.negated), (Some(0.0), Some(Verdict::Fail), false));
        }
    }

    #[test]
    fn limits_and_calls_are_guards_unless_their_score_is_asked_for() {
        let limit = |change: fn(&mut Grader)| {
            let mut grader = grader(change);
            grader.config = serde_json::from_value(serde_json::json!({"latency": {"threshold": 5.0}})).unwrap();
            let record = grader_record(&grader, Score::new(0.9).into(), 0.8);
            (record.guard, record.pass_mark, record.verdict)
        };
        assert_eq!(limit(|_| ()), (true, Some(1.0), Some(Verdict::Fail)));
        assert_eq!(limit(|grader| grader.min_score = Some(0.9)), (false, Some(0.9), Some(Verdict::Pass)));
        assert!(!limit(|grader| grader.weight = 0.0).0, "with a weight of 0, a result is only shown");
    }

    proptest::proptest! {
        #[test]
        fn negated_twice_is_as_before(thousandths in 0..=1000_u32, marks in proptest::option::of(1..=100_u32), stated: Option<bool>) {
            let value = f64::from(thousandths) / 1000.0;
            let (min_score, verdict) = (marks.map(|mark| f64::from(mark) / 100.0), stated.map(Verdict::from_passed));
            let with = |negate, score: Score| {
                grader_record(&grader(|grader| (grader.negate, grader.min_score) = (negate, min_score)), score.into(), 0.8)
            };
            let before = with(false, Score { verdict, ..Score::new(value) });
            let once = with(true, Score { verdict, ..Score::new(value) });
            let again = with(true, Score { verdict: verdict.map(|verdict| !verdict), ..Score::new(once.value.unwrap()) });
            assert_eq!(again.value, before.value);
            // A verdict that was stated is not compared with a mark until it is negated.
            if min_score.is_none() || verdict.is_none() {
                assert_eq!(again.verdict, before.verdict);
            }
        }
    }

    #[test]
    fn a_value_outside_0_to_1_is_an_error() {
        for value in [f64::NAN, f64::INFINITY, -0.01, 1.01] {
            let record = grader_record(&grader(|_| ()), Score::new(value).into(), 0.8);
            assert_eq!(record.state, GraderState::Error, "{value}");
        }
    }
}
