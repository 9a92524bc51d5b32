//! How often and against which targets cases run, what they need of a machine, and arms: targets of a suite that differ in a skill.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::grader::common_keys::ASSERTIONS;
use crate::hooks::WrittenHooks;
use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::{Hooks, SealMode, WorkspaceCopy};

pub use crate::gate::WITH_SKILL;

/// Repetition of a case. **In a suite of kind `capability`, the default of an `EVAL.yaml`, more trials make a case *easier*.**
#[skip_empty(.., errors, correlated)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "trials")]
#[non_exhaustive]
pub struct Trials {
    /// Number of trials. Trials that can no longer change the verdict are not run, unless `EVALSUITE_RUN_ALL=1`.
    #[key(Integer(1, u32::MAX as u64), "3", required, init = 1)]
    pub count: u32,
    /// How the trials decide the case. `pass_at_k`: one passed trial is enough. `mean`: the mean of the scores reaches the
    /// threshold. `confidence_interval`: the lower bound of the 95 % interval of the mean reaches it.
    #[key(Choice(Strategy::WORDS), "mean")]
    #[key(default = "by the suite's `kind`")]
    #[key(codes(SettingConflict))]
    pub strategy: Option<Strategy>,
    /// No further trial of the case starts once its trials have cost this much.
    #[key(Number(&POSITIVE), "0.50", old("costLimitUsd"), default = "no limit", unit = "US dollars")]
    pub cost_limit_usd: Option<f64>,
    /// How many trials may end in an error, after their retries. They count as if they had not run. With more, the case ends in an error, even
    /// if other trials passed.
    #[key(Integer(0, u32::MAX as u64), "1", default = "`0`", init = 0)]
    pub errors: u32,
    /// Whether the trials of a case within one run resemble each other, as with a response cache or one seed per run. In comparisons and
    /// baselines, a run then counts as one trial of each case, and no case is repeated.
    #[key(Boolean, "true", default = "`false`", codes(SettingConflict))]
    pub correlated: bool,
}

impl Trials {
    /// A number of trials, at least 1.
    pub fn new(count: u32) -> Self {
        Self { count, strategy: None, cost_limit_usd: None, errors: 0, correlated: false }
    }
}

impl Default for Trials {
    fn default() -> Self {
        Self::new(1)
    }
}

/// How the trials of a case decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum Strategy {
    /// One passed trial passes the case.
    PassAtK,
    /// The mean of the scores is compared with the threshold.
    Mean,
    /// The lower bound of the 95 % confidence interval of the mean is compared with the threshold.
    ConfidenceInterval,
}

/// One target of the matrix.
#[skip_empty(.., hooks, skill)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "suite-target", what = "a target", by_hand)]
pub struct Target {
    /// Name of the target, part of the names of its tests.
    #[key(Literal, "large", required, codes(InvalidTarget), by_hand)]
    pub name: String,
    /// Entry of the targets file that is used under this name.
    #[key(Text, "gpt", default = "the entry named `name`")]
    pub use_target: Option<String>,
    /// Hooks of this target, around those of the workspace.
    #[key(Object(WrittenHooks::TABLE), "{before_all: ./start}", by_hand)]
    pub hooks: Hooks,
    /// Directory of a skill that only the trials of this target have in their workspace. Targets `with_skill` and `without_skill` or `old_skill`
    /// are the arms of a comparison, see [skills](../skills.md).
    #[key(OneOf(&[Directory, Object(TargetSkill::TABLE)]), "./skills/pdf-forms")]
    #[key(codes(MissingPath, PathEscape, InvalidTarget, SettingConflict), by_hand)]
    pub skill: Vec<WorkspaceCopy>,
}

impl Target {
    /// A target with a name and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), use_target: None, hooks: Hooks::default(), skill: Vec::new() }
    }
}

/// Keys of `execution` of a suite and of a case.
#[derive(Debug, Keys)]
pub struct CommonExecution {
    /// The target the cases run against, where there is no matrix.
    #[key(Literal, "large", default = "`default`", codes(ConflictingKeys, InvalidTarget), by_hand)]
    pub target: (),
    /// How often a case runs, and how its trials decide it. The object of a case replaces the suite's.
    #[key(Object(Trials::TABLE), "{count: 3}", default = "one trial", by_hand)]
    pub trials: (),
    /// Lowest score of a trial that passes.
    #[key(Number(&FRACTION), "0.9", default = "0.8")]
    pub threshold: Option<f64>,
    /// Time limit of one call of the agent.
    #[key(Number(&POSITIVE), "60", default = "the target's, else 300", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// Graders.
    #[key(
        ASSERTIONS,
        "[{type: is-json}]",
        old("assert", "evaluators"),
        replaced = "assertions` next to `execution",
        by_hand
    )]
    pub assertions: (),
}

/// How the cases of a suite run. Each setting of a case's own `execution` takes precedence.
#[derive(Debug, Keys)]
#[keys(id = "suite-execution", what = "`execution`")]
pub struct SuiteExecution {
    /// What cases have, too.
    #[key(flatten)]
    pub common: CommonExecution,
    /// The target matrix: every case runs once against each of these targets, as a test of its own.
    #[key(Some(&OneOf(&[Literal, Object(Target::TABLE)])), "[small, {name: large}]", codes(ConflictingKeys, InvalidTarget, OutOfRange),
        by_hand)]
    pub targets: (),
    /// Budget of the suite in one run.
    #[key(Number(&POSITIVE), "2.50", old("budgetUsd"), default = "no limit", unit = "US dollars")]
    pub budget_usd: Option<f64>,
    /// Maximum number of trials that run in parallel, across all processes.
    #[key(Integer(1, 50), "4", default = "no limit")]
    pub workers: Option<u32>,
    /// Whether the run of the suite stops after the first error.
    #[key(Boolean, "true", old("failOnError"), default = "`false`")]
    pub fail_on_error: bool,
    /// Default of `sealed` for agents of a targets file, code graders and hooks.
    #[key(Choice(SealMode::WORDS), "auto", default = "`off`")]
    pub sealed: Option<SealMode>,
    /// Whether answers are cached.
    #[key(Boolean, "true")]
    #[key(no_effect = "record and replay answers with `EVALSUITE_MODE=record` and `EVALSUITE_MODE=replay`")]
    pub cache: (),
    /// Where answers are cached.
    #[key(AnyText, ".cache", old("cachePath"))]
    #[key(no_effect = "record and replay answers with `EVALSUITE_MODE=record` and `EVALSUITE_MODE=replay`")]
    pub cache_path: (),
    /// The old name of `budget_usd`.
    #[key(Any, "5", refused(UnsupportedKey, "`total_budget_usd` was replaced", "use `budget_usd`"))]
    pub total_budget_usd: (),
    /// The old name of `budget_usd`.
    #[key(Any, "5")]
    #[key(name = "totalBudgetUsd", refused(UnsupportedKey, "`totalBudgetUsd` was replaced", "use `budget_usd`"))]
    pub old_total_budget_usd: (),
    /// A key of cases.
    #[key(
        Any,
        "true",
        refused(SettingConflict, "`skip_defaults` has no meaning in a suite", "write it in the `execution` of a case",)
    )]
    pub skip_defaults: (),
}

/// How a case runs.
#[derive(Debug, Keys)]
#[keys(id = "case-execution", what = "`execution` of a case")]
pub struct CaseExecution {
    /// What suites have, too.
    #[key(flatten)]
    pub common: CommonExecution,
    /// The targets of the suite's matrix this case runs against.
    #[key(List(&Literal), "[large]", default = "all of them", codes(ConflictingKeys, InvalidTarget), by_hand)]
    pub targets: (),
    /// Leaves out the suite's `input`, `input_files` and `assertions`.
    #[key(Boolean, "true", default = "`false`")]
    pub skip_defaults: bool,
}

/// What a case needs. A case whose requirements are not met is skipped; the message names what is missing.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "case-requires", what = "`requires`")]
pub struct Requires {
    /// Environment variables that have to be set and not empty.
    #[key(List(&Text), "[API_KEY]")]
    pub env: Vec<String>,
    /// Programs that have to be on the `PATH`.
    #[key(List(&Text), "[cargo]")]
    pub commands: Vec<String>,
}

/// What every case of a suite needs. A case whose requirements are not met is skipped.
#[derive(Debug, Keys)]
#[keys(id = "suite-requires", what = "`requires`")]
pub struct SuiteRequires {
    /// What cases can need, too.
    #[key(flatten)]
    pub common: Requires,
    /// Versions of evalsuite that read the suite, as in a Cargo.toml.
    #[key(Literal, "\">=0.1\"", codes(OutOfRange))]
    pub evalsuite: Option<String>,
    /// Versions of another tool.
    #[key(AnyText, "\">=4\"", no_effect = "say which evalsuite is needed with `evalsuite: \">=0.1\"`")]
    pub agentv: (),
}

/// The target whose trials do not have it.
pub const WITHOUT_SKILL: &str = "without_skill";
/// The target whose trials have an older copy of it.
pub const OLD_SKILL: &str = "old_skill";

/// The targets that [`WITH_SKILL`] is compared with, in the order in which one is chosen.
pub const REFERENCE_ARMS: [&str; 2] = [WITHOUT_SKILL, OLD_SKILL];

/// Where agents look for skills in their working directory, the default first.
pub const SKILL_DIRECTORIES: [&str; 4] = [".agents/skills", ".claude/skills", ".codex/skills", ".github/skills"];

/// The skill of a target: trials of the suite's other targets do not get it.
#[derive(Debug, Keys)]
#[keys(id = "target-skill", what = "`skill`", by_hand)]
pub struct TargetSkill {
    /// Directory of the skill, with `SKILL.md`. Its `evals` are left out.
    #[key(Directory, "./skills/pdf-forms", required, codes(PathEscape), by_hand)]
    pub path: (),
    /// Directories of the workspace in which agents look for skills: each gets a copy.
    #[key(Some(&Literal), "[.claude/skills]", default = "`[.agents/skills]`", codes(PathEscape), by_hand)]
    pub directories: (),
}

/// An arm with an older copy of the skill.
#[derive(Debug, Keys)]
#[keys(id = "old-skill", what = "an arm", by_hand)]
pub struct OldSkill {
    /// Directory of the older copy, with its `SKILL.md`, below the directory of the skill; agents do not get what is in `evals`.
    #[key(Directory, "evals/old-skill", required, codes(PathEscape, InvalidTarget), by_hand)]
    pub old_skill: (),
}
