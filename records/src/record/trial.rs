//! `result.json` and `started.json`: a trial, and what its simulated user did.

use std::collections::BTreeMap;

use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson, skip_empty};
use evalsuite_schema::{Location, Object, is_default};

use super::{CaseIdentity, GraderRecord, JudgeRecord, Reason, ReasonCode, SealRecord, Status, Usage};
use crate::record::identity::fields_of_identity;

/// `result.json`: one trial.
#[skip_empty(model_calls, reused_run, sealed, user_usage, user_cost_usd, usage_partial, cost_partial, user)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct TrialRecord {
    /// [`TrialRecord::SCHEMA`].
    #[json(read_with = "TrialRecord::read_schema")]
    pub schema: String,
    /// What names the case.
    #[json(flatten)]
    pub identity: CaseIdentity,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// Number of trials planned.
    pub trials_planned: u32,
    /// Attempt at the trial, from 0.
    pub attempt: u32,
    /// Whether agents and judges were called.
    pub mode: Mode,
    /// Whether the calls of models were recorded or replayed by `cargo evalsuite run`; `None` if neither.
    pub model_calls: Option<ModelCalls>,
    /// Id of the run whose trial was graded again.
    pub regraded_run: Option<String>,
    /// Id of the run whose trial this is: its case did not run again.
    pub reused_run: Option<String>,
    /// Whether the kernel confined the agent; `None` if no command was started: the agent is Rust code that was not to be sealed, or its
    /// recorded calls were taken.
    pub sealed: Option<SealRecord>,
    /// Outcome of the trial.
    pub outcome: Status,
    /// Why the trial did not pass.
    pub reason: Option<Reason>,
    /// 0 to 1; `None` when nothing was decided or graded.
    pub score: Option<f64>,
    /// Effective threshold, 0 to 1.
    pub threshold: f64,
    /// When the trial started.
    pub started_at: String,
    /// When the trial ended.
    pub ended_at: String,
    /// Durations of its parts.
    pub timings: Timings,
    /// Duration of the agent's work in milliseconds, as reported or measured; `None` when it was not called.
    pub duration_ms: Option<u64>,
    /// Tokens of the agent.
    pub usage: Option<Usage>,
    /// Tokens of judges.
    pub judge_usage: Option<Usage>,
    /// Cost of the agent in US dollars.
    pub cost_usd: Option<f64>,
    /// Cost of judges in US dollars.
    pub judge_cost_usd: Option<f64>,
    /// Tokens of the simulated user.
    pub user_usage: Option<Usage>,
    /// Cost of the simulated user in US dollars.
    pub user_cost_usd: Option<f64>,
    /// Whether some of the agent's calls did not report their tokens, so that `usage` is a lower bound.
    pub usage_partial: bool,
    /// The same for `cost_usd`.
    pub cost_partial: bool,
    /// Model, as reported.
    pub model: Option<String>,
    /// The answer, at most its first 64 KiB.
    pub answer: Option<String>,
    /// Whether the answer is longer than shown here.
    pub answer_truncated: bool,
    /// Facts that the agent reported about the environment it worked on.
    pub state: Object,
    /// Free-form data the agent reported.
    #[json(default)]
    pub agent_metadata: Object,
    /// Results of the graders, in order.
    pub graders: Vec<GraderRecord>,
    /// Turns of a conversation.
    pub turns: Option<Vec<TurnRecord>>,
    /// The simulated user of a conversation.
    pub user: Option<UserRecord>,
    /// The workspace, and what the agent changed in it.
    pub workspace: Option<WorkspaceRecord>,
    /// Hooks around this trial.
    pub hooks: Vec<HookRecord>,
    /// Warnings.
    pub notes: Vec<Note>,
    /// File with the trajectory, relative to the trial directory.
    pub trajectory: Option<String>,
    /// Outcomes of the cases this one depends on.
    pub dependencies: BTreeMap<String, Status>,
    /// The case's metadata.
    pub metadata: Object,
    /// The case's tags.
    pub tags: Vec<String>,
    /// The suite's category.
    pub category: Option<String>,
    /// The case's conversation id.
    pub conversation_id: Option<String>,
    /// The case's `metadata.failure_bucket`.
    pub failure_bucket: Option<String>,
    /// Versions of the programs that ran the trial.
    pub versions: Versions,
}

fields_of_identity!(TrialRecord);

/// `started.json`: a trial that has started.
#[skip_empty(program, case_digest, input_digest, grader_digest, location)]
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Started {
    /// [`Started::SCHEMA`].
    #[json(read_with = "Started::read_schema")]
    pub schema: String,
    /// Id of the run.
    pub run_id: String,
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Path of the test.
    #[json(default)]
    pub test_name: String,
    /// Rust path of the module that includes the suite; empty in records of older versions.
    #[json(default)]
    pub module: String,
    /// File name of the test program.
    pub program: String,
    /// Name of the target.
    pub target: String,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// Id of the process that runs the trial.
    pub pid: u32,
    /// Lock file of the case, relative to the run's directory. The lock is held while the case runs: if a trial has no result and
    /// the lock is free, its process has died.
    pub lock: String,
    /// When the trial started.
    pub started_at: String,
    /// SHA-256 of the whole case, hexadecimal.
    pub case_digest: String,
    /// SHA-256 of the input of the agent, hexadecimal.
    pub input_digest: String,
    /// SHA-256 of the graders, hexadecimal.
    pub grader_digest: String,
    /// Where the case is defined.
    pub location: Location,
}

/// Whether agents and judges are called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
#[non_exhaustive]
pub enum Mode {
    /// They are called.
    #[default]
    Live,
    /// They are called, and their replies are recorded.
    Record,
    /// They are not called; their recorded replies are used.
    Replay,
    /// The agent is not called; its trial in an earlier run is graded again.
    Regrade,
}

/// What becomes of the calls of models that an agent makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson)]
#[non_exhaustive]
pub enum ModelCalls {
    /// They are sent, and recorded with their answers.
    Recorded,
    /// They are not sent; the recorded answers are used.
    Replayed,
}

/// Durations of the parts of a trial, in milliseconds of a monotonic clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Timings {
    /// Directories, workspace and hooks before the agent.
    pub setup_ms: u64,
    /// The agent's call.
    pub agent_ms: u64,
    /// The simulated user.
    #[json(default, skip_if = "is_default")]
    pub user_ms: u64,
    /// Changes of the workspace and the transcript.
    pub capture_ms: u64,
    /// Graders.
    pub grading_ms: u64,
    /// Hooks after the agent.
    pub teardown_ms: u64,
    /// Everything.
    pub total_ms: u64,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct TurnRecord {
    /// Index of the turn, from 0.
    pub index: u32,
    /// Message of the user.
    pub input: String,
    /// Whether a simulated user wrote it.
    #[json(default, skip_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// Answer of the agent.
    pub answer: Option<String>,
    /// Score, 0 to 1.
    pub score: Option<f64>,
    /// Outcome of the turn.
    pub outcome: Status,
    /// Results of the graders.
    pub graders: Vec<GraderRecord>,
}

impl TurnRecord {
    /// Whether the turn ran and nothing grades it.
    pub fn is_ungraded(&self) -> bool {
        self.graders.is_empty() && self.answer.is_some() && self.outcome == Status::Skipped
    }
}

/// The workspace of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct WorkspaceRecord {
    /// The directory.
    pub path: String,
    /// Whether it is still there.
    pub kept: bool,
    /// Files that the agent created, sorted, with `/` separators.
    pub created: Vec<String>,
    /// Files that the agent changed, sorted.
    pub modified: Vec<String>,
    /// Files that the agent removed, sorted.
    pub deleted: Vec<String>,
    /// File with the unified diff, relative to the trial directory.
    pub patch: Option<String>,
    /// Beginning of every changed text file, at most 4 KiB each.
    pub snippets: BTreeMap<String, String>,
}

/// A hook that ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct HookRecord {
    /// Name of the hook.
    pub name: String,
    /// Where it is defined: `suite`, `case` or `target`.
    pub scope: String,
    /// Exit code; `None` when it did not exit by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Whether it exceeded its time limit.
    pub timed_out: bool,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// File with its output.
    pub log: String,
    /// Whether the kernel confined it.
    #[json(default, skip_if = "Option::is_none")]
    pub sealed: Option<SealRecord>,
}

/// A warning of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Note {
    /// Stable name.
    pub code: String,
    /// Text for people.
    pub message: String,
}

impl Note {
    /// A note.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

/// Versions of the programs that ran a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct Versions {
    /// Version of evalsuite.
    pub evalsuite: String,
    /// Name and version of the package under test.
    pub package: String,
    /// Operating system.
    pub os: String,
    /// Processor architecture.
    pub arch: String,
}

impl TrialRecord {
    /// What became of the seals of the trial, each once: of its agent as [`SealRecord::text`], then
    /// [those of others that are missing](Self::unsealed_others).
    pub fn seals(&self) -> Vec<String> {
        let mut seals: Vec<String> = self.sealed.iter().map(SealRecord::text).collect();
        seals.extend(self.unsealed_others());
        seals
    }

    /// The results of the graders of the whole, then of those of each turn of a conversation.
    pub fn all_graders(&self) -> impl Iterator<Item = &GraderRecord> {
        let of_turns = self.turns.iter().flatten().flat_map(|turn| &turn.graders);
        self.graders.iter().chain(of_turns)
    }

    /// The judges that graders of the trial asked, of its turns and of its simulated user, too.
    pub fn judges(&self) -> Vec<&JudgeRecord> {
        fn add<'r>(grader: &'r GraderRecord, all: &mut Vec<&'r JudgeRecord>) {
            all.extend(&grader.judge);
            grader.members.iter().for_each(|member| add(member, all));
        }
        let mut all = Vec::new();
        let of_user = self.user.iter().flat_map(|user| &user.graders);
        self.all_graders().chain(of_user).for_each(|grader| add(grader, &mut all));
        all
    }

    /// Whose cost is not known of all calls.
    pub fn unknown_costs(&self) -> UnknownParts {
        UnknownParts {
            agent: self.cost_partial || self.cost_usd.is_none() && self.was_agent_called(),
            judges: self.judges().iter().any(|judge| !judge.is_cost_known()),
            user: self.user.as_ref().is_some_and(|user| user.unknown_costs > 0 || self.user_cost_usd.is_none()),
        }
    }

    /// Whose tokens are not known of all calls.
    pub fn unknown_tokens(&self) -> UnknownParts {
        UnknownParts {
            agent: self.usage_partial || self.usage.is_none() && self.was_agent_called(),
            judges: self.judges().iter().any(|judge| !judge.is_usage_known()),
            user: self.user.as_ref().is_some_and(|user| user.unknown_tokens > 0 || self.user_usage.is_none()),
        }
    }

    fn was_agent_called(&self) -> bool {
        let has_died = self.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::ProcessDied);
        self.duration_ms.is_some() || has_died
    }

    /// The commands besides the agent that were to be sealed and are not, each once, such as "unsealed: grader `tests`: the kernel has no
    /// Landlock".
    pub fn unsealed_others(&self) -> Vec<String> {
        let hooks = self.hooks.iter().map(|hook| (format!("hook `{}`", hook.name), hook.sealed.as_ref()));
        let mut all: Vec<(String, Option<&SealRecord>)> = hooks.collect();
        self.all_graders().for_each(|grader| add_seals(grader, &mut all));
        let mut texts: Vec<String> = Vec::new();
        for (who, seal) in all {
            let Some(seal) = seal.filter(|seal| seal.is_unsealed()) else { continue };
            let text = seal.text().replacen(": ", &format!(": {who}: "), 1);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }
}

/// Adds the commands that a grader, its judge and its members ran.
fn add_seals<'r>(grader: &'r GraderRecord, all: &mut Vec<(String, Option<&'r SealRecord>)>) {
    if let Some(command) = &grader.command {
        all.push((format!("grader `{}`", grader.name), command.sealed.as_ref()));
    }
    if let Some(judge) = &grader.judge {
        all.push((format!("judge `{}`", judge.name), judge.sealed.as_ref()));
    }
    grader.members.iter().for_each(|member| add_seals(member, all));
}

/// Who has made calls whose cost, or tokens, are not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct UnknownParts {
    /// The agent.
    pub agent: bool,
    /// Judges.
    pub judges: bool,
    /// The simulated user.
    pub user: bool,
}

impl UnknownParts {
    /// Whether all is known.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Of how many trials that of the agent, of judges, and of the simulated user is not known.
    pub fn counts(trials: &[Self]) -> [usize; 3] {
        let parts: [fn(&Self) -> bool; 3] = [|trial| trial.agent, |trial| trial.judges, |trial| trial.user];
        parts.map(|is_unknown| trials.iter().filter(|trial| is_unknown(trial)).count())
    }
}

/// The simulated user of a trial. What it cost is in [`TrialRecord::user_cost_usd`](super::TrialRecord::user_cost_usd).
#[skip_empty(.., unknown_tokens, unknown_costs)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct UserRecord {
    /// Name of the judge or function that wrote its turns.
    pub name: String,
    /// Model that wrote them, as reported.
    pub model: Option<String>,
    /// Number of turns it wrote.
    pub turns: u32,
    /// Number of calls, with those that were repeated.
    pub attempts: u32,
    /// Number of them whose tokens are not known.
    pub unknown_tokens: u32,
    /// Number of them whose cost is not known.
    pub unknown_costs: u32,
    /// Why the conversation ended; `None` if the trial ended in an error before.
    pub ended: Option<UserEnd>,
    /// What it said when it ended the conversation. The agent did not get it.
    pub last_words: Option<String>,
    /// Files with its replies, relative to the trial directory.
    pub replies: Vec<String>,
    /// What became of the seal of the command that wrote its turns; `None` if none was started.
    pub sealed: Option<SealRecord>,
    /// Whether it stayed in its role; `None` if no grader said so.
    pub in_role: Option<bool>,
    /// Results of its graders, in order.
    pub graders: Vec<GraderRecord>,
}

impl UserRecord {
    /// A user that has not said anything yet.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Why a conversation with a simulated user ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson)]
#[non_exhaustive]
pub enum UserEnd {
    /// The user said that its goal is reached, or that its condition is met.
    Done,
    /// It had written as many turns as it may.
    MaxTurns,
    /// A turn failed, and the case does not go on after that.
    TurnFailed,
}

impl UserEnd {
    /// As people read it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Done => "the user was done",
            Self::MaxTurns => "`max_turns` was reached",
            Self::TurnFailed => "a turn failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CommandRecord, HookRecord, JudgeRecord, SealState, TrialRecord};

    #[test]
    fn a_record_of_a_command_that_was_not_to_be_sealed_says_no_more_than_that() {
        let text = evalsuite_schema::json::to_string(&SealRecord::off()).unwrap();
        assert_eq!(text, r#"{"state":"off"}"#);
        assert_eq!(evalsuite_schema::json::from_str::<SealRecord>(&text).unwrap(), SealRecord::off());
        assert_eq!(SealRecord::off().text(), "off");
    }

    #[test]
    fn seals_that_are_missing_are_named_with_who_runs_without_one() {
        let missing = || Some(SealRecord::unsealed("the kernel has no Landlock"));
        let mut trial = TrialRecord::new();
        trial.sealed =
            Some(SealRecord { state: SealState::Sealed, network: "all".to_owned(), ..SealRecord::default() });
        for (name, sealed) in [("before_each", missing()), ("after_each", Some(SealRecord::off()))] {
            trial.hooks.push(HookRecord { name: name.to_owned(), sealed, ..HookRecord::default() });
        }
        let mut member = GraderRecord { name: "tests".to_owned(), ..GraderRecord::default() };
        member.command = Some(CommandRecord { sealed: missing(), ..CommandRecord::default() });
        member.judge = Some(JudgeRecord { name: "strict".to_owned(), sealed: missing(), ..JudgeRecord::default() });
        let members = vec![member.clone(), member];
        trial.graders.push(GraderRecord { name: "both".to_owned(), members, ..GraderRecord::default() });
        let others = ["hook `before_each`", "grader `tests`", "judge `strict`"]
            .map(|who| format!("unsealed: {who}: the kernel has no Landlock"));
        assert_eq!(trial.unsealed_others(), others);
        assert_eq!(trial.seals()[0], "sealed: network all");
        assert_eq!(trial.seals()[1..], others);
    }
}
