//! The results of a suite as people read them on a terminal, and how often judges let answers pass, and people would.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evalsuite_records::record::{
    CalibrationRecord, CaseRecord, GraderRecord, PassRate, SampleRecord, Stability, SuiteSummary, TargetSummary,
    UnknownParts,
};
use evalsuite_records::summary::{SummaryText, TextTable, lower_bound};
use evalsuite_schema::decimal::at_least;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::json::written_by_serde;
use evalsuite_statistics::{corrected_rate, mean, wilson_interval};
use serde::Serialize;

use crate::run_data::{CaseData, RunData, SuiteData};

/// Largest number of cases in a list.
const LISTED: usize = 5;
/// Largest number of values of a key that are shown.
const VALUES: usize = 8;

/// The results of a suite: what [`SummaryText`] has, then the most expensive and the least stable cases, pass rates by bucket, tag and metadata,
/// and how well its judges agree with people. `cargo evalsuite report` and `cargo evalsuite run` show it. Tables are at most
/// [`TextTable::USUAL_WIDTH`] columns wide.
#[derive(Debug, Clone, Copy)]
pub struct SuiteText<'a> {
    summary: &'a SuiteSummary,
    data: Option<&'a SuiteData>,
    width: usize,
}

impl<'a> SuiteText<'a> {
    /// The text of the summary of a suite of this run. The run need not have its trials.
    pub fn new(summary: &'a SuiteSummary, run: &'a RunData) -> Self {
        let data = run.suites.iter().find(|suite| suite.name == summary.suite);
        Self { summary, data, width: TextTable::USUAL_WIDTH }
    }

    /// The same text with tables of at most so many columns.
    #[must_use]
    pub fn with_width(mut self, columns: usize) -> Self {
        self.width = columns;
        self
    }
}

impl fmt::Display for SuiteText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { summary, data, width } = *self;
        write!(f, "{}", SummaryText::new(summary).with_width(width))?;
        most_expensive(&summary.cases).write(width, f)?;
        least_stable(&summary.cases).write(width, f)?;
        rates(&summary.targets, "bucket", |target| Some(&target.bucket), width, f)?;
        rates(&summary.targets, "tag", |target| Some(&target.tag), width, f)?;
        let keys: BTreeMap<&str, ()> =
            summary.targets.iter().flat_map(|target| target.metadata.keys().map(|key| (key.as_str(), ()))).collect();
        // The bucket is such a key.
        for key in keys.into_keys().filter(|key| *key != "failure_bucket") {
            rates(&summary.targets, &format!("metadata.{key}"), |target| target.metadata.get(key), width, f)?;
        }
        judges(data).write(width, f)
    }
}

/// The cases that cost most, if there are several to compare.
fn most_expensive(cases: &[CaseRecord]) -> TextTable {
    let mut costly: Vec<_> = cases.iter().map(|case| (case.costs(), case)).collect();
    let total = |costs: [Option<f64>; 3]| costs.into_iter().flatten().sum::<f64>();
    costly.retain(|(costs, _)| total(*costs) > 0.0);
    costly.sort_by(|(one, _), (other, _)| total(*other).total_cmp(&total(*one)));
    let mut table = TextTable::new(&["most expensive", "USD", "judge USD", "user USD"]);
    if costly.len() > 1 {
        for (costs, case) in costly.into_iter().take(LISTED) {
            let unknown = UnknownParts::counts(&case.unknown_costs());
            let dollars = |who: usize| Some(lower_bound(unknown[who] > 0, &format!("{:.4}", costs[who]?)));
            let [agent, judge, user] = [0, 1, 2].map(dollars);
            table.add(vec![Some(case.test_name.clone()), agent, judge, user]);
        }
    }
    table
}

/// The cases of which some trials passed and some failed, those first of which about half did.
fn least_stable(cases: &[CaseRecord]) -> TextTable {
    let mut flaky: Vec<&CaseRecord> = cases.iter().filter(|case| case.stability == Some(Stability::Flaky)).collect();
    flaky.sort_by_key(|case| Reverse(1000 * case.passed.min(case.completed - case.passed) / case.completed.max(1)));
    let mut table = TextTable::new(&["least stable", "passed"]);
    for case in flaky.into_iter().take(LISTED) {
        table.add(vec![Some(case.test_name.clone()), Some(format!("{}/{}", case.passed, case.completed))]);
    }
    table
}

/// Pass rates of cases by a key, for each target, the lowest first. Nothing is shown of a key that has a value of its own for most
/// cases, or the same for all.
fn rates<'t>(
    targets: &'t [TargetSummary],
    key: &str,
    of: impl Fn(&'t TargetSummary) -> Option<&'t BTreeMap<String, PassRate>>,
    width: usize,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for target in targets {
        let Some(rates) = of(target) else { continue };
        let cases = target.cases.run() as usize;
        let mut rates: Vec<(&String, &PassRate)> = rates.iter().filter(|(_, rate)| rate.cases > 0).collect();
        let is_same = rates.len() == 1 && rates.iter().all(|(_, rate)| rate.cases as usize == cases);
        if is_same || 2 * rates.len() > cases {
            continue;
        }
        rates.sort_by(|(_, one), (_, other)| one.rate.unwrap_or(1.0).total_cmp(&other.rate.unwrap_or(1.0)));
        let name = if targets.len() > 1 { format!("{key} @ {}", target.target) } else { key.to_owned() };
        let mut table = TextTable::new(&[&name, "passed", "rate", "95 % interval"]);
        let more = rates.len().saturating_sub(VALUES);
        for (value, rate) in rates.into_iter().take(VALUES) {
            table.add(vec![
                Some(value.clone()),
                Some(format!("{}/{}", rate.passed, rate.cases)),
                rate.rate.map(|rate| format!("{rate:.2}")),
                wilson_interval(rate.passed, rate.cases).map(|(lower, upper)| format!("{lower:.2} to {upper:.2}")),
            ]);
        }
        table.write(width, f)?;
        if more > 0 {
            writeln!(f, "  and {more} more")?;
        }
    }
    Ok(())
}

/// The calibration of the suite's judges.
fn judges(data: Option<&SuiteData>) -> TextTable {
    let mut table = TextTable::new(&["judges", "κ", "agreement", "rated answers", "USD", "required"]);
    if let Some(calibration) = data.and_then(|data| data.calibration.as_ref()) {
        let statistics = calibration.statistics;
        let number = |value: f64| format!("{value:.2}");
        let missed = calibration.shortfalls.iter().map(|it| format!("{} {}", it.measure, it.demanded));
        let missed = missed.collect::<Vec<_>>().join(", ");
        table.add(vec![
            Some(calibration.judges.join(", ")),
            statistics.map(|it| number(it.kappa)),
            statistics.map(|it| number(it.agreement)),
            Some(format!("{}/{}", calibration.counts.valid, calibration.counts.samples)),
            calibration.cost_usd.map(|cost| lower_bound(calibration.is_cost_partial(), &format!("{cost:.4}"))),
            (!missed.is_empty()).then_some(missed),
        ]);
    }
    table
}

/// How often a judge lets answers pass for a grader, beside the rate corrected by its calibration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgedRate {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// Name of the grader.
    pub grader: String,
    /// Name of the judge.
    pub judge: String,
    /// Number of cases in which it decided.
    pub cases: usize,
    /// Mean over these cases of the share of trials that it lets pass, 0 to 1.
    pub judge_rate: f64,
    /// Number of rated answers to the same grader, which the judge has rated, too.
    pub samples: usize,
    /// The rate that people would find, see [`corrected_rate`], 0 to 1.
    pub corrected_rate: f64,
    /// Lower end of its 95 % interval.
    pub lower: f64,
    /// Upper end of its 95 % interval.
    pub upper: f64,
}

written_by_serde!(JudgedRate);

/// The rates of a run's judged graders, by suite, target and name, as far as the run has a calibration of the same judge with at least
/// two answers to the same grader.
pub fn judged_rates(run: &RunData) -> Vec<JudgedRate> {
    let run = &*run.measured();
    let mut rates = Vec::new();
    for suite in &run.suites {
        let Some(calibration) = &suite.calibration else { continue };
        for (target, cases) in suite.by_target() {
            let graders =
                cases.iter().flat_map(|case| judged(case)).map(|(grader, judge)| (grader.name.as_str(), judge));
            let is_calibrated = |judge: &str| calibration.judges.iter().any(|it| it == judge);
            let graders: BTreeSet<(&str, &str)> = graders.filter(|(_, judge)| is_calibrated(judge)).collect();
            for (grader, judge) in graders {
                let of_cases: Vec<f64> = cases.iter().filter_map(|case| share_passed(case, grader, judge)).collect();
                let rated = rated(calibration, grader);
                let Some(corrected) = corrected_rate(&of_cases, &rated) else { continue };
                rates.push(JudgedRate {
                    suite: suite.name.clone(),
                    target: target.to_owned(),
                    grader: grader.to_owned(),
                    judge: judge.to_owned(),
                    cases: of_cases.len(),
                    judge_rate: mean(&of_cases),
                    samples: rated.len(),
                    corrected_rate: corrected.rate,
                    lower: corrected.lower,
                    upper: corrected.upper,
                });
            }
        }
    }
    rates
}

/// The results of a case's judged graders that can be compared with people, each with its judge. An inverted one says the opposite.
fn judged(case: &CaseData) -> impl Iterator<Item = (&GraderRecord, &str)> {
    let graders = case.trials.iter().flat_map(|trial| trial.record.all_graders()).filter(|grader| !grader.negated);
    graders.filter_map(|grader| Some((grader, grader.judge.as_ref()?.name.as_str())))
}

/// Share of the trials of a case that a judge lets pass; `None` if it never decided.
fn share_passed(case: &CaseData, grader: &str, judge: &str) -> Option<f64> {
    let of_grader = judged(case).filter(|(record, name)| record.name == grader && *name == judge);
    let passed: Vec<f64> =
        of_grader.filter_map(|(record, _)| Some(f64::from(u8::from(record.verdict?.is_pass())))).collect();
    (!passed.is_empty()).then(|| mean(&passed))
}

/// Whether person and judge let each rated answer to a grader pass, as 0 or 1.
fn rated(calibration: &CalibrationRecord, grader: &str) -> Vec<(f64, f64)> {
    let pair = |sample: &SampleRecord| {
        let record = sample.grader.as_ref().filter(|record| record.name == grader && !record.negated)?;
        let mark = record.pass_mark.unwrap_or(calibration.threshold);
        let passes = |score: f64| f64::from(u8::from(at_least(score, mark)));
        Some((passes(sample.human_score), passes(sample.judge_score?)))
    };
    calibration.samples.iter().filter_map(pair).collect()
}

/// `shop @ default: tone  judge 0.90 over 20 cases, corrected 0.78 [0.61, 0.95] with 30 rated answers`.
impl fmt::Display for JudgedRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, target, grader, cases, judge_rate, samples, corrected_rate, lower, upper, .. } = self;
        write!(f, "{suite} @ {target}: {grader}  judge {judge_rate:.2} over {}, ", counted(*cases, "case"))?;
        write!(f, "corrected {corrected_rate:.2} [{lower:.2}, {upper:.2}] with {samples} rated answers")
    }
}

/// Most entries that [`first_of`] shows.
const SHOWN: usize = 10;

/// The first ten entries of a list for one line, and `…` if there are more.
pub fn first_of(entries: &[String]) -> String {
    let more = if entries.len() > SHOWN { ", …" } else { "" };
    entries[..entries.len().min(SHOWN)].join(", ") + more
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::{
        CalibrationRecord, CalibrationStatistics, GraderRecord, JudgeRecord, SampleRecord, Shortfall, TrialSummary,
    };

    use super::*;

    fn case(name: &str, passed: u32, completed: u32, cost: [Option<f64>; 2]) -> CaseRecord {
        let mut case = CaseRecord::new();
        (case.test_name, case.passed, case.completed) = (name.to_owned(), passed, completed);
        case.stability = (passed > 0 && passed < completed).then_some(Stability::Flaky);
        let mut trial = TrialSummary::default();
        [trial.cost_usd, trial.judge_cost_usd] = cost;
        case.trials = vec![trial];
        case
    }

    fn rates_of(values: &[(&str, u32, u32)]) -> BTreeMap<String, PassRate> {
        let rate = |passed: u32, cases: u32| {
            let mut rate = PassRate::default();
            (rate.rate, rate.passed, rate.cases) = (Some(f64::from(passed) / f64::from(cases)), passed, cases);
            rate
        };
        values.iter().map(|(name, passed, cases)| ((*name).to_owned(), rate(*passed, *cases))).collect()
    }

    #[test]
    fn what_costs_what_varies_where_it_fails_and_who_judges() {
        let mut target = TargetSummary::default();
        target.cases.passed = 20;
        target.bucket = rates_of(&[("dates", 8, 8), ("money", 9, 12)]);
        target.tag = rates_of(&[("all", 17, 20)]);
        target.metadata.insert("failure_bucket".to_owned(), target.bucket.clone());
        let own: Vec<String> = (0..15).map(|number| format!("order-{number}")).collect();
        let own: Vec<(&str, u32, u32)> = own.iter().map(|name| (name.as_str(), 1, 1)).collect();
        target.metadata.insert("order".to_owned(), rates_of(&own));
        let mut summary = SuiteSummary::new();
        (summary.suite, summary.targets) = ("shop".to_owned(), vec![target]);
        summary.cases = vec![
            case("shop::cheap", 3, 3, [Some(0.01), None]),
            case("shop::dear", 4, 5, [Some(0.02), Some(0.1)]),
            case("shop::free", 2, 4, [None, None]),
        ];
        let mut calibration = CalibrationRecord::new();
        (calibration.judges, calibration.cost_usd) = (vec!["strict".to_owned()], Some(0.5));
        (calibration.counts.valid, calibration.counts.samples) = (9, 10);
        let mut statistics = CalibrationStatistics::default();
        (statistics.kappa, statistics.agreement) = (0.41, 0.8);
        calibration.statistics = Some(statistics);
        calibration.shortfalls = vec![Shortfall::new("kappa", 0.6, Some(0.41))];
        let mut suite = SuiteData { name: "shop".to_owned(), ..SuiteData::default() };
        suite.calibration = Some(calibration);
        let run = RunData { suites: vec![suite], ..RunData::default() };
        let text = SuiteText::new(&summary, &run).to_string();
        let (_, own) = text.split_once("  most expensive").expect("what the summary does not have");
        let expected = "     USD  judge USD
  shop::dear      0.0200     0.1000
  shop::cheap     0.0100          –
  least stable  passed
  shop::free       2/4
  shop::dear       4/5
  bucket  passed  rate  95 % interval
  money     9/12  0.75   0.47 to 0.91
  dates      8/8  1.00   0.68 to 1.00
  judges     κ  agreement  rated answers     USD   required
  strict  0.41       0.80           9/10  0.5000  kappa 0.6
";
        assert_eq!(own, expected);
    }

    #[test]
    fn what_is_known_in_part_is_a_lower_bound() {
        let asked = |cost_usd| {
            let (mut sample, mut grader) = (SampleRecord::default(), GraderRecord::default());
            let mut judge = JudgeRecord::default();
            judge.cost_usd = cost_usd;
            grader.judge = Some(judge);
            sample.grader = Some(grader);
            sample
        };
        let mut calibration = CalibrationRecord::new();
        (calibration.cost_usd, calibration.samples) = (Some(0.5), vec![asked(Some(0.5)), asked(None)]);
        let suite = SuiteData { calibration: Some(calibration), ..SuiteData::default() };
        let mut judged = case("shop::dear", 4, 5, [Some(0.02), Some(0.1)]);
        let mut uncounted = TrialSummary::default();
        uncounted.unknown_costs.judges = true;
        judged.trials.push(uncounted);
        let cases = [judged, case("shop::cheap", 3, 3, [Some(0.01), None])];
        let mut text = String::new();
        most_expensive(&cases).write(120, &mut text).unwrap();
        judges(Some(&suite)).write(120, &mut text).unwrap();
        for bound in ["≥ 0.0200   ≥ 0.1000", "≥ 0.5000"] {
            assert!(text.contains(bound), "{bound}: {text}");
        }
    }

    #[test]
    fn of_a_long_list_ten_entries_are_shown() {
        let entries: Vec<String> = (1..=11).map(|number| number.to_string()).collect();
        assert_eq!(first_of(&entries[..2]), "1, 2");
        assert_eq!(first_of(&entries[..10]), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10");
        assert_eq!(first_of(&entries), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …");
        assert_eq!(first_of(&[]), "");
    }
}
