//! What becomes of baselines when a run is accepted, as data and as text.

mod false_alarms;
mod new_baseline;

use std::path::Path;
use std::{fmt, fs, io};

use evalsuite_records::baseline::Counts;
use evalsuite_records::file_replacement::{error_at, replace_user_text};
use evalsuite_records::package_file::LARGEST_BASELINE;
use evalsuite_records::record::{AcceptedAnswers, Baseline, PassState};
use evalsuite_schema::diagnostics::counted;

use self::Decision::{Added, Kept, LeftOut, Lowered, Raised, Redefined, Removed, Unchanged, Updated};

use crate::run_data::repeated_text;

pub use self::false_alarms::RedBuilds;
pub use self::new_baseline::{Accepted, AcceptedCase, Decision, accept, accept_answers};

/// Writes the baseline of a suite. Readers see the old file or the new one.
///
/// # Errors
///
/// If the file cannot be written; the old one is then unchanged.
pub fn write_baseline(file: &Path, baseline: &Baseline) -> io::Result<()> {
    write(file, &baseline.to_text())
}

/// Writes the accepted answers of a suite. Readers see the old file or the new one.
///
/// # Errors
///
/// If the file cannot be written or would be larger than 256 MiB; the old one is then unchanged.
pub fn write_accepted_answers(file: &Path, answers: &AcceptedAnswers) -> io::Result<()> {
    write(file, &answers.to_text())
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    let written = match text.len() as u64 > LARGEST_BASELINE {
        true => Err(io::Error::other(format!("it has more than {LARGEST_BASELINE} bytes"))),
        false => file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| replace_user_text(file, text)),
    };
    written.map_err(|error| error_at(file, &error))
}

/// Most cases that are listed per decision; those without a new result and lowered ones are all listed, because somebody has to look at them.
const LISTED: usize = 20;

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |decision| self.cases.iter().filter(move |case| case.decision == decision);
        let shown = [Added, Raised, Lowered, Redefined, Removed, Updated, Kept, LeftOut, Unchanged];
        let counts = shown.map(|decision| (of(decision).count(), decision));
        let counts =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, it)| format!("{count} {}", it.as_str()));
        let counts: Vec<String> = counts.collect();
        let counts = if counts.is_empty() { "no cases".to_owned() } else { counts.join(", ") };
        writeln!(f, "{}: {counts}", self.suite)?;
        repeated_text(self.repeated_cases).iter().try_for_each(|text| writeln!(f, "  {text}"))?;
        for decision in shown {
            // Cases whose numbers moved, or that are the same, are in the file.
            let is_listed = |case: &&AcceptedCase| match decision {
                Updated => becomes_flaky(case),
                Unchanged => false,
                _ => true,
            };
            let most = if matches!(decision, Kept | LeftOut | Lowered) { usize::MAX } else { LISTED };
            for case in of(decision).filter(is_listed).take(most) {
                writeln!(f, "  {:<9}  {}", decision.as_str(), line(case))?;
            }
            if let Some(more @ 1..) = of(decision).filter(is_listed).count().checked_sub(most) {
                writeln!(f, "  {:<9}  and {more} more", decision.as_str())?;
            }
        }
        let earlier: Vec<_> = of(Unchanged).filter_map(|case| case.why_kept.as_ref()).collect();
        if let Some(why) = earlier.first() {
            let cases = counted(earlier.len(), "case");
            let added = "the baseline does not record what this one had added, so its results could count twice";
            writeln!(
                f,
                "  unchanged  {cases}: {why}; {added}: `--force CASE` replaces all results of a case with them"
            )?;
        }
        Ok(())
    }
}

/// `an unchanged agent fails about 31% of runs (22 to 43%); with 3 trials per case, 5% or less`.
impl fmt::Display for RedBuilds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { share, range, trials_needed, every, by_mean, untold, passing } = self;
        let [low, high] = range.map(|end| (100.0 * end).round());
        match (100.0 * share).round() {
            0.0 => f.write_str("an unchanged agent fails less than 1% of runs")?,
            percent => write!(f, "an unchanged agent fails about {percent:.0}% of runs")?,
        }
        match (low, high) {
            (_, 0.0) => {}
            (0.0, high) => write!(f, " (at most {high:.0}%)")?,
            (low, high) if low == high => {}
            (low, high) => write!(f, " ({low:.0} to {high:.0}%)")?,
        }
        if *share <= Self::SMALL {
            return match untold {
                0 => Ok(()),
                _ => write!(
                    f,
                    "; of {untold} of {passing} passing cases, a failure cannot be told from chance yet: accept more runs, or run more trials"
                ),
            };
        }
        match trials_needed {
            Some(trials) => write!(f, "; with {trials} trials per case, 5% or less"),
            None if *every => {
                f.write_str("; every trial has to pass: `kind: capability` repeats a case before it fails")
            }
            None if *by_mean => f.write_str("; the mean of more trials per case varies less"),
            None => {
                f.write_str("; more than 20 trials per case would be needed for 5%: see the flaky cases in `cargo evalsuite health`")
            }
        }
    }
}

/// Whether all accepted trials passed before, and not all do now.
fn becomes_flaky(case: &AcceptedCase) -> bool {
    let state = |(passed, trials): Counts| PassState::of(passed, trials);
    case.before.map(state) == Some(PassState::Passes) && case.after.map(state) != Some(PassState::Passes)
}

/// `refund @ small  3/3, now 0/1, together 3/4`.
fn line(case: &AcceptedCase) -> String {
    let rate = |(passed, trials): Counts| format!("{passed}/{trials}");
    let numbers = match (case.before, case.run) {
        (Some(before), Some(run)) => {
            let together = case.after.filter(|after| *after != before && *after != run);
            let together = together.map(|after| format!(", together {}", rate(after)));
            format!("  {}, now {}{}", rate(before), rate(run), together.unwrap_or_default())
        }
        (Some(one), None) | (None, Some(one)) => format!("  {}", rate(one)),
        (None, None) => String::new(),
    };
    let why = case.why_kept.as_ref().map(|why| format!("  ({why})"));
    format!("{} @ {}{numbers}{}", case.case, case.target, why.unwrap_or_default())
}
