//! The health of suites over several runs: cases that say nothing any more, cases and graders that are broken, judges that have drifted.

mod cases;

use std::path::Path;
use std::{fmt, io, iter};

use evalsuite_records::record::{Mode, ProbeRates, ProbeRecord, SuiteId};
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_records::summary::TextTable;
use evalsuite_schema::diagnostics::{Code, counted};
use evalsuite_statistics::shown_p;
use serde::Serialize;

use self::cases::Observed;
use crate::run_data::{CaseData, RunData, SuiteData, repeated_text};

/// Limits of the findings.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HealthOptions {
    /// Lowest share of trials of a run that pass in a mature case, 0 to 1.
    pub mature: f64,
    /// Number of runs in a row in which a case is mature that make it a candidate for a regression suite.
    pub graduation_runs: usize,
    /// Highest share of trials that pass in a broken case, 0 to 1.
    pub broken: f64,
    /// Fewest trials after which a case is called broken.
    pub broken_trials: u32,
    /// Lowest share of mature cases in a saturated suite, 0 to 1.
    pub saturated: f64,
}

impl Default for HealthOptions {
    fn default() -> Self {
        Self { mature: 0.95, graduation_runs: 5, broken: 0.0, broken_trials: 10, saturated: 0.9 }
    }
}

/// The health of suites over some runs, the window.
///
/// A run counts for a case if at least one of its trials passed or failed there, and if input and graders of the case are those of the
/// newest such run. Results that a run has taken over from another one do not count again, and neither do replays and trials that were graded
/// again; of the latter, only what their judges say counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Health {
    /// [`Health::SCHEMA`].
    pub schema: &'static str,
    /// The runs, the newest first.
    pub window: Vec<WindowRun>,
    /// Number of cases that the test runner repeated, in all runs: of each, the first attempt with a result counts.
    pub repeated_cases: usize,
    /// The suites, by name and target.
    pub suites: Vec<SuiteHealth>,
    /// Graders that decided in no trial of the window, by suite and name.
    pub undecided_graders: Vec<UndecidedGrader>,
    /// All judges that were asked, by suite and name.
    pub judges: Vec<JudgeHealth>,
    /// What was found by `cargo evalsuite probe`, by suite.
    pub probes: Vec<ProbedSuite>,
}

/// A run of the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WindowRun {
    /// Its id.
    pub run: String,
    /// When it started, RFC 3339; `None` if its `run.json` is missing or torn.
    pub started_at: Option<String>,
}

/// The health of a suite's cases with one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteHealth {
    /// Name of the suite.
    pub suite: String,
    /// Name of the target.
    pub target: String,
    /// Number of cases with results.
    pub cases: usize,
    /// Number of other cases that ran: none of their trials passed or failed.
    pub without_result: usize,
    /// Number of cases that are mature in the newest run with a result of theirs.
    pub mature: usize,
    /// Whether so many cases are mature that the suite no longer tells good agents from better ones.
    pub is_saturated: bool,
    /// Numbers of cases by the share of their trials that passed: in [0, 0.2), [0.2, 0.4), [0.4, 0.6), [0.6, 0.8), [0.8, 0.95) and
    /// [0.95, 1].
    pub histogram: [usize; 6],
    /// Cases that are mature in enough runs in a row, for a regression suite; none in such a suite.
    pub graduates: Vec<CaseHealth>,
    /// Cases that practically never pass: suspect the case or its graders first.
    pub broken: Vec<CaseHealth>,
    /// Cases of which some trials passed and some failed in runs of one commit.
    pub flaky: Vec<CaseHealth>,
    /// Cases that were skipped in every run of the window that has them: they say nothing.
    pub skipped: Vec<SkippedCase>,
}

/// A case that was skipped in every run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkippedCase {
    /// Id of the case.
    pub case: String,
    /// Number of runs.
    pub runs: usize,
    /// Why it was skipped in the newest one.
    pub reason: String,
}

/// What was found about a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CaseHealth {
    /// Id of the case.
    pub case: String,
    /// Trials that passed.
    pub passed: u32,
    /// Trials that passed or failed.
    pub trials: u32,
    /// Number of runs that these trials are of; of a graduate, the length of its series.
    pub runs: usize,
    /// Of a flaky case, the commit that these runs are of; `None` where it is not known, or files differed from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A grader that decided in no trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UndecidedGrader {
    /// Name of the suite.
    pub suite: String,
    /// Name of the grader; of a member of a composite, after the composite's and `/`.
    pub grader: String,
    /// Trials in which it did not decide.
    pub undecided: usize,
    /// Trials in which it failed.
    pub errors: usize,
}

/// How steady a judge is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgeHealth {
    /// Name of the suite.
    pub suite: String,
    /// Name of the judge.
    pub judge: String,
    /// The models that it reported, the newest first.
    pub models: Vec<String>,
    /// Number of prompts that it got, letter by letter, in more than one run.
    pub prompts: usize,
    /// Mean over these prompts of the newest value minus the oldest one, -1 to 1.
    pub difference: f64,
    /// Two-sided p-value of that difference (sign-flip permutation).
    pub p_value: f64,
    /// Cohen's κ in the oldest and the newest calibration of the window with the same samples.
    pub kappa: Option<(f64, f64)>,
    /// One-sided p-value of as many fewer samples that it judges as people do in the newest of these calibrations (sign test), 0 to 1.
    pub kappa_p_value: Option<f64>,
    /// The smaller one of the two p-values, adjusted for the number of all that are computed for these judges (Holm); 1 where too little
    /// differs.
    pub adjusted_p: f64,
    /// Whether its model has changed, or its values have moved in one direction or its agreement with people has fallen: `adjusted_p` is
    /// at most 0.05.
    pub is_drifting: bool,
}

/// A suite that was probed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProbedSuite {
    /// Name of the suite.
    pub suite: String,
    /// Between which pass rates it says something.
    pub rates: ProbeRates,
    /// Graders that no made-up result and no recorded trial fails.
    pub vacuous: Vec<GraderFinding>,
    /// Graders that neither the reference nor a recorded trial passes.
    pub impossible: Vec<GraderFinding>,
}

/// What a probe found about a grader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraderFinding {
    /// Where the grader is: `file:line:column`.
    pub location: String,
    /// What is wrong with it.
    pub message: String,
}

impl Health {
    /// Value of `schema` in files of this version.
    pub const SCHEMA: &'static str = "evalsuite.health/1";

    /// The health over runs with their trials, the newest first. Of each run, only what is needed is kept.
    pub fn of(runs: impl IntoIterator<Item = RunData>, options: &HealthOptions) -> Self {
        let mut observed = Observed::default();
        let mut window = Vec::new();
        let mut repeated_cases = 0;
        for run in runs {
            let run = run.into_measured().with_suite_names(&observed.suite_names());
            repeated_cases += run.repeated_cases();
            observed.add(&run);
            let started_at = run.record.map(|record| record.started_at);
            window.push(WindowRun { run: run.run_id, started_at });
        }
        let mut health = Self {
            schema: Self::SCHEMA,
            window,
            repeated_cases,
            suites: Vec::new(),
            undecided_graders: Vec::new(),
            judges: Vec::new(),
            probes: Vec::new(),
        };
        observed.add_findings(options, &mut health);
        health
    }

    /// The health of suites that are called so, see [`SuiteId::is_called`](evalsuite_records::record::SuiteId::is_called), or of all if none is named, over the newest `count` runs of an output directory with results of theirs.
    ///
    /// # Errors
    ///
    /// If a run cannot be read. Records that are missing or torn are left out.
    pub fn of_output(output: &Path, suites: &[String], count: usize, options: &HealthOptions) -> io::Result<Self> {
        let is_meant = |suite: &SuiteData| suites.is_empty() || suites.iter().any(|text| suite.id.is_called(text));
        Self::over(output, &[], is_meant, count, options)
    }

    /// The health of suites that are called so, over the newest `count` runs of an output directory with results of theirs.
    ///
    /// # Errors
    ///
    /// Those of [`of_output`](Self::of_output).
    pub fn of_suites(
        output: &Path,
        suites: &[(SuiteId, String)],
        count: usize,
        options: &HealthOptions,
    ) -> io::Result<Self> {
        let is_meant = |suite: &SuiteData| suites.iter().any(|(_, name)| *name == suite.name);
        Self::over(output, suites, is_meant, count, options)
    }

    /// The same with what the probes of its suites say. Probes of other suites are left out.
    #[must_use]
    pub fn with_probes(mut self, probes: &[ProbeRecord]) -> Self {
        let is_known = |probe: &&ProbeRecord| self.suites.iter().any(|suite| suite.suite == probe.suite.name);
        self.probes = probes.iter().filter(is_known).map(probed).collect();
        self
    }

    fn over(
        output: &Path,
        names: &[(SuiteId, String)],
        is_meant: impl Fn(&SuiteData) -> bool,
        count: usize,
        options: &HealthOptions,
    ) -> io::Result<Self> {
        let mut error = None;
        let runs = OutputDirectory::new(output).runs_newest_first()?.into_iter().map_while(|stored| {
            let read = RunData::read(stored.path()).map_err(|problem| error = Some(problem));
            read.ok().map(|run| run.into_measured().with_suite_names(names))
        });
        let of_suites = runs.filter_map(|mut run| {
            run.suites.retain(&is_meant);
            let mut cases = run.suites.iter().flat_map(|suite| &suite.cases);
            // Torn records of trials say nothing about the mode.
            let is_replay = |case: &CaseData| {
                !case.trials.is_empty() && case.trials.iter().all(|trial| trial.record.mode == Mode::Replay)
            };
            cases.any(|case| case.record.completed > 0 && !is_replay(case)).then_some(run)
        });
        let health = Self::of(window(of_suites, count), options);
        error.map_or(Ok(health), Err)
    }
}

/// The runs, newest first, up to this number of runs in which the agent was called. The others count for judges only. No run is read after
/// the last one.
fn window(mut runs: impl Iterator<Item = RunData>, count: usize) -> impl Iterator<Item = RunData> {
    let mut counted = 0;
    iter::from_fn(move || {
        let run = if counted < count { runs.next() } else { None }?;
        counted += usize::from(cases::has_called_agent(&run));
        Some(run)
    })
}

fn probed(probe: &ProbeRecord) -> ProbedSuite {
    let findings = |code: Code| {
        let found = probe.findings().filter(|finding| finding.code == code);
        let finding = found.map(|finding| GraderFinding {
            location: finding.place.as_ref().map(ToString::to_string).unwrap_or_default(),
            message: finding.message.clone(),
        });
        finding.collect()
    };
    ProbedSuite {
        suite: probe.suite.name.clone(),
        rates: ProbeRates::of(probe).unwrap_or_default(),
        vacuous: findings(Code::VacuousGrader),
        impossible: findings(Code::ImpossibleGrader),
    }
}

/// Most cases of one kind that are listed.
const LISTED: usize = 20;

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |index: usize| self.window[index].started_at.as_deref().unwrap_or("an unknown time");
        match self.window.as_slice() {
            [] => return writeln!(f, "no runs"),
            [only] => writeln!(f, "1 run: {} ({})", only.run, time(0))?,
            [newest, .., oldest] => {
                let last = self.window.len() - 1;
                let count = self.window.len();
                writeln!(f, "{count} runs: {} ({}) to {} ({})", oldest.run, time(last), newest.run, time(0))?;
            }
        }
        repeated_text(self.repeated_cases).iter().try_for_each(|text| writeln!(f, "{text}"))?;
        self.suites.iter().try_for_each(|suite| write!(f, "\n{suite}"))?;
        if !self.undecided_graders.is_empty() {
            writeln!(f, "\ngraders that decided no trial")?;
        }
        self.undecided_graders.iter().try_for_each(|grader| writeln!(f, "  {grader}"))?;
        self.probes.iter().try_for_each(|probe| write!(f, "{probe}"))?;
        let mut drifting = self.judges.iter().filter(|judge| judge.is_drifting).peekable();
        if drifting.peek().is_some() {
            writeln!(f, "\njudges that have drifted")?;
        }
        drifting.try_for_each(|judge| writeln!(f, "  {judge}"))
    }
}

impl fmt::Display for SuiteHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @ {}: {} of {} cases mature", self.suite, self.target, self.mature, self.cases)?;
        if self.without_result > 0 {
            write!(f, ", {} more without a result", self.without_result)?;
        }
        writeln!(f, "{}", if self.is_saturated { ", saturated: add harder cases" } else { "" })?;
        let mut histogram = TextTable::new(&["pass rate of trials", "<20%", "<40%", "<60%", "<80%", "<95%", "≤100%"]);
        let counts = self.histogram.iter().map(ToString::to_string);
        histogram.add(iter::once("cases".to_owned()).chain(counts).map(Some).collect());
        histogram.write(TextTable::USUAL_WIDTH, f)?;
        cases(f, "ready for a regression suite", &self.graduates)?;
        cases(f, "broken cases or graders", &self.broken)?;
        cases(f, "flaky on one commit", &self.flaky)?;
        skipped(f, &self.skipped)
    }
}

fn skipped(f: &mut fmt::Formatter<'_>, cases: &[SkippedCase]) -> fmt::Result {
    let mut table = TextTable::new(&["skipped in every run", "runs", "reason"]);
    for SkippedCase { case, runs, reason } in cases.iter().take(LISTED) {
        table.add(vec![Some(case.clone()), Some(runs.to_string()), Some(reason.clone())]);
    }
    table.write(TextTable::USUAL_WIDTH, f)?;
    more(f, cases.len())
}

fn cases(f: &mut fmt::Formatter<'_>, kind: &str, cases: &[CaseHealth]) -> fmt::Result {
    let mut table = TextTable::new(&[kind, "passed", "runs", "commit"]);
    for CaseHealth { case, passed, trials, runs, commit } in cases.iter().take(LISTED) {
        let commit = commit.as_ref().map(|commit| commit.chars().take(10).collect());
        table.add(vec![Some(case.clone()), Some(format!("{passed}/{trials}")), Some(runs.to_string()), commit]);
    }
    table.write(TextTable::USUAL_WIDTH, f)?;
    more(f, cases.len())
}

/// How many of so many are not listed.
fn more(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    match count.checked_sub(LISTED) {
        Some(more @ 1..) => writeln!(f, "  and {more} more"),
        _ => Ok(()),
    }
}

/// What a probe says, if it says anything.
impl fmt::Display for ProbedSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = self.rates.to_string();
        if !rates.is_empty() {
            writeln!(f, "\n{}: {rates}", self.suite)?;
        }
        for (kind, findings) in
            [("graders that nothing fails", &self.vacuous), ("graders that nothing passes", &self.impossible)]
        {
            if !findings.is_empty() {
                writeln!(f, "\n{kind}")?;
            }
            for GraderFinding { location, message } in findings.iter().take(LISTED) {
                writeln!(f, "  {location}: {message}")?;
            }
            more(f, findings.len())?;
        }
        Ok(())
    }
}

/// `shop: tone  12 undecided, 3 errors`.
impl fmt::Display for UndecidedGrader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = counted(self.errors, "error");
        write!(f, "{}: {}  {} undecided, {errors}", self.suite, self.grader, self.undecided)
    }
}

impl fmt::Display for JudgeHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.suite, self.judge)?;
        if self.models.len() > 1 {
            let mut models: Vec<&str> = self.models.iter().map(String::as_str).collect();
            models.reverse();
            write!(f, "  model {}", models.join(" -> "))?;
        }
        if self.prompts > 0 {
            let prompts = counted(self.prompts, "equal prompt");
            write!(f, "  {:+.3} on {prompts}, p {}", self.difference, shown_p(self.p_value))?;
        }
        let kappa = self.kappa.zip(self.kappa_p_value);
        kappa.map_or(Ok(()), |((oldest, newest), p)| write!(f, "  κ {oldest:.2} -> {newest:.2}, p {}", shown_p(p)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use evalsuite_records::record::{CaseRecord, TrialRecord};
    use evalsuite_records::run_directory::CaseDirectoryName;

    use super::*;
    use crate::run_data::TrialData;

    #[test]
    fn runs_that_were_graded_again_use_up_no_window() {
        let run = |mode: Mode| {
            let mut record = TrialRecord::new();
            record.mode = mode;
            let trials = vec![TrialData { directory: PathBuf::new(), record }];
            let case = CaseData {
                name: CaseDirectoryName::parse("case"),
                directory: PathBuf::new(),
                record: CaseRecord::new(),
                trials,
                other_attempts: Vec::new(),
                of_runs: Vec::new(),
            };
            let suite = SuiteData { cases: vec![case], ..SuiteData::default() };
            RunData { suites: vec![suite], ..RunData::default() }
        };
        let runs = [Mode::Regrade, Mode::Live, Mode::Regrade, Mode::Regrade, Mode::Live, Mode::Live].map(run);
        assert_eq!(window(runs.into_iter(), 2).count(), 5);
    }
}
