//! Suites and their requirements.

use std::collections::BTreeSet;

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::execution::{REFERENCE_ARMS, SKILL_DIRECTORIES, SuiteRequires, WITH_SKILL};
use crate::grader::common_keys::ASSERTIONS;
use crate::json::{FromJson, ToJson};
use crate::keys::CANARY;
use crate::message::INPUT;
use crate::workspace::WORKSPACE;
use crate::{Case, Layout, Location, SealMode, Target, Workspace};

/// `EVAL.yaml`, `EVAL.yml`, or any file whose name ends in `.eval.yaml`: what the cases of a suite share, and where they are.
///
/// ```
/// use evalsuite_schema::Suite;
///
/// fn targets(suite: &Suite) -> Vec<&str> {
///     suite.targets.iter().map(|target| target.name.as_str()).collect()
/// }
/// ```
#[skip_empty(.., digest, fail_on_error)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[json(fill = "Suite::unread")]
#[keys(id = "eval-file", what = "an eval file", common = keys::SCHEMA_KEY, fill)]
#[also(requires: Object(SuiteRequires::TABLE), "{env: [API_KEY]}", "What every case needs.", by_hand)]
#[also(input: INPUT, "You are the support of a shop.", "Messages that precede the input of every case.",
    codes(MissingInput, InvalidInput, RoleMarker, UnknownTemplateVariable), by_hand)]
#[also(input_files: List(&File), "[./terms.txt]", "Input files of every case with a text `input`.",
    codes(InputFilesWithMessages, EmptyFile), by_hand)]
#[also(execution: Object(crate::SuiteExecution::TABLE), "{threshold: 0.9}", "How the cases run.", by_hand)]
#[also(assertions: ASSERTIONS, "[{type: latency, threshold: 5000}]", "Graders of every case, after its own.",
    old("assert", "evaluators"), by_hand)]
#[also(evaluator: Choice(&["llm-grader"]), "llm-grader", "How cases are graded.", replaced = "assertions` with `type: llm-grader", by_hand)]
#[also(preprocessors: List(&Object(crate::grader::Preprocessor::TABLE)), "[{type: pdf, command: [./pdf_to_text.sh]}]",
    "Commands that turn files in an answer into text for graders.", by_hand)]
#[also(tests: OneOf(&[Literal, Some(&OneOf(&[Literal, Object(Case::IN_LIST)]))]), "./cases/",
    "The cases: a list, whose elements are cases or `file://` with the path or glob of lists of cases; a directory of case directories; or the path of a list of cases (`.yaml`, `.yml`, `.jsonl`).",
    old("eval_cases", "evalcases"), default = "the directory `cases/`",
    codes(MissingTests, InvalidTests, NoCases, MissingPath, PathEscape, MissingCaseFile, TwoCaseFiles), by_hand)]
#[also(metadata: Data, "{team: refunds}",
    "Metadata of every case. In the metadata of a case, mappings are merged with these, lists are joined without repeats, and another value replaces the one here.",
    by_hand)]
#[also(governance: Data, "{controls: [ISO-42001-2023:6.1.2], owner: security}",
    "The risks and controls that the suite is evidence for: `metadata.governance` of every case, merged in the same way.",
    codes(ConflictingKeys), by_hand)]
#[also(target: Literal, "large", "The target.", replaced = "execution.target", by_hand)]
#[also(dataset: Any, "shop", "Name of the suite.", no_effect = "write `name`")]
#[also(defaults: Any, "{limit: 50}", "A place for YAML anchors.",
    no_effect = "cases get nothing from it; write `x-defaults` if the key is your own")]
#[non_exhaustive]
pub struct Suite {
    /// Name of the suite.
    #[key(Pattern("^[a-z0-9_-]{1,64}$", "1 to 64 characters out of a-z, 0-9, `-` and `_`"), "shop")]
    #[key(default = "the name of the directory; of a file `x.eval.yaml`, its stem", by_hand, codes(InvalidSuiteName))]
    pub name: String,
    /// Name of the agent, if the suite names one.
    pub agent_name: Option<String>,
    /// How the suite's files are laid out.
    pub layout: Layout,
    /// What the suite is for, which decides how several trials count. `capability`: one passed trial is enough. `regression`
    /// and `mixed`: every trial has to pass.
    #[key(Choice(SuiteKind::WORDS), "regression", default = "`capability`")]
    pub kind: SuiteKind,
    /// What the suite is about.
    #[key(Pattern(r"^(?=[\s\S]*\S)[\s\S]{1,1024}$", "text of at most 1024 characters"), "Refunds of a shop.", by_hand)]
    #[key(codes(OutOfRange))]
    pub description: Option<String>,
    /// Version of the suite, shown in records.
    #[key(AnyText, "\"1.2\"")]
    pub version: Option<String>,
    /// Author of the suite.
    #[key(AnyText, "Shop team")]
    pub author: Option<String>,
    /// License of the suite.
    #[key(AnyText, "MIT")]
    pub license: Option<String>,
    /// Tags of every case, for `cargo evalsuite run --tag`.
    #[key(List(&Text), "[nightly]")]
    pub tags: Vec<String>,
    /// Category in records.
    #[key(Text, "support/refunds", default = "the directories between package and eval file, without `evals`")]
    pub category: Option<String>,
    /// Where the suite is defined.
    pub location: Location,
    /// Directory of the suite: relative to the package root, with `/` separators; absolute if it is outside the package.
    pub root: String,
    /// SHA-256 over all files of the suite, in hexadecimal.
    pub digest: String,
    /// The target matrix; empty when the suite has none.
    pub targets: Vec<Target>,
    /// The directory agents work in; a mapping, or the path of a file with one.
    #[key(WORKSPACE, "{template: ./workspace}", codes(InvalidExternalFile), by_hand)]
    pub workspace: Option<Workspace>,
    /// Largest number of trials in parallel, over all processes (1 to 50).
    pub workers: Option<u32>,
    /// Budget in US dollars: once the suite has cost this much, no further trial starts.
    pub budget_usd: Option<f64>,
    /// After the first error outcome no further case starts.
    pub fail_on_error: bool,
    /// Whether commands that do not say so themselves are sealed: agents, code graders and hooks.
    pub sealed: Option<SealMode>,
    /// Thresholds for runs, which `cargo evalsuite gate` and `cargo evalsuite run` check: `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`.
    #[key(Some(&Literal), "[\"lower(pass_rate) >= 80%\", \"cost <= $2.50\"]", codes(InvalidGate), by_hand)]
    pub gates: Vec<String>,
    /// A GUID of this suite alone, also written in its case files as a comment. If the agent repeats it, the trial is an error with the code
    /// `saw_answers`.
    #[key(CANARY, "3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46", codes(OutOfRange), by_hand)]
    pub canary: Option<String>,
}

impl Suite {
    /// Before its JSON is read.
    fn unread() -> Self {
        Self::new("", Layout::default(), SuiteKind::default(), Location::default())
    }

    /// A suite with defaults for everything else.
    pub fn new(name: impl Into<String>, layout: Layout, kind: SuiteKind, location: Location) -> Self {
        Self {
            name: name.into(),
            agent_name: None,
            layout,
            kind,
            description: None,
            version: None,
            author: None,
            license: None,
            tags: Vec::new(),
            category: None,
            location,
            root: String::new(),
            digest: String::new(),
            targets: Vec::new(),
            workspace: None,
            workers: None,
            budget_usd: None,
            fail_on_error: false,
            sealed: None,
            gates: Vec::new(),
            canary: None,
        }
    }

    /// Whether it has targets of which one has the skill and another one does not, or has an older copy.
    pub fn has_arms(&self) -> bool {
        let has = |name: &str| self.targets.iter().any(|target| target.name == name);
        has(WITH_SKILL) && REFERENCE_ARMS.into_iter().any(has)
    }

    /// Whether the cases of this target are there to be compared with: it is an arm without the current skill.
    pub fn is_reference_arm(&self, target: &str) -> bool {
        REFERENCE_ARMS.contains(&target) && self.has_arms()
    }

    /// Where the skills of the targets may be in a workspace: no trial has one there that its own target does not bring.
    pub fn skill_places(&self) -> BTreeSet<String> {
        let copies = || self.targets.iter().flat_map(|target| &target.skill);
        let names = copies().filter_map(|copy| copy.to.rsplit('/').next());
        let usual = names.flat_map(|name| SKILL_DIRECTORIES.map(|directory| format!("{directory}/{name}")));
        usual.chain(copies().map(|copy| copy.to.clone())).collect()
    }

    /// The target with this name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }
}

/// How the trials of a case decide it without a `strategy`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum SuiteKind {
    /// One passed trial shows that the agent can do it.
    #[default]
    Capability,
    /// Every trial has to pass.
    Regression,
    /// Every trial has to pass.
    Mixed,
}

/// `suite.json`, next to a directory `tasks/` with a JSON file per task, or `cases/` with a directory per case.
#[derive(Debug, Keys)]
#[keys(id = "suite-json", what = "suite.json", common = keys::SCHEMA_KEY)]
pub struct SuiteJson {
    /// Name of the suite.
    #[key(Text, "Card agent", required)]
    pub name: Option<String>,
    /// Name of the agent: the macro calls the function of this name.
    #[key(Text, "card_agent", required)]
    pub agent_name: Option<String>,
    /// What the suite is for, which decides how several trials count. `capability`: one passed trial is enough. `regression`
    /// and `mixed`: every trial has to pass.
    #[key(Choice(SuiteKind::WORDS), "capability", default = "`mixed`")]
    pub kind: Option<SuiteKind>,
    /// Whether every task needs a `reference_solution`.
    #[key(Boolean, "true", name = "requireReferenceSolution", or = "require_reference_solution", default = "`false`")]
    #[key(codes(MissingReferenceSolution))]
    pub require_reference_solution: bool,
    /// Lowest score of a trial that passes.
    #[key(Number(&FRACTION), "0.8", name = "taskPassThreshold", or = "task_pass_threshold", default = "every grader has to pass")]
    pub task_pass_threshold: Option<f64>,
    /// Thresholds for runs, which `cargo evalsuite gate` and `cargo evalsuite run` check: `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`.
    #[key(Some(&Literal), "[\"lower(pass_rate) >= 80%\", \"cost <= $2.50\"]", codes(InvalidGate), by_hand)]
    pub gates: (),
    /// A GUID of this suite alone, also written in its tasks. If the agent repeats it, the trial is an error with the code `saw_answers`.
    #[key(CANARY, "\"3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46\"", codes(OutOfRange), by_hand)]
    pub canary: (),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{OLD_SKILL, WITHOUT_SKILL};
    use crate::{PathRef, WorkspaceCopy};

    fn suite(targets: &[&str]) -> Suite {
        let mut suite = Suite::new("s", Layout::Skill, SuiteKind::Capability, Location::new("f", 1, 1));
        suite.targets = targets.iter().map(|name| Target::new(*name)).collect();
        suite
    }

    #[test]
    fn only_targets_that_differ_in_the_skill_are_arms() {
        assert!(suite(&[WITH_SKILL, WITHOUT_SKILL]).has_arms() && suite(&[OLD_SKILL, WITH_SKILL]).has_arms());
        assert!(!suite(&[WITH_SKILL]).has_arms() && !suite(&[WITHOUT_SKILL, OLD_SKILL]).has_arms());
        let both = suite(&[WITH_SKILL, WITHOUT_SKILL, "gpt"]);
        let references: Vec<_> = both.targets.iter().filter(|target| both.is_reference_arm(&target.name)).collect();
        assert_eq!(references.len(), 1);
        assert!(!suite(&[WITHOUT_SKILL]).is_reference_arm(WITHOUT_SKILL));
    }

    #[test]
    fn a_skill_is_searched_wherever_agents_look_for_it() {
        let mut suite = suite(&[WITH_SKILL, WITHOUT_SKILL]);
        let to = "tools/skills/csv".to_owned();
        suite.targets[0].skill = vec![WorkspaceCopy { from: PathRef::new("csv"), to, without: Vec::new() }];
        let places: Vec<String> = suite.skill_places().into_iter().collect();
        assert_eq!(
            places,
            [".agents/skills/csv", ".claude/skills/csv", ".codex/skills/csv", ".github/skills/csv", "tools/skills/csv"]
        );
    }
}
