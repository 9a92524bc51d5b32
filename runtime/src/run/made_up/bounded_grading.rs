//! Grading where some graders cannot be run: what the others decide, whatever those would say; and what the judges of made-up results
//! cost, which has a budget.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "probe")]
use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::{GraderRecord, GraderState, JudgeRecord, Verdict};
use evalsuite_schema::grader::AskedJudge;
use evalsuite_schema::{Grader, GraderConfig};

use crate::grade::composite::counted_member;
use crate::grade::grader_record::grader_record;
use crate::grade::grading_context::{GradingContext, apply};
use crate::grade::user_grader::GraderCall;
use crate::grade::{aggregate, grade_at};
use crate::model::score::Score;
use crate::record::coordination::{Ledger, Spend};
use crate::run::budgets::spent_budget;
use crate::run::plan::Plan;

/// A grader that was not run, or that came to no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotRun {
    /// Its name, below those of the composites around it and, in a turn, `turn-000`.
    pub(crate) path: String,
    /// Whether it would have to ask a judge.
    pub(crate) asks_judge: bool,
    /// Why, as the end of a sentence that begins with the grader.
    pub(crate) reason: String,
}

/// The graders that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AllowedGraders {
    /// Judges are asked, or reply from a recording.
    pub(crate) judges: bool,
    /// Commands are started.
    pub(crate) commands: bool,
}

/// The result of a grader as far as it is known.
pub(crate) struct Bounded {
    /// The result, or the worst one that is possible.
    low: GraderRecord,
    /// Of a result that is not known: the best one that is possible, and what is shown.
    open: Option<(GraderRecord, GraderRecord)>,
}

impl Bounded {
    pub(crate) fn low(&self) -> &GraderRecord {
        &self.low
    }

    pub(crate) fn high(&self) -> &GraderRecord {
        self.open.as_ref().map_or(&self.low, |(high, _)| high)
    }

    pub(crate) fn shown(self) -> GraderRecord {
        self.open.map_or(self.low, |(_, shown)| shown)
    }
}

/// Runs graders, and collects those that cannot be run.
pub(crate) struct BoundedGrading<'c> {
    pub(crate) context: &'c GradingContext<'c>,
    pub(crate) allowed: AllowedGraders,
    /// What judges cost, unless their replies are recorded.
    pub(crate) spending: Option<(&'c JudgeSpending, &'c Plan<'c>)>,
    pub(crate) not_run: &'c mut Vec<NotRun>,
    /// Costs that could not be counted.
    pub(crate) problems: &'c mut Vec<String>,
}

impl BoundedGrading<'_> {
    /// Runs a grader. `path` is its name below the names of the composites around it.
    pub(crate) fn grade(&mut self, path: &str, grader: &Grader) -> Bounded {
        if !grader.config.settings().members().is_empty() {
            let Ok(answer) = apply(&grader.transform, self.context.evidence.answer()) else {
                let record = grade_at(path, grader, self.context);
                return self.known_or_broken(path, grader, record);
            };
            let evidence = self.context.evidence.with_answer(&answer);
            let Self { allowed, spending, .. } = *self;
            let context = &match grader.transform.is_empty() {
                true => GradingContext { ..*self.context },
                false => GradingContext { evidence: &evidence, ..*self.context },
            };
            let (not_run, problems) = (&mut *self.not_run, &mut *self.problems);
            return BoundedGrading { context, allowed, spending, not_run, problems }.grade_members(path, grader);
        }
        let AllowedGraders { judges, commands } = self.allowed;
        let default_judge = self.has_default_judge();
        let (asks_judge, may_run) = match &grader.config {
            GraderConfig::User { grader: name, .. } => match self.context.registry.grader(name) {
                None => {
                    let reason = format!("needs the grader `{name}`, which this program does not have");
                    return self.leave_out(path, grader, false, reason);
                }
                Some(registered) => (registered.needs_judge, !registered.needs_judge || default_judge),
            },
            config if config.settings().command().is_some() => (false, commands),
            config => match config.asked_judge() {
                None => (false, true),
                Some(AskedJudge::Named(_)) => (true, judges),
                Some(AskedJudge::Default) => (true, default_judge),
            },
        };
        if may_run
            && asks_judge
            && let Some(why) = self.over_budget()
        {
            return self.leave_out(path, grader, true, format!("asks a judge, and {why}"));
        }
        if may_run {
            let record = grade_at(path, grader, self.context);
            self.count_judge(&record);
            return self.known_or_broken(path, grader, record);
        }
        self.leave_out(path, grader, asks_judge, if asks_judge { "asks a judge" } else { "runs a command" })
    }

    /// Whether a grader that names no judge has one.
    fn has_default_judge(&self) -> bool {
        self.allowed.judges && (self.context.judges.is_recorded || self.context.judges.has_default())
    }

    fn over_budget(&self) -> Option<String> {
        self.spending.and_then(|(spending, plan)| spending.over_budget(plan))
    }

    /// Adds what a grader has spent, not the members of a composite, to the calls of the suite.
    fn count_judge(&mut self, record: &GraderRecord) {
        if let (Some((spending, plan)), Some(judge)) = (self.spending, &record.judge)
            && let Err(error) = spending.add(plan, judge)
        {
            self.problems.push(format!("the cost of a judge cannot be counted: {error}"));
        }
    }

    fn grade_members(&mut self, path: &str, grader: &Grader) -> Bounded {
        let settings = grader.config.settings();
        let members = settings.members().iter();
        let members = members.map(|member| match &grader.config {
            GraderConfig::Composite(config) => counted_member(config, member),
            _ => Cow::Borrowed(member),
        });
        let members: Vec<Bounded> =
            members.map(|member| self.grade(&format!("{path}/{}", member.name), &member)).collect();
        let are_known = members.iter().all(|member| member.open.is_none());
        let (asks_judge, runs_command) = (settings.asked_judge().is_some(), settings.command().is_some());
        let is_program = asks_judge || runs_command;
        let may_run = (!asks_judge || self.has_default_judge()) && (!runs_command || self.allowed.commands);
        if !may_run || is_program && !are_known {
            let reason = match (may_run, asks_judge) {
                (true, _) => "combines members that were not run",
                (false, true) => "asks a judge",
                (false, false) => "runs a command",
            };
            return self.leave_out(path, grader, asks_judge && !may_run, reason);
        }
        if asks_judge && let Some(why) = self.over_budget() {
            return self.leave_out(path, grader, true, format!("asks a judge, and {why}"));
        }
        let call = GraderCall { path, grader, context: self.context };
        let aggregated = |end: fn(&Bounded) -> &GraderRecord| {
            let members: Vec<GraderRecord> = members.iter().map(|member| end(member).clone()).collect();
            aggregate(&members, &call)
        };
        let mut low = aggregated(Bounded::low);
        self.count_judge(&low);
        if are_known {
            return self.known_or_broken(path, grader, low);
        }
        let high = aggregated(Bounded::high);
        low.members = members.into_iter().map(Bounded::shown).collect();
        if rank(&low) == rank(&high) && low.state == high.state && low.guard == high.guard {
            return Bounded { low, open: None };
        }
        let shown = without_result(low.clone(), "depends on members that were not run");
        between(low, high, shown)
    }

    fn known_or_broken(&mut self, path: &str, grader: &Grader, record: GraderRecord) -> Bounded {
        if record.state != GraderState::Error {
            return Bounded { low: record, open: None };
        }
        let asks_judge = record.code.is_some() || record.judge.is_some();
        let reason = format!("has no result: {}", record.error.as_deref().unwrap_or_default());
        self.leave_out(path, grader, asks_judge, reason)
    }

    fn leave_out(&mut self, path: &str, grader: &Grader, asks_judge: bool, reason: impl Into<String>) -> Bounded {
        let reason = reason.into();
        let [low, high] =
            [0.0, 1.0].map(|value| grader_record(grader, Score::new(value).into(), self.context.threshold));
        let shown = without_result(low.clone(), &reason);
        self.not_run.push(NotRun { path: path.to_owned(), asks_judge, reason });
        between(low, high, shown)
    }
}

/// Negation makes the best result of the worst one.
fn between(one: GraderRecord, other: GraderRecord, shown: GraderRecord) -> Bounded {
    let (low, high) = if rank(&one) <= rank(&other) { (one, other) } else { (other, one) };
    Bounded { low, open: Some((high, shown)) }
}

/// How good a result is.
fn rank(record: &GraderRecord) -> (bool, Option<f64>) {
    (record.verdict == Some(Verdict::Pass), record.value)
}

/// The record as if the grader had not decided.
fn without_result(mut record: GraderRecord, reason: &str) -> GraderRecord {
    record.state = GraderState::Undecided;
    (record.value, record.verdict, record.forced_fail) = (None, None, false);
    record.assertions.clear();
    record.rationale = Some(reason.to_owned());
    record
}

/// The calls of judges about the made-up results of a suite.
#[derive(Debug)]
pub(crate) struct JudgeSpending {
    /// Shared with other suites whose made-up results the same command grades.
    ledger: Ledger,
    calls: Mutex<JudgeCalls>,
}

/// A number of calls of judges, and their cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct JudgeCalls {
    pub(crate) count: u32,
    /// US dollars.
    costs: Vec<f64>,
    /// How many calls did not report what they cost.
    pub(crate) of_unknown_cost: u32,
}

#[cfg(feature = "probe")]
impl JudgeCalls {
    /// What they cost in US dollars; `None` if the cost of no call is known.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        sum_of_known(self.costs.iter().copied())
    }
}

impl JudgeSpending {
    /// With the ledger in a directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { ledger: Ledger::of(directory, directory), calls: Mutex::default() }
    }

    /// Why no judge is asked any more, if a budget is spent.
    fn over_budget(&self, plan: &Plan<'_>) -> Option<String> {
        let unreadable = |error: io::Error| Some(format!("what was spent cannot be read: {error}"));
        spent_budget(plan, &self.ledger, "grading of made-up results", 0.0).unwrap_or_else(unreadable)
    }

    /// Adds the calls of a grader.
    pub(super) fn add(&self, plan: &Plan<'_>, judge: &JudgeRecord) -> io::Result<()> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.count += judge.attempts;
        calls.of_unknown_cost += judge.unknown_costs;
        let Some(cost) = judge.cost_usd else { return Ok(()) };
        calls.costs.push(cost);
        self.ledger.append(&Spend {
            suite: plan.suite.key(),
            case_key: plan.identity.case_key.clone(),
            trial: 0,
            attempt: 0,
            runner_attempt: plan.settings.runner.attempt,
            cost_usd: None,
            judge_cost_usd: Some(cost),
            user_cost_usd: None,
        })
    }

    /// All calls so far.
    #[cfg(feature = "probe")]
    pub(crate) fn calls(&self) -> JudgeCalls {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
