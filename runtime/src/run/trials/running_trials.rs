//! The trials of a case while they run, on one thread or on several; and their attempts, which are repeated after infrastructure errors.
//!
//! Trials start in order. The next trial that counts waits for a slot without a limit; further trials use only slots
//! for which no other test waits, so they do not delay other tests.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use evalsuite_records::record::{Mode, ModelCalls, ReasonCode, Stage, Status, TrialRecord};

use crate::model::progress::ProgressStep;
use crate::platform::clock::with_jitter;
use crate::record::coordination::{Ledger, Slot, Spend};
use crate::run::budgets;
use crate::run::case_setup::CaseSetup;
use crate::run::plan::Plan;
use crate::run::trial::run_trial;
use crate::run::trials::counted_trials::{
    CaseTrials, CountedTrials, EndedTrial, StopRule, cost, is_cost_partial, mean_score, results,
};
use crate::workspace::WorkspaceBase;

/// Pause before a trial that is not the next one tries again to get a slot.
const PAUSE: Duration = Duration::from_millis(20);

/// The trials of a case while they run.
pub(crate) struct RunningTrials<'a, 's> {
    plan: &'a Plan<'a>,
    stop: StopRule,
    /// Index of the first trial in the case.
    first: u32,
    /// Held by the thread that starts the next trial.
    setup: Mutex<&'s mut CaseSetup<'a>>,
    progress: Mutex<TrialsProgress>,
    changed: Condvar,
}

/// What all threads know of the trials.
struct TrialsProgress {
    trials: CountedTrials,
    /// Number of trials that were started.
    started: u32,
    /// What the ledger has of each trial.
    spent: BTreeMap<u32, f64>,
    /// A thread has panicked or returned an error.
    is_broken: bool,
}

/// A trial that starts.
struct Start {
    index: u32,
    base: WorkspaceBase,
    slot: Option<Slot>,
}

/// The permission to run a trial; it has a slot where there is a limit.
struct Permission(Option<Slot>);

impl<'a, 's> RunningTrials<'a, 's> {
    /// `first`: index of the first trial in the case. All other indices count from there.
    pub(crate) fn new(plan: &'a Plan<'a>, setup: &'s mut CaseSetup<'a>, stop: StopRule, first: u32) -> Self {
        let trials = CountedTrials::new(stop);
        let progress = TrialsProgress { trials, started: 0, spent: BTreeMap::new(), is_broken: false };
        Self { plan, stop, first, setup: Mutex::new(setup), progress: Mutex::new(progress), changed: Condvar::new() }
    }

    /// Counts trials that have ended before: the next one to start is the one after them.
    pub(crate) fn after(self, kept: Vec<EndedTrial>) -> Self {
        let mut progress = self.progress();
        for (index, trial) in (0..).zip(kept) {
            progress.trials.add(index, Ok(trial));
            progress.started = index + 1;
            while progress.trials.count_next() {}
        }
        drop(progress);
        self
    }

    pub(crate) fn into_case_trials(self) -> CaseTrials {
        self.progress.into_inner().unwrap_or_else(PoisonError::into_inner).trials.into_case_trials()
    }

    /// Runs trials until none is left to start. After a panic or an error, the other threads stop.
    pub(crate) fn work(&self) -> io::Result<()> {
        let run_all = || {
            while let Some(start) = self.start_next()? {
                self.run(start)?;
            }
            Ok(())
        };
        let ended = catch_unwind(AssertUnwindSafe(run_all));
        if !matches!(ended, Ok(Ok(()))) {
            self.progress().is_broken = true;
            self.changed.notify_all();
        }
        ended.unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Waits until the next trial can start; `None` if there is none.
    fn start_next(&self) -> io::Result<Option<Start>> {
        let mut setup = self.setup.lock().unwrap_or_else(PoisonError::into_inner);
        let index = self.progress().started;
        if index >= self.stop.planned {
            return Ok(None);
        }
        let Some(Permission(slot)) = self.permission(index)? else { return Ok(None) };
        // Before the first trial: no base is made in vain.
        let limit = if index == 0 { budgets::reached(self.plan, self.first + index, 0, 0.0)? } else { None };
        let base = match limit {
            Some(reason) => Err(reason),
            None => setup.base()?.cloned(),
        };
        let mut progress = self.progress();
        if progress.trials.is_over() {
            return Ok(None);
        }
        let limit = if index > 0 { budgets::reached(self.plan, self.first + index, 0, 0.0)? } else { None };
        match base.and_then(|base| limit.map_or(Ok(base), Err)) {
            Ok(base) => {
                progress.started += 1;
                Ok(Some(Start { index, base, slot }))
            }
            Err(reason) => {
                // No further trial starts.
                progress.started = self.stop.planned;
                progress.trials.add(index, Err(reason));
                self.count(&mut progress)?;
                Ok(None)
            }
        }
    }

    /// Runs the attempts at a trial.
    fn run(&self, Start { index, base, slot }: Start) -> io::Result<()> {
        let plan = self.plan;
        let mut first_slot = Some(slot);
        let (record, retried) = run_attempts(
            plan.settings.retries,
            |pause| self.pause(with_jitter(pause)),
            |attempt| {
                let _slot = match first_slot.take() {
                    Some(slot) => slot,
                    None => match self.permission(index)? {
                        Some(Permission(slot)) if !self.is_limit_reached(index, attempt)? => slot,
                        _ => return Ok(None),
                    },
                };
                plan.report_progress(|| ProgressStep::TrialStarted { trial: self.first + index, attempt });
                let record = run_trial(plan, &base, self.first + index, attempt)?;
                self.add_to_ledger(index, &record)?;
                Ok(Some(record))
            },
        )?;
        self.end(index, EndedTrial { record, retried })
    }

    /// Whether a limit prevents another attempt at a trial. Trials after this one would not have run yet.
    fn is_limit_reached(&self, index: u32, attempt: u32) -> io::Result<bool> {
        let spent_after = self.progress().spent_after(index);
        Ok(budgets::reached(self.plan, self.first + index, attempt, spent_after)?.is_some())
    }

    /// Adds a trial that has ended, and counts what counts now.
    fn end(&self, index: u32, trial: EndedTrial) -> io::Result<()> {
        let (outcome, score) = (trial.record.outcome, trial.record.score);
        let mut progress = self.progress();
        progress.trials.add(index, Ok(trial));
        let points = results(progress.trials.ended());
        let cost_usd = cost(progress.trials.ended().chain(progress.trials.retried()));
        let is_cost_partial = is_cost_partial(progress.trials.ended(), progress.trials.retried());
        self.count(&mut progress)?;
        drop(progress);
        self.plan.report_progress(|| ProgressStep::TrialFinished {
            trial: self.first + index,
            outcome,
            score,
            finished: u32::try_from(points.len()).unwrap_or(u32::MAX),
            mean_score: mean_score(&points),
            cost_usd,
            is_cost_partial,
        });
        Ok(())
    }

    /// Counts trials. One after another, the next trial starts when its predecessor has ended: a limit that is reached then
    /// ends the case, although the next trial may be running already.
    fn count(&self, progress: &mut TrialsProgress) -> io::Result<()> {
        while progress.trials.count_next() {
            let next = progress.trials.next();
            if next < progress.started
                && let Some(reason) =
                    budgets::reached(self.plan, self.first + next, 0, progress.spent_after(next.saturating_sub(1)))?
            {
                progress.trials.prevent_next(reason);
            }
        }
        self.changed.notify_all();
        Ok(())
    }

    /// Waits for a slot, if there is a limit of trials that run in parallel; `None` if the trial is not needed any more.
    fn permission(&self, index: u32) -> io::Result<Option<Permission>> {
        let name = self.plan.suite.key();
        let locks = self.plan.run.locks();
        loop {
            let progress = self.progress();
            if progress.is_broken || progress.trials.is_over() {
                return Ok(None);
            }
            let Some(workers) = self.plan.workers() else { return Ok(Some(Permission(None))) };
            if progress.trials.next() == index {
                drop(progress);
                // No other trial can end the case before this one.
                return Ok(Some(Permission(Some(Slot::take(&locks, &name, workers)?))));
            }
            if let Some(slot) = Slot::try_take(&locks, &name, workers)? {
                return Ok(Some(Permission(Some(slot))));
            }
            drop(self.changed.wait_timeout(progress, PAUSE));
        }
    }

    /// Waits before another attempt, as long as the trial may count.
    fn pause(&self, pause: Duration) {
        let start = Instant::now();
        let mut progress = self.progress();
        while !progress.is_broken && !progress.trials.is_over() {
            let Some(left) = pause.checked_sub(start.elapsed()) else { return };
            progress = self.changed.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Adds the cost of a trial to what the run has spent. A replay costs nothing; to grade a trial again costs its judges.
    fn add_to_ledger(&self, index: u32, record: &TrialRecord) -> io::Result<()> {
        if record.mode == Mode::Replay {
            return Ok(());
        }
        let is_replayed = record.model_calls == Some(ModelCalls::Replayed) || record.mode == Mode::Regrade;
        let plan = self.plan;
        let spend = Spend {
            suite: plan.suite.key(),
            case_key: plan.identity.case_key.clone(),
            trial: record.trial,
            attempt: record.attempt,
            runner_attempt: record.runner_attempt,
            cost_usd: record.cost_usd.filter(|_| !is_replayed),
            judge_cost_usd: record.judge_cost_usd,
            user_cost_usd: record.user_cost_usd.filter(|_| record.mode != Mode::Regrade),
        };
        // Both or none, as other threads see it.
        let mut progress = self.progress();
        *progress.spent.entry(index).or_default() += spend.total();
        Ledger::of(plan.run.path(), &plan.run.locks()).append(&spend)
    }

    /// The data stays valid when a thread panics: it is changed by single assignments.
    fn progress(&self) -> MutexGuard<'_, TrialsProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrialsProgress {
    /// What the ledger has of trials after this one.
    fn spent_after(&self, index: u32) -> f64 {
        self.spent.iter().filter(|(trial, _)| **trial > index).map(|(_, cost)| cost).sum()
    }
}

/// Longest pause before an attempt, without jitter.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Makes attempts, numbered from 0, until one has a result other than an infrastructure error, `retries` are used up, or the next
/// one does not start. Returns the record of the last one, and those of the attempts before it.
fn run_attempts(
    retries: u32,
    mut pause: impl FnMut(Duration),
    mut attempt: impl FnMut(u32) -> io::Result<Option<TrialRecord>>,
) -> io::Result<(TrialRecord, Vec<TrialRecord>)> {
    let mut records: Vec<TrialRecord> = Vec::new();
    for number in 0..=retries {
        if number > 0 {
            // 1, 2, 4 … 30 seconds, without jitter.
            let doubled = 1_u64.checked_shl(number - 1).unwrap_or(u64::MAX);
            pause(Duration::from_secs(doubled).min(LONGEST_PAUSE));
        }
        let Some(record) = attempt(number)? else { break };
        let again = is_worth_repeating(&record);
        records.push(record);
        if !again {
            break;
        }
    }
    let last = records.pop().ok_or_else(|| io::Error::other("no attempt was made"))?;
    Ok((last, records))
}

/// Infrastructure errors may be temporary. Errors in the setup are the same in every attempt, and a
/// grader that does not decide has not failed.
fn is_worth_repeating(record: &TrialRecord) -> bool {
    let Some(reason) = &record.reason else { return false };
    record.outcome == Status::Error
        && matches!(reason.stage, Stage::Workspace | Stage::Agent | Stage::User | Stage::Grading)
        && !matches!(
            reason.code,
            ReasonCode::TargetUnusable
                | ReasonCode::RecordingMissing
                | ReasonCode::RecordingStale
                | ReasonCode::SkipRequested
                | ReasonCode::Required
                | ReasonCode::Unsupported
                | ReasonCode::RequiredGraderUndecided
                | ReasonCode::NothingDecided
                | ReasonCode::NotSealed
                | ReasonCode::SawAnswers
                | ReasonCode::UserLeftRole
        )
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Reason;

    use super::*;

    fn ended(outcome: Status) -> TrialRecord {
        let mut record = TrialRecord::new();
        record.outcome = outcome;
        record
    }

    fn error(stage: Stage, code: ReasonCode) -> TrialRecord {
        let mut record = ended(Status::Error);
        record.reason = Some(Reason::new(stage, code, "x"));
        record
    }

    fn agent_error() -> TrialRecord {
        error(Stage::Agent, ReasonCode::AgentError)
    }

    fn pauses(retries: u32, mut attempt: impl FnMut(u32) -> Option<TrialRecord>) -> (Vec<u64>, TrialRecord) {
        let mut pauses = Vec::new();
        let (record, before) =
            run_attempts(retries, |pause| pauses.push(pause.as_secs()), |number| Ok(attempt(number))).unwrap();
        assert!(before.iter().all(|record| record.outcome == Status::Error), "only errors are repeated");
        (pauses, record)
    }

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let (pauses, record) = pauses(7, |number| {
            let mut record = agent_error();
            record.attempt = number;
            Some(record)
        });
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(record.attempt, 7);
    }

    #[test]
    fn only_infrastructure_errors_are_repeated() {
        let times = |record: TrialRecord| pauses(3, |_| Some(record.clone())).0.len();
        assert_eq!(times(agent_error()), 3);
        assert_eq!(times(error(Stage::Grading, ReasonCode::GraderError)), 3);
        assert_eq!(times(error(Stage::Workspace, ReasonCode::RepoError)), 3);
        assert_eq!(times(error(Stage::Setup, ReasonCode::VariableUnset)), 0);
        assert_eq!(times(error(Stage::Agent, ReasonCode::TargetUnusable)), 0);
        assert_eq!(times(error(Stage::Grading, ReasonCode::NothingDecided)), 0);
        assert_eq!(times(ended(Status::Failed)), 0);
        assert_eq!(times(ended(Status::Passed)), 0);
    }

    #[test]
    fn the_first_attempt_with_a_result_is_the_last_one() {
        let (pauses, record) = pauses(5, |number| Some(if number < 2 { agent_error() } else { ended(Status::Failed) }));
        assert_eq!(pauses, [1, 2]);
        assert_eq!(record.outcome, Status::Failed);
    }

    #[test]
    fn an_attempt_that_does_not_start_does_not_discard_the_record_of_the_one_before() {
        let (pauses, record) = pauses(3, |number| (number == 0).then(agent_error));
        assert_eq!(pauses, [1]);
        assert_eq!(record, agent_error());
        assert!(run_attempts(3, |_| (), |_| Ok(None)).is_err());
    }
}
