//! The report of a calibration as text.

use std::fmt;

use evalsuite_records::record::{CalibrationRecord, ReasonCode, SampleRecord};
use evalsuite_schema::decimal::{at_least, shown_against};

use crate::platform::excerpt::{escaped, first_chars};
use crate::run::calibration::calibration_record;

/// Samples shown because of their difference.
const SHOWN: usize = 5;
/// Characters shown of a reason.
const REASON: usize = 300;

/// Agreement of a suite's judges with people, see [`Evals::calibrate`](crate::Evals::calibrate).
///
/// ```
/// use evalsuite::{Evals, RunError, RunOptions};
///
/// # async fn example(evals: Evals) -> Result<(), RunError> {
/// let report = evals.calibrate(&RunOptions::new()).await?;
/// if report.is_measured() && !report.is_trusted() {
///     let kappa = report.record().statistics.map(|statistics| statistics.kappa);
///     eprintln!("the judge does not agree with people: Cohen's κ is {kappa:?}\n{report}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CalibrationReport {
    record: CalibrationRecord,
    repeat: String,
}

impl CalibrationReport {
    pub(crate) fn new(record: CalibrationRecord, repeat: String) -> Self {
        Self { record, repeat }
    }

    /// Everything that was measured.
    pub fn record(&self) -> &CalibrationRecord {
        &self.record
    }

    /// Whether at least half of the samples, and at least two, were judged, and no recorded reply is missing or stale.
    pub fn is_measured(&self) -> bool {
        calibration_record::is_measured(&self.record)
    }

    /// Whether the judges reach the suite's `minimum`; true if the suite has none.
    pub fn is_trusted(&self) -> bool {
        self.record.shortfalls.is_empty()
    }

    /// The first error of a judge that was asked, and did not find out that there is no recording.
    pub(crate) fn failed_call(&self) -> Option<(ReasonCode, &str)> {
        let mut errors = self.record.samples.iter().filter_map(|sample| Some((sample.code?, sample.error.as_deref()?)));
        errors.find(|(code, _)| !calibration_record::is_of_recording(*code))
    }

    /// The measures that miss the `minimum`, on one line.
    pub(crate) fn shortfalls(&self) -> String {
        let shortfalls = self.record.shortfalls.iter().map(|missed| {
            let sign = if missed.measure == "mae" { ">" } else { "<" };
            let shown = |value| shown_against(value, missed.demanded);
            let measured = missed.measured.map_or_else(|| "–".to_owned(), shown);
            format!("{} {measured} {sign} {}", label(&missed.measure), shown(missed.demanded))
        });
        shortfalls.collect::<Vec<_>>().join(", ")
    }

    /// The statistics on one line.
    pub(crate) fn line(&self) -> String {
        let counts = self.record.counts;
        let Some(found) = self.record.statistics else {
            return format!("{} of {} samples judged", counts.valid, counts.samples);
        };
        let mut line = format!(
            "κ {:.2}, Spearman {:.2}, {} of {} samples agree, mean error {:.2}",
            found.kappa, found.spearman, counts.agreements, counts.valid, found.mae
        );
        for (count, what) in [(counts.undecided, "undecided"), (counts.errors, "with an error")] {
            if count > 0 {
                line.push_str(&format!(", {count} {what}"));
            }
        }
        line
    }
}

fn label(measure: &str) -> &str {
    match measure {
        "kappa" => "Cohen's κ",
        "spearman" => "Spearman",
        "pearson" => "Pearson",
        "mae" => "mean absolute error",
        "valid" => "share of samples judged",
        other => other,
    }
}

impl fmt::Display for CalibrationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        let state = match (self.is_measured(), self.is_trusted()) {
            (false, _) if calibration_record::lacks_recordings(record) => "recordings are missing or stale".to_owned(),
            (false, _) => "too few samples were judged".to_owned(),
            (true, true) if record.bar.is_set() => "the judge is good enough".to_owned(),
            (true, true) => "measured; the suite sets no `minimum`".to_owned(),
            (true, false) => self.shortfalls(),
        };
        writeln!(f, "judge calibration ({}): {state}", record.suite)?;
        writeln!(f, "  {}", record.location)?;
        let named = |names: &[String]| if names.is_empty() { "–".to_owned() } else { names.join(", ") };
        let (judges, models) = (named(&record.judges), named(&record.models));
        writeln!(f, "  judge {judges}  model {models}  prompts {:.12}", record.prompt_sha256)?;
        let counts = record.counts;
        write!(f, "  {} of {} samples judged", counts.valid, counts.samples)?;
        writeln!(f, ", {} undecided, {} with an error", counts.undecided, counts.errors)?;
        self.statistics(f)?;
        self.disagreements(f)?;
        self.failures(f)?;
        writeln!(f, "  repeat: {}", self.repeat)
    }
}

impl CalibrationReport {
    fn statistics(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        let Some(found) = record.statistics else { return Ok(()) };
        let agreeing = format!("{} of {} within {}", record.counts.agreements, record.counts.valid, record.tolerance);
        let passing = format!("pass and fail at {}", record.threshold);
        let lines = [
            ("agreement", found.agreement, agreeing.as_str(), "agreement"),
            ("Cohen's κ", found.kappa, passing.as_str(), "kappa"),
            ("Spearman", found.spearman, "", "spearman"),
            ("Pearson", found.pearson, "", "pearson"),
            ("MAE", found.mae, "", "mae"),
            ("bias", found.bias, "judge minus person", ""),
        ];
        for (name, value, remark, measure) in lines {
            let missed = record.shortfalls.iter().find(|missed| missed.measure == measure);
            let demand = missed.map(|missed| match measure {
                "mae" => format!("  above {}", missed.demanded),
                _ => format!("  below {}", missed.demanded),
            });
            let value = missed.map_or_else(|| format!("{value:.2}"), |missed| shown_against(value, missed.demanded));
            let line = format!("    {name:<9}  {value:>5}  {remark}{}", demand.unwrap_or_default());
            writeln!(f, "{}", line.trim_end())?;
        }
        self.one_sided(f)
    }

    /// A note where κ, which compares two classes, has only one.
    fn one_sided(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        let judged = || record.samples.iter().filter(|sample| sample.judge_score.is_some());
        let passing = judged().filter(|sample| at_least(sample.human_score, record.threshold)).count();
        let all = judged().count();
        let side = match passing {
            0 => "fails",
            count if count == all => "passes",
            _ => return Ok(()),
        };
        writeln!(f, "    note: every human score {side}, so κ means little: add answers with other scores")
    }

    fn disagreements(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        let differs = |sample: &&SampleRecord| {
            sample
                .judge_score
                .is_some_and(|judge| !calibration_record::agree(sample.human_score, judge, record.tolerance))
        };
        let found = record.disagreements.iter();
        let worst = found.filter_map(|id| record.samples.iter().find(|sample| sample.id == *id)).filter(differs);
        for (index, sample) in worst.take(SHOWN).enumerate() {
            if index == 0 {
                writeln!(f, "  largest differences")?;
            }
            let judge = sample.judge_score.unwrap_or_default();
            let (person, id) = (sample.human_score, one_line(&sample.id));
            writeln!(f, "    person {person:.2}  judge {judge:.2}  {id}  {}", sample.location)?;
            let said = sample.grader.as_ref().and_then(|grader| {
                let failed = grader.first_failed().map(|assertion| assertion.text.as_str());
                grader.rationale.as_deref().or(failed)
            });
            for (who, why) in [("person", sample.human_rationale.as_deref()), ("judge", said)] {
                if let Some(why) = why.filter(|why| !why.trim().is_empty()) {
                    writeln!(f, "      {who}: {}", one_line(why))?;
                }
            }
        }
        Ok(())
    }

    /// Each error once: an absent judge has the same error for every sample.
    fn failures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown: Vec<&str> = Vec::new();
        for sample in &self.record.samples {
            let Some(error) = sample.error.as_deref() else { continue };
            if shown.len() < SHOWN && !shown.contains(&error) {
                shown.push(error);
                writeln!(f, "  not judged: {}  {}", one_line(&sample.id), sample.location)?;
                let error = escaped(&first_chars(error, 4 * REASON), &['\n', '\t']);
                writeln!(f, "    {}", error.replace('\n', "\n    "))?;
            }
        }
        Ok(())
    }
}

/// A text of others on one line, with control characters escaped.
fn one_line(text: &str) -> String {
    escaped(&first_chars(text.trim(), REASON), &[])
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::{CalibrationStatistics, Shortfall};

    use super::*;

    #[test]
    fn a_value_that_misses_its_limit_looks_like_it() {
        let mut record = CalibrationRecord::default();
        let mut found = CalibrationStatistics::default();
        (found.kappa, found.mae) = (0.5996, 0.2004);
        record.statistics = Some(found);
        record.shortfalls = vec![
            Shortfall::new("kappa", 0.6, Some(found.kappa)),
            Shortfall::new("mae", 0.2, Some(found.mae)),
            Shortfall::new("agreement", 0.875, None),
        ];
        let report = CalibrationReport::new(record, String::new());
        let expected = "Cohen's κ 0.5996 < 0.60, mean absolute error 0.2004 > 0.20, agreement – < 0.875";
        assert_eq!(report.shortfalls(), expected);
        let text = report.to_string();
        assert!(text.contains("Cohen's κ  0.5996  pass and fail at") && text.contains("  below 0.6\n"), "{text}");
    }
}
