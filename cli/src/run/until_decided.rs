//! `cargo evalsuite run --until-decided`: rounds of trials, until the comparison with the base is decided.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::{env, fs};

use evalsuite::tooling::SuiteDescription;
use evalsuite_records::digest::sha256_of;
use evalsuite_records::file_replacement::replace_file;
use evalsuite_records::record::DecisionRecord;
use evalsuite_records::run_directory::{DECISION, OutputDirectory, StoredRun, read_run_record};
use evalsuite_report::{
    ChosenCase, DecisionOptions, DecisionVerdict, RunData, RunDecision, base_text, plan_decision, usual_trials,
};
use evalsuite_schema::diagnostics::counted;

use super::chosen_tests::suite_names;
use super::suite_tests::{SuiteTests, TestKey};
use crate::locate::stored_runs;
use crate::platform::exit_status::{CliError, CommandStatus, ErrorContext, Result};
use crate::platform::output::say;
use crate::run::Run;

/// Target of a case that names none.
const DEFAULT_TARGET: &str = "default";

/// The tests of cases, by suite, target and id.
type TestsOfCases = BTreeMap<[String; 3], TestKey>;

/// A run that ends as soon as it is decided.
pub(super) struct UntilDecided<'a> {
    command: &'a Run,
    suites: &'a [SuiteDescription],
    chosen: &'a SuiteTests,
    output: &'a OutputDirectory,
    run: &'a Path,
    plan: DecisionRecord,
    tests: TestsOfCases,
}

/// Trials that the next call of the test runner adds to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Round {
    trials: u32,
    tests: BTreeSet<TestKey>,
}

impl<'a> UntilDecided<'a> {
    /// Reads the plan of the run, or makes one from its base. `agent` is the digest of the agent.
    pub(super) fn new(
        command: &'a Run,
        suites: &'a [SuiteDescription],
        chosen: &'a SuiteTests,
        output: &'a OutputDirectory,
        run: &'a Path,
        agent: &str,
    ) -> Result<Self> {
        let (cases, tests) = chosen_cases(command, suites, chosen)?;
        let mut decided = Self { command, suites, chosen, output, run, plan: DecisionRecord::new(), tests };
        let known: Option<DecisionRecord> =
            if run.is_dir() { read_run_record(run, Path::new(DECISION))? } else { None };
        decided.plan = match known {
            Some(plan) => decided.checked(plan, agent)?,
            None if StoredRun::open(run).is_some() => {
                let message = format!("{} is a run that was not started with --until-decided", run.display());
                return Err(CliError::with_help(message, "start another one: unset EVALSUITE_RUN_ID"));
            }
            None => decided.new_plan(&cases, agent)?,
        };
        decided.announce(cases.len());
        Ok(decided)
    }

    /// The plan of a run that goes on, if it is that of this command line and of this agent: trials of two agents decide nothing.
    fn checked(&self, plan: DecisionRecord, agent: &str) -> Result<DecisionRecord> {
        let base =
            self.command.base.as_deref().map(|base| Ok::<_, CliError>(stored_runs::find(base)?.id())).transpose()?;
        let Run { margin, cluster_by, trials, .. } = self.command;
        let wanted = (base.as_deref().unwrap_or(DecisionRecord::BASELINE), *margin, cluster_by, trials.is_some());
        if wanted != (plan.base.as_str(), Some(plan.margin), &plan.cluster_by, plan.fixed) {
            let what = "base, margin, cluster or number of trials";
            return Err(CliError::with_help(
                format!("the run in {} was started with another {what}", self.run.display()),
                "continue it with the same command line, or start another run: unset EVALSUITE_RUN_ID",
            ));
        }
        if plan.agent != sha256_of(agent.as_bytes())? {
            return Err(CliError::with_help(
                format!("the run in {} was started with another agent", self.run.display()),
                "start another run: unset EVALSUITE_RUN_ID; if it is the same agent, set EVALSUITE_AGENT_DIGEST to one value wherever it runs",
            ));
        }
        Ok(plan)
    }

    fn new_plan(&self, cases: &[ChosenCase], agent: &str) -> Result<DecisionRecord> {
        let (name, base) = self.base()?;
        let mut options = DecisionOptions::new(self.command.margin.unwrap_or_default());
        options.cluster_by.clone_from(&self.command.cluster_by);
        options.trials = self.command.trials;
        options.agent = sha256_of(agent.as_bytes())?;
        let earlier = if options.trials.is_none() { self.earlier(&name, &options)? } else { None };
        let earlier = earlier.as_ref().map(|(plan, decision)| (plan, decision));
        let plan = plan_decision(&base, &name, cases, &options, earlier);
        if plan.suites.is_empty() {
            let message = format!("{} has no trial of the selected cases to compare with", base_text(&name));
            let help = "its trials are compared with those of this run one by one: a baseline of an older version does not have them";
            return Err(CliError::with_help(message, help));
        }
        Ok(plan)
    }

    /// The base and its name.
    fn base(&self) -> Result<(String, RunData)> {
        let names = suite_names(self.suites);
        let named = |base: &String| {
            let stored = stored_runs::find(base)?;
            Ok::<_, CliError>((stored.id(), RunData::read_cases(stored.path())?.with_suite_names(&names)))
        };
        let mut base = self.command.base.as_ref().map(named).transpose()?;
        crate::baselines::default_base(&mut base, names)?;
        base.ok_or_else(|| {
            let message = "no selected suite has a baseline to compare with";
            CliError::with_help(message, "`cargo evalsuite accept` creates one; `--base RUN` names a run instead")
        })
    }

    /// The newest other run of this agent that was compared with the same base.
    fn earlier(&self, base: &str, options: &DecisionOptions) -> Result<Option<(DecisionRecord, RunDecision)>> {
        for stored in self.output.runs_newest_first()? {
            // Damaged records of other runs are ignored.
            let Ok(Some(plan)) = read_run_record::<DecisionRecord>(stored.path(), Path::new(DECISION)) else {
                continue;
            };
            let is_same = (&*plan.base, &plan.agent, plan.margin, &plan.cluster_by, plan.fixed)
                == (base, &options.agent, options.margin, &options.cluster_by, false);
            if is_same {
                let run = RunData::read_cases(stored.path())?.with_suite_names(&suite_names(self.suites));
                let decision = RunDecision::with(&plan, &run);
                return Ok(Some((plan, decision)));
            }
        }
        Ok(None)
    }

    /// Says what there is to compare with, before the first trial.
    fn announce(&self, chosen: usize) {
        let base = base_text(&self.plan.base);
        let compared: usize = self.plan.suites.iter().map(|suite| suite.cases.len()).sum();
        if compared < chosen {
            let cases = are(chosen - compared, "case");
            say!("note: {cases} not in {base}, or there with fewer trials than the others, and will not run");
        }
        if !self.plan.continues.is_empty() {
            let runs = self.plan.continues.join("`, `");
            say!(
                "note: run `{runs}` of this agent used a part of {base}; its evidence counts, and the trials left are compared"
            );
        }
        for suite in &self.plan.suites {
            let pairs: usize = suite.cases.iter().map(|case| case.base.len()).sum();
            let most = suite.rounds as usize * suite.cases.len();
            let usual = usual_trials(suite, self.plan.margin);
            let name = format!("{} @ {}", suite.suite, suite.target);
            let takes = if self.plan.fixed { String::new() } else { format!("; it usually takes about {usual}") };
            say!("note: {name}: {} of {base} to compare with, {most} at most{takes}", counted(pairs, "trial"));
            if !self.plan.fixed && most < usual {
                say!("warning: {name}: {most} trials are probably too few to decide, and the run ends undecided");
            }
        }
    }

    /// Runs trials until the run is decided, or nothing more can be compared. Returns the status of the last call that failed.
    pub(super) fn run(
        &self,
        is_part: bool,
        mut run_tests: impl FnMut(&SuiteTests, &dyn Fn(&mut Command)) -> Result<ExitStatus>,
    ) -> Result<Option<ExitStatus>> {
        let mut failed = None;
        let mut last = None;
        while let Some(round) = self.next(is_part)? {
            if last.as_ref() == Some(&round) {
                say!("note: {} not run: their records say why", are(round.tests.len(), "selected trial"));
                break;
            }
            if last.is_none() {
                self.store_plan()?;
            }
            let tests = self.chosen.only(&round.tests, last.is_none());
            tests.record(self.output, self.run)?;
            let status = run_tests(&tests, &|command| {
                command
                    .env("EVALSUITE_TRIALS", round.trials.to_string())
                    .env("EVALSUITE_RUN_ALL", "1")
                    .env("EVALSUITE_ADD_TRIALS", "1")
                    .env("EVALSUITE_CONFIRM", "0");
            })?;
            failed = Some(status).filter(|status| !status.success()).or(failed);
            if is_part {
                say!(
                    "note: a part of a run decides nothing; after `cargo evalsuite merge`, the same command without a partition and with \
                     EVALSUITE_RUN_ID looks at all parts, and continues if necessary"
                );
            }
            // The tests cannot be built.
            if StoredRun::open(self.run).is_none() || is_part {
                break;
            }
            last = Some(round);
        }
        Ok(failed)
    }

    /// The trials that the next look needs. A part of a run has the planned ones: what is decided is known when the parts are merged.
    fn next(&self, is_part: bool) -> Result<Option<Round>> {
        if is_part {
            let rounds = self.plan.suites.iter().map(|suite| suite.planned.min(suite.rounds));
            let tests = self.plan.suites.iter().flat_map(|suite| {
                suite.cases.iter().filter_map(|case| self.test(&suite.suite, &suite.target, &case.case_id))
            });
            return Ok(Some(Round { trials: rounds.max().unwrap_or(1), tests: tests.collect() }));
        }
        let decision = self.decision()?;
        if decision.verdict == DecisionVerdict::Regressed {
            return Ok(None);
        }
        let next = || decision.suites.iter().filter_map(|suite| Some((suite, suite.next()?)));
        let Some(trials) = next().map(|(_, next)| next.trials).min() else { return Ok(None) };
        let tests = next().filter(|(_, next)| next.trials == trials).flat_map(|(suite, next)| {
            next.cases.iter().filter_map(|case| self.test(&suite.suite, &suite.target, case))
        });
        let tests: BTreeSet<TestKey> = tests.collect();
        Ok((!tests.is_empty()).then_some(Round { trials, tests }))
    }

    fn test(&self, suite: &str, target: &str, case: &str) -> Option<TestKey> {
        self.tests.get(&[suite, target, case].map(str::to_owned)).cloned()
    }

    /// What the trials so far decide.
    pub(super) fn decision(&self) -> Result<RunDecision> {
        let data = match StoredRun::open(self.run) {
            Some(stored) => RunData::read_cases(stored.path())?.with_suite_names(&suite_names(self.suites)),
            None => RunData::default(),
        };
        Ok(RunDecision::with(&self.plan, &data))
    }

    fn store_plan(&self) -> Result<()> {
        fs::create_dir_all(self.run).at(self.run)?;
        let mut text = serde_json::to_vec_pretty(&self.plan)?;
        text.push(b'\n');
        let file = self.run.join(DECISION);
        replace_file(&file, &text).at(&file)
    }
}

/// How the command ends that has decided this.
pub(super) fn exit(verdict: DecisionVerdict) -> CommandStatus {
    match verdict {
        DecisionVerdict::Regressed => CommandStatus::Problems,
        DecisionVerdict::WithinMargin => CommandStatus::Good,
        _ => CommandStatus::Undecided,
    }
}

/// The chosen cases, and their tests.
fn chosen_cases(
    command: &Run,
    suites: &[SuiteDescription],
    chosen: &SuiteTests,
) -> Result<(Vec<ChosenCase>, TestsOfCases)> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let targets: Option<Vec<String>> =
        set("EVALSUITE_TARGET").map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
    let trials: Option<u32> = set("EVALSUITE_TRIALS").and_then(|trials| trials.parse().ok());
    let (mut cases, mut tests) = (Vec::new(), BTreeMap::new());
    let mut has_cluster = command.cluster_by.is_none();
    for suite in suites {
        for test in &suite.tests {
            let key = TestKey::new(&suite.id, &test.test);
            let is_selected = |target: &String| targets.as_ref().is_none_or(|targets| targets.contains(target));
            if !chosen.cases.contains(&key) || !test.target.as_ref().is_none_or(is_selected) {
                continue;
            }
            let of_run = targets.as_ref().and_then(|targets| targets.first().cloned());
            let target = test.target.clone().or(of_run).or_else(|| test.own_target.clone());
            let target = target.unwrap_or_else(|| DEFAULT_TARGET.to_owned());
            if test.correlated {
                let message = format!(
                    "the trials of `{}` in {} are correlated, and more of them tell nothing more",
                    test.case_id, suite.suite
                );
                return Err(CliError::with_help(
                    message,
                    "run it without --until-decided, or delete `correlated` in its `trials`",
                ));
            }
            let cluster = command.cluster_by.as_ref().and_then(|key| test.metadata.get(key)).cloned();
            has_cluster |= cluster.is_some();
            let planned = trials.unwrap_or(test.trials);
            tests.entry([suite.suite.clone(), target.clone(), test.case_id.clone()]).or_insert(key);
            cases.push(ChosenCase::new(&suite.suite, target, &test.case_id, planned).with_cluster(cluster));
        }
    }
    if let (false, Some(key)) = (has_cluster, &command.cluster_by) {
        return Err(CliError::new(format!("no selected case has `{key}` in its metadata")));
    }
    Ok((cases, tests))
}

/// `1 case is`, `2 cases are`.
fn are(count: usize, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "is" } else { "are" })
}
