//! The keys of an Agent Skill and of its evals.

use evalsuite_derive::Keys;

use crate::execution::{OldSkill, WITH_SKILL, WITHOUT_SKILL};
use crate::keys::{CANARY, ID};
use crate::{Object, Value};

/// The front matter of `SKILL.md`: YAML between two lines `---` at the start of the file. Every scalar is text: `version: 1.10` is `1.10`.
#[derive(Debug, Keys)]
#[keys(id = "skill", what = "the front matter of SKILL.md")]
pub struct Skill {
    /// Name of the skill, which is also the name of its directory.
    #[key(
        Pattern(
            r"^(?=.{1,64}$)[\p{Ll}\p{Lm}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lm}\p{Lo}\p{N}]+)*$",
            "1 to 64 lowercase letters, digits and `-`, without a `-` at an end or next to another"
        ),
        "pdf-forms",
        required,
        codes(InvalidSuiteName, SkillNameMismatch),
        by_hand
    )]
    pub name: (),
    /// What the skill does, and when an agent should use it.
    #[key(
        Pattern(r"^(?=[\s\S]*\S)[\s\S]{1,1024}$", "text of at most 1024 characters"),
        "Fills PDF forms. Use it when a form has to be completed.",
        required,
        codes(OutOfRange),
        by_hand
    )]
    pub description: (),
    /// License of the skill, or the name of a file with it.
    #[key(AnyText, "MIT")]
    pub license: Option<String>,
    /// What the skill needs: programs, network, agents.
    #[key(Pattern(r"^[\s\S]{0,500}$", "text of at most 500 characters"), "Needs Python 3 and the network.", by_hand)]
    #[key(codes(OutOfRange))]
    pub compatibility: (),
    /// Texts by name, for other programs.
    #[key(Map(&AnyText), "\n  author: shop-team", by_hand)]
    pub metadata: (),
    /// Tools that the agent may use without asking.
    #[key(OneOf(&[AnyText, List(&Text)]), "\"Bash(python:*) Read\"", name = "allowed-tools", by_hand)]
    pub allowed_tools: (),
    /// Version of the skill. This key and the following ones are extensions that some agents read.
    #[key(Any, "\"1.2\"", codes(UnportableSkill))]
    pub version: Option<Value>,
    /// Model that the agent uses with the skill.
    #[key(Any, "opus")]
    pub model: Option<Value>,
    /// Effort of the model.
    #[key(Any, "high")]
    pub effort: Option<Value>,
    /// Arguments of the skill as a command.
    #[key(Any, "\"[file]\"", name = "argument-hint")]
    pub argument_hint: Option<Value>,
    /// Names of the arguments.
    #[key(Any, "\n  - file")]
    pub arguments: Option<Value>,
    /// When the agent should use the skill, added to the description.
    #[key(Any, "When a form is mentioned.")]
    pub when_to_use: Option<Value>,
    /// Whether only users start the skill.
    #[key(Any, "true", name = "disable-model-invocation")]
    pub disable_model_invocation: Option<Value>,
    /// Whether users can start the skill.
    #[key(Any, "false", name = "user-invocable")]
    pub user_invocable: Option<Value>,
    /// Whether the skill runs in a subagent.
    #[key(Any, "fork")]
    pub context: Option<Value>,
    /// Kind of the subagent.
    #[key(Any, "Explore")]
    pub agent: Option<Value>,
    /// Commands that run while the skill is used.
    #[key(Any, "\n  Stop:\n    - hooks:\n        - type: command\n          command: ./check.sh")]
    pub hooks: Option<Value>,
    /// Files with which the skill is used.
    #[key(Any, "\n  - \"**/*.pdf\"")]
    pub paths: Option<Value>,
    /// Shell of the commands in the skill.
    #[key(Any, "bash")]
    pub shell: Option<Value>,
}

/// `evals/evals.json` of an Agent Skill: the cases of its suite.
#[derive(Debug, Keys)]
#[keys(id = "skill-evals", what = "evals.json", common = keys::SCHEMA_KEY)]
pub struct SkillEvals {
    /// Name of the skill.
    #[key(Text, "\"pdf-forms\"", default = "the `name` of `SKILL.md`", codes(SkillNameMismatch), by_hand)]
    pub skill_name: (),
    /// What the evals are about.
    #[key(AnyText, "\"Forms of three offices.\"")]
    pub description: Option<String>,
    /// Version of the evals, shown in records.
    #[key(AnyText, "\"1.2\"")]
    pub version: Option<String>,
    /// Metadata of every case, merged as that of an eval file.
    #[key(Data, "{\"team\": \"forms\"}")]
    pub metadata: Object,
    /// A GUID of these evals alone. If the agent repeats it, the trial is an error with the code `saw_answers`.
    #[key(CANARY, "\"3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46\"", codes(OutOfRange), by_hand)]
    pub canary: (),
    /// What is compared in one run: `with_skill`, and `without_skill` or `{"old_skill": PATH}`, as targets of these names. Without the key,
    /// every trial has the skill.
    #[key(
        Some(&OneOf(&[Choice(&[WITH_SKILL, WITHOUT_SKILL]), Object(OldSkill::TABLE)])),
        "[\"with_skill\", \"without_skill\"]",
        codes(InvalidTarget),
        by_hand
    )]
    pub arms: (),
    /// Directories of the workspace in which agents look for skills: each gets a copy of the skill.
    #[key(Some(&Literal), "[\".claude/skills\"]", default = "`[\".agents/skills\"]`", codes(PathEscape), by_hand)]
    pub skill_directories: (),
    /// Number of trials of every eval in every arm.
    #[key(Integer(1, u32::MAX as u64), "3", default = "`1`", init = 1)]
    pub trials: u32,
    /// Thresholds for runs, as in an `EVAL.yaml`: `lift > 0` asks for a skill that helps.
    #[key(Some(&Literal), "[\"lift > 0\"]", codes(InvalidGate), by_hand)]
    pub gates: (),
    /// The cases, at least one.
    #[key(
        Some(&Object(SkillEval::TABLE)),
        "[{\"id\": 1, \"prompt\": \"Fill in form.pdf.\", \"expectations\": [\"Every field is filled.\"]}]",
        required,
        codes(NoCases),
        by_hand
    )]
    pub evals: (),
}

/// One eval of an Agent Skill.
#[derive(Debug, Keys)]
#[keys(id = "skill-eval", what = "an eval")]
pub struct SkillEval {
    /// Identifies the case in the suite and names its test.
    #[key(OneOf(&[Integer(0, u64::MAX), ID]), "1", required, codes(InvalidId, DuplicateId, TestNameCollision), by_hand)]
    pub id: (),
    /// What the agent is asked: one message of the user.
    #[key(Text, "\"Fill in form.pdf for Ada Lovelace.\"", required, codes(MissingInput), by_hand)]
    pub prompt: (),
    /// What a good answer does. A judge grades the answer by it if there are no `expectations`, and sees it if there are.
    #[key(Text, "\"A filled-in form with Ada's name and address.\"")]
    pub expected_output: Option<String>,
    /// What has to be true of the work of the agent. A judge decides each one.
    #[key(
        List(&OneOf(&[Text, Object(SkillExpectation::TABLE)])),
        "[\"Every required field is filled.\", {\"name\": \"form-unchanged\", \"text\": \"form.pdf itself is unchanged.\"}]",
        or = "assertions",
        codes(ConflictingKeys, NothingToGrade, UngradedCase, InvalidRubric),
        by_hand
    )]
    pub expectations: (),
    /// Files and directories that are copied into the workspace under the same path. They are relative to the directory of the skill, or
    /// to that of evals.json.
    #[key(List(&Literal), "[\"evals/files/form.pdf\"]", codes(MissingPath, PathEscape), by_hand)]
    pub files: (),
    /// Whether the agent should use the skill. If the key is written, a `skill-trigger` grader checks it.
    #[key(Boolean, "false")]
    pub should_trigger: Option<bool>,
    /// Name of the eval: `name` of its metadata.
    #[key(AnyText, "\"simple form\"")]
    pub name: Option<String>,
    /// What the eval is about: `description` of its metadata.
    #[key(AnyText, "\"A form with every field.\"")]
    pub description: Option<String>,
    /// Group of the eval: `category` of its metadata.
    #[key(AnyText, "\"forms\"")]
    pub category: Option<String>,
    /// Tags of the eval: `tags` of its metadata.
    #[key(List(&Text), "[\"forms\"]")]
    pub tags: Vec<String>,
    /// Free-form data: graders and records get it.
    #[key(Data, "{\"failure_bucket\": \"forms\"}")]
    pub metadata: Object,
    /// Time limit of one call of the agent.
    #[key(Number(&POSITIVE), "240", default = "the target's, else 300", unit = "seconds")]
    pub timeout: Option<f64>,
}

/// What has to be true of the work of the agent, with a name.
#[derive(Debug, Keys)]
#[keys(id = "skill-expectation", what = "an expectation")]
pub struct SkillExpectation {
    /// What has to be true.
    #[key(Text, "\"form.pdf itself is unchanged.\"", required, or = "description")]
    pub text: String,
    /// Name of the expectation in results, which no other one of the eval has.
    #[key(Text, "\"form-unchanged\"", or = "id", default = "`expectation-` and its number")]
    pub name: Option<String>,
}
