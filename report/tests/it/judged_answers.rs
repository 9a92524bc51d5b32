//! Two runs whose answers a judge compared.

use evalsuite_records::record::{AnswerPair, JudgeRecord, PairRecord, PairReply, ReasonCode, Side, Usage};
use evalsuite_report::{CompareOptions, Comparison, ComparisonVerdict, JudgedAnswers, RunData, answer_pairs};
use evalsuite_tests::synthetic_run::SyntheticRun;

/// What a judge replied to the two orders, or why it did not.
type Replies = Result<[Option<Side>; 2], &'static str>;

const WIN: Replies = Ok([Some(Side::Run), Some(Side::Run)]);
const LOSS: Replies = Ok([Some(Side::Base), Some(Side::Base)]);
const TIE: Replies = Ok([None, None]);
/// The answer that is shown first is the better one.
const FIRST: Replies = Ok([Some(Side::Base), Some(Side::Run)]);

/// Two runs of made-up suites with equal scores.
fn runs(output: &tempfile::TempDir, cases: usize) -> [RunData; 2] {
    let run =
        |id: &str| RunData::read(SyntheticRun::new(id, cases, 1).write(output.path())).expect("the run can be read");
    let base = run("run-base");
    let mut next = base.clone();
    next.run_id = "run-next".to_owned();
    [base, next]
}

/// The record of a pair about which a judge replies so.
fn record(pair: &AnswerPair, replies: Replies) -> PairRecord {
    let mut record = PairRecord::new(&pair.suite, &pair.target, &pair.case_id);
    let mut judge = JudgeRecord::default();
    (judge.name, judge.model, judge.attempts) = ("small".to_owned(), Some("small-2".to_owned()), 2);
    (judge.usage, judge.cost_usd) = (Some(Usage::new(500, 20)), Some(0.001));
    record.judge = Some(judge);
    match replies {
        Ok(replies) => {
            record.consistent = replies[0] == replies[1];
            record.better = replies[0].filter(|_| record.consistent);
            record.replies = Side::BOTH
                .into_iter()
                .zip(replies)
                .map(|(first, better)| PairReply::new("small", first, better))
                .collect();
        }
        Err(error) => (record.error, record.code) = (Some(error.to_owned()), Some(ReasonCode::JudgeError)),
    }
    record
}

/// The comparison of one suite, whose cases are judged so, one after the other and again.
fn judged(replies: &[Replies], options: &CompareOptions) -> Comparison {
    let output = tempfile::tempdir().unwrap();
    let [base, run] = runs(&output, 75);
    let asked = answer_pairs(&base, &run, None, options);
    let of_suite = asked.iter().filter(|pair| pair.suite == "refunds" && pair.target == "default");
    let records: Vec<PairRecord> =
        of_suite.zip(replies.iter().cycle()).map(|(pair, replies)| record(pair, *replies)).collect();
    let mut comparison = Comparison::new(&base, &run, options).with_judged_answers(&records, &run, options);
    comparison.suites.retain(|suite| suite.suite == "refunds" && suite.target == "default");
    comparison
}

fn only(comparison: &Comparison) -> &JudgedAnswers {
    comparison.suites[0].judged.as_ref().expect("answers were judged")
}

#[test]
fn better_answers_are_an_improvement_and_worse_ones_a_regression() {
    let comparison = judged(&[WIN, WIN, WIN, WIN, TIE, LOSS], &CompareOptions::new());
    let found = only(&comparison);
    assert_eq!((found.wins, found.losses, found.ties), (15, 3, 3), "{comparison}");
    assert_eq!((found.inconsistent, found.missing, found.calls), (0, 0, 42));
    assert_eq!((found.usage, found.first_rate), (Some(Usage::new(10_500, 420)), Some(0.5)));
    assert!((found.win_rate.unwrap() - 16.5 / 21.0).abs() < 1e-12);
    let (lower, upper) = found.win_interval.unwrap();
    assert!(0.5 < lower && lower < 0.7 && 0.85 < upper && upper < 1.0, "{lower} {upper}");
    assert_eq!(found.verdict, ComparisonVerdict::Improved);
    assert_eq!(comparison.suites[0].verdict, ComparisonVerdict::Same, "the scores are the same");
    let worse = judged(&[LOSS, LOSS, LOSS, LOSS, TIE, WIN], &CompareOptions::new());
    assert_eq!((only(&worse).verdict, worse.verdict()), (ComparisonVerdict::Regressed, ComparisonVerdict::Regressed));
    let equal = judged(&[WIN, LOSS, TIE], &CompareOptions::new());
    assert_eq!((only(&equal).verdict, equal.verdict()), (ComparisonVerdict::Unchanged, ComparisonVerdict::Unchanged));
}

#[test]
fn a_judge_that_prefers_a_position_decides_nothing() {
    let comparison = judged(&[FIRST], &CompareOptions::new());
    let found = only(&comparison);
    assert_eq!((found.wins, found.losses, found.ties, found.inconsistent), (0, 0, 21, 21));
    assert_eq!((found.win_rate, found.first_rate), (Some(0.5), Some(1.0)));
    assert!(found.first_interval.unwrap().0 > 0.8, "{:?}", found.first_interval);
    assert_eq!(comparison.verdict(), ComparisonVerdict::Undecided);
    let text = comparison.to_string();
    assert!(
        text.contains("  position first answer preferred 1.000 [0.845, 1.000]\n  orders   21 cases inconsistent"),
        "{text}"
    );
    assert!(text.contains(": no better than a coin\n"), "{text}");
}

#[test]
fn cases_without_a_judgement_are_named() {
    let broken: Replies = Err("the reply is \u{1b}[2Jhostile\u{202e}\nsecond line");
    let comparison = judged(&[broken], &CompareOptions::new());
    let (text, markdown) = (comparison.to_string(), comparison.markdown());
    for case in &only(&comparison).cases {
        let named = format!("  not judged          {}  the reply is \\u{{1b}}[2Jhostile\\u{{202e}}\n", case.case_id);
        assert!(text.contains(&named), "{text}");
        let id = case.case_id.as_str();
        assert!(markdown.contains(&format!("- not judged: {id} ")), "{markdown}");
    }
    assert!(!text.contains('\u{1b}') && !markdown.contains('\u{1b}'));
    assert_eq!((only(&comparison).missing, only(&comparison).win_rate), (21, None));
    let mostly = judged(&[WIN, WIN, WIN, WIN, Err("it was cut off")], &CompareOptions::new());
    assert_eq!(only(&mostly).verdict, ComparisonVerdict::Undecided, "{mostly}");
}

#[test]
fn cases_that_belong_together_count_as_less() {
    let replies = [WIN, WIN, WIN, WIN, TIE, LOSS];
    let apart = judged(&replies, &CompareOptions::new());
    let mut options = CompareOptions::new();
    options.cluster_by = Some("language".to_owned());
    let together = judged(&replies, &options);
    let width = |comparison: &Comparison| only(comparison).win_interval.map(|(lower, upper)| upper - lower).unwrap();
    assert!(width(&together) > 1.3 * width(&apart), "{together}");
}

#[test]
fn judged_answers_are_shown() {
    let comparison =
        judged(&[WIN, WIN, WIN, WIN, WIN, TIE, FIRST, LOSS, WIN, Err("no *usable* reply")], &CompareOptions::new());
    insta::assert_snapshot!("text", comparison);
    insta::assert_snapshot!("markdown", comparison.markdown());
    let mut json = evalsuite_schema::json::to_value_by_serde(only(&comparison)).unwrap();
    let cases = json["cases"].as_array_mut().unwrap();
    cases.retain(|case| case["better"].is_null());
    cases.truncate(3);
    insta::assert_snapshot!("json", format!("{json:#}"));
}

#[test]
fn a_pair_has_the_answers_of_the_same_case() {
    let output = tempfile::tempdir().unwrap();
    let [mut base, mut run] = runs(&output, 6);
    let case = |run: &RunData| run.suites.iter().flat_map(|suite| &suite.cases).next().unwrap().clone();
    let id = case(&run).record.case_id.clone();
    let edit = |run: &mut RunData, answer: Option<&str>| {
        let case =
            run.suites.iter_mut().flat_map(|suite| &mut suite.cases).find(|case| case.record.case_id == id).unwrap();
        case.trials[0].record.answer = answer.map(str::to_owned);
        case.record.criteria = Some("Is polite".to_owned());
    };
    edit(&mut base, Some("No."));
    edit(&mut run, Some("No, sorry."));
    let find = |base: &RunData, run: &RunData, criteria: Option<&str>| {
        let pairs = answer_pairs(base, run, criteria, &CompareOptions::new());
        pairs.into_iter().find(|pair| pair.case_id == id)
    };
    let pair = find(&base, &run, None).unwrap();
    assert_eq!(pair.answers, [Some("No.".to_owned()), Some("No, sorry.".to_owned())]);
    assert_eq!(pair.criteria, "Is polite");
    assert!(pair.input.contains("blender"), "{}", pair.input);
    assert_eq!(find(&base, &run, Some("Is short")).unwrap().criteria, "Is short");
    edit(&mut run, None);
    assert_eq!(find(&base, &run, None).unwrap().answers[1], None, "its case is not dropped");
    for case in run.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        (case.record.case_digest, case.record.input_digest) = ("other".to_owned(), "other".to_owned());
    }
    assert_eq!(find(&base, &run, None), None, "another case");
}

#[test]
fn two_targets_of_a_run_are_compared() {
    let output = tempfile::tempdir().unwrap();
    let [mut run, _] = runs(&output, 12);
    // Every case for two targets.
    for suite in &mut run.suites {
        let mut others = suite.cases.clone();
        for (case, target) in
            suite.cases.iter_mut().map(|case| (case, "large")).chain(others.iter_mut().map(|case| (case, "tiny")))
        {
            case.record.target = target.to_owned();
            case.trials[0].record.answer = Some(target.to_owned());
        }
        suite.cases.append(&mut others);
    }
    let options = CompareOptions::new().with_targets("large", "tiny");
    let pairs = answer_pairs(&run, &run, None, &options);
    assert_eq!(pairs.len(), 12);
    assert!(pairs.iter().all(|pair| pair.target == "large -> tiny"));
    assert_eq!(pairs[0].answers, [Some("large".to_owned()), Some("tiny".to_owned())]);
    let records: Vec<PairRecord> = pairs.iter().map(|pair| record(pair, WIN)).collect();
    let comparison = Comparison::new(&run, &run, &options).with_judged_answers(&records, &run, &options);
    assert_eq!(comparison.suites.iter().map(|suite| suite.target.as_str()).collect::<Vec<_>>(), ["large -> tiny"; 3]);
    assert_eq!(comparison.suites.iter().map(|suite| suite.judged.as_ref().unwrap().wins).sum::<usize>(), 12);
}
