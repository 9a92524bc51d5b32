//! The codes of diagnostics: one table with code, name and meaning. Codes that start with `E` are errors, with `W` warnings.

use std::borrow::Cow;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether a suite with a [`Diagnostic`](super::Diagnostic) can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The suite cannot be used.
    Error,
    /// The suite can be used, but something in it is probably a mistake.
    Warning,
}

impl Severity {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal $(, one_cause = $one_cause:literal)?;)*) => {
        /// The kind of a [`Diagnostic`](super::Diagnostic). Codes that start with `E` are errors, with `W` warnings.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code, such as `E019`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)* }
            }

            /// The name, such as `unknown-key`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// Whether problems with this code and the same message have one cause, such as a grader that is not registered or a key
            /// that a template of cases misspells.
            pub(crate) fn has_one_cause(self) -> bool {
                match self { $(Code::$variant => false $(|| $one_cause)?,)* }
            }
        }
    };
}

impl Code {
    /// Whether it is an error or a warning.
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('E') { Severity::Error } else { Severity::Warning }
    }

    /// The code with this name, by which warnings are allowed.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.as_str(), self.name())
    }
}

codes! {
    /// A file cannot be read, or a name is not UTF-8.
    UnreadableFile = "E001", "unreadable-file";
    /// Bytes are not UTF-8.
    InvalidUtf8 = "E002", "invalid-utf8";
    /// YAML cannot be parsed.
    YamlSyntax = "E003", "yaml-syntax";
    /// JSON (file or JSONL line) cannot be parsed.
    JsonSyntax = "E004", "json-syntax";
    /// A mapping key occurs twice.
    DuplicateKey = "E005", "duplicate-key";
    /// `---` starts a second document.
    MultipleDocuments = "E006", "multiple-documents";
    /// The root is empty, a list or a scalar.
    RootNotMapping = "E007", "root-not-mapping";
    /// Depth, alias expansion, size, case count.
    LimitExceeded = "E008", "limit-exceeded";
    /// `<<` is not a mapping or list of mappings.
    BadMergeKey = "E009", "bad-merge-key";
    /// The macro's path does not exist.
    EntryNotFound = "E010", "entry-not-found";
    /// Nothing recognisable in the directory.
    NoSuiteFile = "E011", "no-suite-file";
    /// More than one suite file.
    SeveralSuiteFiles = "E012", "several-suite-files";
    /// Entry file of another kind.
    UnsupportedSuiteFile = "E013", "unsupported-suite-file";
    /// Both `tasks` and `cases` are next to suite.json, or neither.
    AmbiguousLayout = "E014", "ambiguous-layout";
    /// A source yields zero cases.
    NoCases = "E015", "no-cases";
    /// Case.yaml and case.yml.
    TwoCaseFiles = "E016", "two-case-files";
    /// Absolute path, `..` or link out of the root, link loop.
    PathEscape = "E017", "path-escape", one_cause = true;
    /// Named path missing or of the wrong kind.
    MissingPath = "E018", "missing-path", one_cause = true;
    /// Key not in the schema.
    UnknownKey = "E019", "unknown-key", one_cause = true;
    /// Another type than required.
    WrongType = "E020", "wrong-type";
    /// A required key is absent.
    MissingKey = "E021", "missing-key";
    /// Text is empty.
    BlankValue = "E022", "blank-value";
    /// Value not among the choices.
    InvalidChoice = "E023", "invalid-choice";
    /// Number outside its range.
    OutOfRange = "E024", "out-of-range";
    /// Two spellings of one setting.
    ConflictingKeys = "E025", "conflicting-keys";
    /// Known in a source format, removed or unsupported.
    UnsupportedKey = "E026", "unsupported-key", one_cause = true;
    /// `${{ }}` in a structural value.
    InterpolationNotAllowed = "E027", "interpolation-not-allowed";
    /// Settings that exclude each other or are not allowed here (also `strategy: pass_at_k` with kind regression/mixed).
    SettingConflict = "E028", "setting-conflict";
    /// Number, boolean, blank, control character.
    InvalidId = "E029", "invalid-id";
    /// An id occurs twice.
    DuplicateId = "E030", "duplicate-id";
    /// Two cases, one test path.
    TestNameCollision = "E031", "test-name-collision";
    /// Eval file or skill: `name` pattern or length; skill: not the name of its directory.
    InvalidSuiteName = "E032", "invalid-suite-name";
    /// No or empty `input`.
    MissingInput = "E033", "missing-input";
    /// No grader, criteria, expected output, turns.
    NothingToGrade = "E034", "nothing-to-grade";
    /// `input` is an object or other kind.
    InvalidInput = "E035", "invalid-input";
    /// `input_files` with a message list.
    InputFilesWithMessages = "E036", "input-files-with-messages";
    /// Bad role, no content, not a mapping.
    InvalidMessage = "E037", "invalid-message";
    /// Part without type/value, unknown type.
    InvalidContentPart = "E038", "invalid-content-part";
    /// Unusable shape.
    InvalidExpectedOutput = "E039", "invalid-expected-output";
    /// Turns without mode, mode without turns or user, with expected_output, empty turn.
    ConversationMismatch = "E040", "conversation-mismatch";
    /// No `tests`, no `cases/`.
    MissingTests = "E041", "missing-tests";
    /// Unusable `tests` or entry.
    InvalidTests = "E042", "invalid-tests";
    /// A case list, workspace file or template of the wrong shape (`workspace:` wrapper, mapping instead of list).
    InvalidExternalFile = "E043", "invalid-external-file";
    /// Template missing or malformed.
    IncludeNotFound = "E044", "include-not-found", one_cause = true;
    /// Cycle or > 3 levels.
    IncludeCycle = "E045", "include-cycle";
    /// Unknown or own id.
    UnknownDependency = "E046", "unknown-dependency";
    /// Cycle.
    DependencyCycle = "E047", "dependency-cycle";
    /// Required by the suite.
    MissingReferenceSolution = "E048", "missing-reference-solution";
    /// Task without graders.
    NoGraders = "E049", "no-graders";
    /// Not built in, not registered.
    UnknownGrader = "E050", "unknown-grader", one_cause = true;
    /// `code-judge`, `llm-judge`.
    RemovedGraderType = "E051", "removed-grader-type", one_cause = true;
    /// Value, mode, minimums, expected (also `[]` with in_order), fields, threshold, budget, skill, criteria, aggregator; a judge grader with nothing to judge by.
    MissingGraderSetting = "E052", "missing-grader-setting";
    /// Pattern or flag.
    InvalidRegex = "E053", "invalid-regex";
    /// Gap, overlap, not starting at 0, not integers.
    InvalidScoreRanges = "E054", "invalid-score-ranges";
    /// No outcome, repeated id, bad min_score.
    InvalidRubric = "E055", "invalid-rubric";
    /// No members, weights name no member, two unnamed members share an automatic name, bad aggregator.
    InvalidComposite = "E056", "invalid-composite";
    /// Field-accuracy path absent from literal expected_output.
    FieldNotInExpected = "E057", "field-not-in-expected";
    /// Empty command or argv element.
    InvalidCommand = "E058", "invalid-command";
    /// Prompt file uses neither output nor expected_output.
    PromptWithoutAnswer = "E059", "prompt-without-answer";
    /// Negative or not a number.
    InvalidWeight = "E060", "invalid-weight";
    /// All graders of a case weigh 0.
    ZeroTotalWeight = "E061", "zero-total-weight";
    /// Code-grader extra key close to a known one.
    NearMissKey = "E062", "near-miss-key";
    /// Registered name is a built-in type, or two fold to one name.
    GraderRegistration = "E063", "grader-registration";
    /// A case names a target outside the matrix, or the matrix lists one twice.
    InvalidTarget = "E064", "invalid-target", one_cause = true;
    /// `workspace.docker`.
    UnsupportedDocker = "E065", "unsupported-docker", one_cause = true;
    /// Static mode, in-place path, .code-workspace, `shared` without suite template.
    UnsupportedWorkspace = "E066", "unsupported-workspace", one_cause = true;
    /// Source missing, bad path, twice.
    InvalidRepo = "E067", "invalid-repo";
    /// Wrong shape, unknown hook.
    InvalidHook = "E068", "invalid-hook";
    /// Fixture_dir or base_fixture missing.
    MissingFixture = "E069", "missing-fixture", one_cause = true;
    /// None found, or invalid.
    TargetsFile = "E070", "targets-file";
    /// Provider other than cli, batching, unknown name.
    TargetNotRunnable = "E071", "target-not-runnable", one_cause = true;
    /// `{TOKEN}` in a cli command.
    UnknownPlaceholder = "E072", "unknown-placeholder", one_cause = true;
    /// `${{ X }}` unset (run time).
    UnsetVariable = "E073", "unset-variable";
    /// A user grader refuses its config (`suite_check`).
    GraderConfigRejected = "E074", "grader-config-rejected";
    /// Directory differs from the compiled suite (`suite_check`).
    SuiteChanged = "E075", "suite-changed";
    /// The schema of a `json-schema` grader is invalid, or refers outside its file.
    InvalidJsonSchema = "E076", "invalid-json-schema";
    /// A sample of a calibration does not name a case of the suite, or names one that does not ask the judge.
    UnknownSampleCase = "E077", "unknown-sample-case";
    /// A calibration with fewer than two samples.
    TooFewSamples = "E078", "too-few-samples";
    /// A grader needs a feature of evalsuite that is not compiled in.
    MissingFeature = "E079", "missing-feature", one_cause = true;
    /// A gate of a suite cannot be read, or is about something else than the suite.
    InvalidGate = "E080", "invalid-gate";
    /// A link below the suite leads to a directory that cargo should not search for changes.
    LinkedDirectory = "E081", "linked-directory";
    /// `{{ x }}` is not among the variables of a case that has `vars`.
    UnknownVariable = "E090", "unknown-variable", one_cause = true;
    /// A simulated user that the macro does not list.
    UnknownUser = "E091", "unknown-user", one_cause = true;
    /// A grader that passes whatever the answer is.
    GraderCannotFail = "E095", "grader-cannot-fail";
    /// A grader that fails whatever the answer is.
    GraderCannotPass = "E096", "grader-cannot-pass";
    /// A text to look for has a control character, which escapes such as `\b` make.
    ControlCharacter = "E097", "control-character";
    /// Old spelling.
    DeprecatedKey = "W001", "deprecated-key", one_cause = true;
    /// Directory without case file.
    MissingCaseFile = "W002", "missing-case-file";
    /// `required: 0.7`, `required_min_score`.
    DeprecatedValue = "W003", "deprecated-value", one_cause = true;
    /// Accepted setting or file without effect here (cache, pooled mode, `shared` for a case with its own template, YAML next to a .jsonl entry).
    NoEffect = "W004", "no-effect", one_cause = true;
    /// Flag g or y.
    IgnoredRegexFlag = "W005", "ignored-regex-flag", one_cause = true;
    /// `@[User]:` inside content.
    RoleMarker = "W006", "role-marker";
    /// `{{ x }}` not known in a prompt or hook command.
    UnknownTemplateVariable = "W007", "unknown-template-variable", one_cause = true;
    /// A referenced text file is empty.
    EmptyFile = "W008", "empty-file", one_cause = true;
    /// An argv element starts with `./` or `../` but does not exist.
    ArgumentNotFound = "W009", "argument-not-found", one_cause = true;
    /// Regex with interpolation.
    CheckedAtRunTime = "W010", "checked-at-run-time";
    /// Explicit name used twice.
    RepeatedGraderName = "W011", "repeated-grader-name";
    /// Entry leaves the package.
    SuiteOutsidePackage = "W012", "suite-outside-package";
    /// Ancestor ≥ depth.
    ShallowAncestor = "W013", "shallow-ancestor";
    /// Inline prompt looks like a path.
    PathLikePrompt = "W014", "path-like-prompt";
    /// `agent = "cli"` and no targets file found while building.
    NoTargetsFile = "W015", "no-targets-file";
    /// The macro lists a grader that no file of the suite names.
    UnusedGrader = "W016", "unused-grader";
    /// The files that cases need are too large, or cannot be read, to travel in the test program.
    NotEmbedded = "W017", "not-embedded";
    /// A grader names a judge that the macro does not list, and no targets file was found.
    UnknownJudge = "W018", "unknown-judge";
    /// `agent = "cli"` and a target of the suite that the targets file found while building does not define.
    UndefinedTarget = "W019", "undefined-target";
    /// A YAML, JSON or JSONL file below the case directories that nothing uses.
    UnusedFile = "W020", "unused-file";
    /// Cases with `criteria` and graders, none of which judges the criteria.
    UnjudgedCriteria = "W021", "unjudged-criteria";
    /// A plain YAML text ends at a `#` that is followed by a letter or digit.
    TextCutByComment = "W022", "text-cut-by-comment";
    /// A case with an empty list of assertions and nothing else to grade.
    UngradedCase = "W023", "ungraded-case", one_cause = true;
    /// A plain text among assertions, which a judge decides, starts like a grader.
    GraderLikeCriterion = "W024", "grader-like-criterion";
    /// `skill_name` of the evals is not the name of the skill, or the root of a repository has another name than the skill in it.
    SkillNameMismatch = "W025", "skill-name-mismatch";
    /// A plain YAML text is inside typographic quotes, which are part of the text.
    CurlyQuotes = "W026", "curly-quotes";
    /// The paths of two case files differ only in upper and lower case.
    NamesDifferInCase = "W027", "names-differ-in-case";
    /// A limit is so low that it is probably written in another unit.
    UnlikelyLimit = "W028", "unlikely-limit";
    /// No agent has called a tool that a grader names, and no other grader names it (`cargo evalsuite check`, after a run).
    UncalledTool = "W029", "uncalled-tool";
    /// A made-up result of an agent that did nothing passes a case (`cargo evalsuite probe`).
    PassesWithoutWork = "W030", "passes-without-work";
    /// A case that may pass without work also passes for an agent that acts (`cargo evalsuite probe`).
    NothingFails = "W031", "nothing-fails";
    /// The reference of a case does not pass it (`cargo evalsuite probe`).
    ReferenceFails = "W032", "reference-fails";
    /// The reference of a case passes however it is broken (`cargo evalsuite probe`).
    BrokenReferencesPass = "W033", "broken-references-pass";
    /// No probe and no recorded trial fails a grader (`cargo evalsuite probe`).
    VacuousGrader = "W034", "vacuous-grader";
    /// Neither the reference nor a recorded trial passes a grader (`cargo evalsuite probe`).
    ImpossibleGrader = "W035", "impossible-grader";
    /// All graders of a case are limits on time, tokens or cost (`cargo evalsuite probe`).
    OnlyLimits = "W036", "only-limits";
    /// The front matter of a skill has something that the reference reader of Agent Skills refuses, or reads otherwise.
    UnportableSkill = "W037", "unportable-skill";
    /// Files with answers, or the canary of the suite, are in what an agent is given.
    AnswersInReach = "W038", "answers-in-reach";
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <Cow<'de, str>>::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is not the name of a diagnostic")))
    }
}
