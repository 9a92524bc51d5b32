//! Which cases run, for which target and with which agent; the variables, programs and judges without which a case is skipped; and what is
//! wrong with the settings of graders written in Rust.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use evalsuite_records::record::{Mode, ModelCalls, Reason, ReasonCode, Stage, Status};
use evalsuite_schema::diagnostics::{Code, Diagnostic, suggest};
use evalsuite_schema::grader::AskedJudge;
use evalsuite_schema::sorting::set;
use evalsuite_schema::{Case, Grader, GraderConfig, SimulatedUser, Suite, Turn};

use crate::agents::command::cli_agent::CliAgent;
use crate::grade;
use crate::judge::judge_choice::JudgeChoice;
use crate::model::agent::{Bound, RustAgent};
use crate::model::evals::{Evals, Registry};
use crate::model::suite::EvalSuite;
use crate::model::suite_location::SuiteLocation;
use crate::platform::environment;
use crate::record::model_calls::{MODEL_CALLS, ModelCallServer};
use crate::run::case_report::{CaseError, decode_case};
use crate::run::settings::Settings;

/// Graders of a whole case: its own, else a judge that compares the answer with what the case expects. A conversation is judged as a whole
/// only by criteria, and if they are all that grades it or a simulated user takes part, of whose turns nothing is expected.
pub(crate) fn case_graders(case: &Case) -> Cow<'_, [Grader]> {
    let is_judged = case.conversation.as_ref().is_none_or(|conversation| {
        case.criteria.is_some() && (conversation.user.is_some() || !conversation.has_graded_turns())
    });
    match case.graders.is_empty() && is_judged {
        true => Cow::Owned(vec![grade::llm_grader::implicit(case.location.clone())]),
        false => Cow::Borrowed(&case.graders),
    }
}

/// Graders of a turn: its own, else a judge that compares the reply with the turn's expected output. A turn with neither
/// is not graded.
pub(crate) fn turn_graders(turn: &Turn, case: &Case) -> Vec<Grader> {
    if turn.graders.is_empty() && !turn.expected_output.is_empty() {
        return vec![grade::llm_grader::implicit(case.location.clone())];
    }
    turn.graders.clone()
}

/// What the paths of the graders and the files of a turn begin with.
pub(crate) fn turn_folder(index: u32) -> String {
    format!("turn-{index:03}")
}

/// Graders of a case, its turns and its composites that are not registered, or that reject their settings.
pub(crate) fn grader_problems(case: &Case, registry: &Registry) -> Vec<Diagnostic> {
    case.all_graders().flat_map(Grader::with_members).filter_map(|grader| problem(grader, registry)).collect()
}

fn problem(grader: &Grader, registry: &Registry) -> Option<Diagnostic> {
    let GraderConfig::User { grader: name, config } = &grader.config else { return None };
    let problem = match registry.grader(name) {
        None => Diagnostic::new(Code::UnknownGrader, format!("no grader named `{name}` is registered")),
        Some(registered) => {
            let error = registered.check(config).err()?;
            Diagnostic::new(Code::GraderConfigRejected, format!("grader `{name}` rejects its config: {error}"))
        }
    };
    Some(problem.at(&grader.location))
}

/// Why a case is skipped: a requirement that is not met, and how to meet it. `is_recorded` says whether there is a recording of the case.
pub(crate) fn unmet(
    case: &Case,
    suite: &EvalSuite,
    registry: &Registry,
    judges: &JudgeChoice,
    mode: Mode,
    is_recorded: impl FnOnce() -> bool,
) -> Option<Reason> {
    if case.workspace.as_ref().is_some_and(|workspace| workspace.docker) {
        let message = "docker workspaces are not supported";
        return Some(Reason::new(Stage::Requirements, ReasonCode::DockerUnsupported, message));
    }
    // There is neither a grader nor anything that a judge could grade by.
    let is_judged = match &case.conversation {
        Some(conversation) => case.criteria.is_some() || conversation.has_graded_turns(),
        None => case.criteria.is_some() || !case.expected_output.is_empty(),
    };
    if case.graders.is_empty() && !is_judged {
        return Some(missing("nothing grades the case", "add a grader to `assertions`, or `criteria`"));
    }
    // A replay needs neither the agent's keys nor a judge.
    let is_unset = |name: &&String| environment::var_os(name).is_none_or(|value| value.is_empty());
    if !matches!(mode, Mode::Replay | Mode::Regrade)
        && let Some(name) = case.requires.env.iter().find(is_unset)
    {
        let mut help = format!("set {name}");
        if is_recorded() {
            let command = suite_command(suite);
            help.push_str(&format!(", or replay the recording: `EVALSUITE_MODE=replay {command}`"));
        }
        return Some(missing(format!("environment variable {name} is not set"), help));
    }
    if let Some(program) = case.requires.commands.iter().find(|program| !is_on_path(program)) {
        let help = format!("install `{program}`, or add its directory to PATH");
        return Some(missing(format!("program `{program}` is not on PATH"), help));
    }
    let has_judge = judges.is_recorded || judges.has_default();
    (!has_judge && needs_judge(case, registry)).then(|| no_judge(suite))
}

fn missing(message: impl Into<String>, help: impl Into<String>) -> Reason {
    Reason::new(Stage::Requirements, ReasonCode::RequirementMissing, message).with_help(help)
}

/// Why a case without a judge is skipped, and how to supply one.
pub(crate) fn no_judge(suite: &EvalSuite) -> Reason {
    let feature = if cfg!(feature = "judge") { "" } else { " (with the feature `judge` of `evalsuite`)" };
    let command = suite_command(suite);
    let help = format!(
        "add `judge = …` to the suite's macro, or set EVALSUITE_JUDGE_URL, EVALSUITE_JUDGE_MODEL and \
         EVALSUITE_JUDGE_API_KEY{feature}; with a judge, `EVALSUITE_MODE=record {command}` records its replies for runs without one"
    );
    missing("needs a judge", help)
}

/// Turns a skip into an error where EVALSUITE_REQUIRE is set, unless the case was not selected.
pub(crate) fn refuse_skip(settings: &Settings, outcome: &mut Status, reason: &mut Option<Reason>) {
    let Some(reason) = reason else { return };
    if settings.require && *outcome == Status::Skipped && reason.code != ReasonCode::Filtered {
        *outcome = Status::Error;
        reason.code = ReasonCode::Required;
        let help = reason.help.take().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        reason.message = format!("{}, and EVALSUITE_REQUIRE=1 turns skipped cases into errors{help}", reason.message);
    }
}

/// Whether a grader or the simulated user asks the default judge. A named judge that does not exist is an error of what names it.
pub(crate) fn needs_judge(case: &Case, registry: &Registry) -> bool {
    any_asks(case, registry, |judge| judge == AskedJudge::Default)
}

/// Whether a grader or the simulated user asks a judge, the default one or a named one.
pub(crate) fn asks_judge(case: &Case, registry: &Registry) -> bool {
    any_asks(case, registry, |_| true)
}

/// Whether a grader compares the answer with the accepted one.
pub(crate) fn compares_with_baseline(case: &Case) -> bool {
    let mut graders = case.graders.iter().flat_map(Grader::with_members);
    graders.any(|grader| grader.config.settings().compares_with_baseline())
}

fn any_asks(case: &Case, registry: &Registry, is_wanted: fn(AskedJudge<'_>) -> bool) -> bool {
    let mut any = false;
    for_each_asked(case, registry, |judge| any |= is_wanted(judge));
    any
}

/// The judges that graders and the simulated user name, besides the default one; `None`: a grader in Rust asks, and may name any.
pub(crate) fn named_judges(case: &Case, registry: &Registry) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for_each_asked(case, registry, |judge| {
        if let AskedJudge::Named(name) = judge {
            names.insert(name.to_owned());
        }
    });
    let mut graders = case.all_graders().flat_map(Grader::with_members);
    (!graders.any(|grader| matches!(grader.config, GraderConfig::User { .. }))).then_some(names)
}

/// The judges that graders and the simulated user ask. A grader in Rust asks the default one, as far as is known here.
fn for_each_asked(case: &Case, registry: &Registry, mut see: impl FnMut(AskedJudge<'_>)) {
    let conversation = || case.conversation.iter();
    let of_turns = conversation().flat_map(|one| &one.turns).flat_map(|turn| turn_graders(turn, case));
    let of_user =
        conversation().flat_map(|one| one.user.iter().flat_map(|user| &user.graders).chain(&one.turn_graders));
    let graders = case_graders(case).into_owned().into_iter().chain(of_turns).chain(of_user.cloned());
    for grader in graders {
        for grader in grader.with_members() {
            match &grader.config {
                GraderConfig::User { grader, .. } => {
                    if registry.grader(grader).is_some_and(|grader| grader.needs_judge) {
                        see(AskedJudge::Default);
                    }
                }
                config => config.asked_judge().into_iter().for_each(&mut see),
            }
        }
    }
    case.user().and_then(SimulatedUser::asked_judge).into_iter().for_each(see);
}

/// Whether a program with this name can be started.
fn is_on_path(program: &str) -> bool {
    let endings = match cfg!(windows) {
        true => environment::var("PATHEXT").unwrap_or_else(|| ".COM;.EXE;.BAT;.CMD".to_owned()),
        false => String::new(),
    };
    if program.contains('/') || program.contains(std::path::MAIN_SEPARATOR) {
        return spellings(program, &endings).any(|name| is_executable(Path::new(&name)));
    }
    let Some(path) = environment::var_os("PATH") else { return false };
    std::env::split_paths(&path)
        .any(|directory| spellings(program, &endings).any(|name| is_executable(&directory.join(name))))
}

/// The names of the files that a program may have, with the endings that Windows adds: `python3.11` is `python3.11.exe` there.
fn spellings(program: &str, endings: &str) -> impl Iterator<Item = String> {
    let endings = endings.split(';').filter(|ending| !ending.is_empty()).map(str::to_ascii_lowercase);
    std::iter::once(program.to_owned()).chain(endings.map(move |ending| format!("{program}{ending}")))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// The command that runs a test again, with the test runner of this process.
pub(crate) fn command(package: &str, test: &str) -> String {
    let server = std::env::var(MODEL_CALLS).ok().and_then(|server| server.parse::<ModelCallServer>().ok());
    if let Some(ModelCallServer { calls, .. }) = server {
        let option = if calls == ModelCalls::Replayed { "--replay" } else { "--record" };
        format!("cargo evalsuite run {option} -p {package} {test}")
    } else if std::env::var_os("NEXTEST").is_some() {
        format!("cargo nextest run -p {package} -E 'test(={test})'")
    } else {
        format!("cargo test -p {package} -- --exact {test}")
    }
}

/// The command that runs all tests of a suite again, with the test runner of this process.
fn suite_command(suite: &EvalSuite) -> String {
    let runner = if std::env::var_os("NEXTEST").is_some() { "nextest run" } else { "test" };
    format!("cargo {runner} -p {} {}", suite.package, suite.path_of_test("")).trim_end().to_owned()
}

/// Name of the target of cases that name none.
pub(crate) const DEFAULT_TARGET: &str = "default";

/// Checks that every selected target exists: a name that nothing has would select nothing, and all cases would be skipped.
/// Where agents are commands, the targets file decides.
pub(crate) fn check_targets(selected: &[String], evals: &Evals, suite: &Suite) -> Result<(), CaseError> {
    let is_matrix = evals.suite().cases.iter().any(|case| case.target.is_some());
    let unknown = |known: &BTreeSet<String>| {
        let is_command =
            |name: &str| !is_matrix && evals.agent_of(name).is_some_and(|agent| matches!(agent.0, Bound::Commands(_)));
        selected.iter().find(|name| !known.contains(*name) && !is_command(name)).cloned()
    };
    let mut known = set(suite.targets.iter().map(|target| target.name.clone()));
    known.extend(evals.suite().cases.iter().filter_map(|case| case.target).map(str::to_owned));
    if !is_matrix {
        known.insert(DEFAULT_TARGET.to_owned());
        known.extend(evals.agent_targets().map(str::to_owned));
        // Only a name that is nowhere else is worth reading all cases.
        if unknown(&known).is_some() {
            for entry in evals.suite().cases {
                known.extend(decode_case(entry)?.target);
            }
        }
    }
    let Some(name) = unknown(&known) else { return Ok(()) };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let near = suggest::did_you_mean(&name, known.iter().copied()).map(|near| format!("; {near}"));
    Err(CaseError::Unusable(format!(
        "EVALSUITE_TARGET names `{name}`, which is not a target of suite `{}`{}\nhelp: its targets are {}",
        suite.name,
        near.unwrap_or_default(),
        suggest::listed(&known)
    )))
}

/// The agent of a target.
pub(crate) enum ChosenAgent {
    Rust(RustAgent),
    Command(Box<CliAgent>),
    /// There is none. The message says why.
    Unusable(String),
}

impl ChosenAgent {
    /// The agent of the target, else of the suite; where agents are commands, the entry of the targets file.
    pub(crate) fn of(target: &str, evals: &Evals, suite: &Suite, settings: &Settings, places: &SuiteLocation) -> Self {
        let load = match evals.agent_of(target).map(|agent| &agent.0) {
            None => return Self::Unusable(format!("no agent is bound to target `{target}`")),
            Some(Bound::Rust(agent)) => return Self::Rust(agent.clone()),
            Some(Bound::Commands(load)) => load,
        };
        let entry = suite.targets.iter().find(|entry| entry.name == target);
        let name = entry.and_then(|entry| entry.use_target.as_deref()).unwrap_or(target);
        let command = load(places, settings.targets_file.as_deref())
            .and_then(|targets| CliAgent::select(targets, name, environment::var));
        match command {
            Ok(command) => Self::Command(Box::new(command)),
            Err(error) => Self::Unusable(error.to_string()),
        }
    }

    /// Name in records.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Rust(agent) => agent.name.clone(),
            Self::Command(agent) if agent.acp.is_some() => format!("acp:{}", agent.name),
            Self::Command(agent) => format!("cli:{}", agent.name),
            Self::Unusable(_) => String::new(),
        }
    }

    /// The entry of the targets file, if it is a command.
    pub(crate) fn command(&self) -> Option<&CliAgent> {
        match self {
            Self::Command(agent) => Some(agent),
            Self::Rust(_) | Self::Unusable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Aggregator, Composite, JudgeSettings, Rubrics};
    use evalsuite_schema::{Layout, Location, Suite, SuiteKind};

    use super::*;
    use crate::model::judge::{IntoJudge, JudgeRequest, Judges};
    use crate::model::suite::loaded_suite;

    fn case(change: impl FnOnce(&mut Case)) -> Case {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        case.graders.push(grader(GraderConfig::IsJson));
        change(&mut case);
        case
    }

    fn grader(config: GraderConfig) -> Grader {
        Grader::new("g", Location::new("f", 1, 1), config)
    }

    /// What is missing.
    fn missing_with(case: &Case, judges: &JudgeChoice, mode: Mode) -> Option<String> {
        let suite = Suite::new("s", Layout::Cases, SuiteKind::Regression, Location::new("f", 1, 1));
        let suite = loaded_suite(suite, Vec::new(), None, Path::new("/")).unwrap();
        unmet(case, suite, &Registry::default(), judges, mode, || false).map(|reason| reason.message)
    }

    fn in_mode(case: &Case, mode: Mode) -> Option<String> {
        missing_with(case, &JudgeChoice { is_recorded: mode == Mode::Replay, ..JudgeChoice::default() }, mode)
    }

    fn in_live_mode(case: &Case) -> Option<String> {
        in_mode(case, Mode::Live)
    }

    #[test]
    fn a_case_without_its_variable_or_program_is_skipped() {
        assert_eq!(in_live_mode(&case(|_| ())), None);
        let variable = case(|case| case.requires.env.push("EVALSUITE_NO_SUCH_VARIABLE".into()));
        assert_eq!(in_live_mode(&variable), Some("environment variable EVALSUITE_NO_SUCH_VARIABLE is not set".into()));
        for mode in [Mode::Replay, Mode::Regrade] {
            assert_eq!(in_mode(&variable, mode), None, "no agent is called");
        }
        let program = case(|case| case.requires.commands.push("no-such-program".into()));
        assert_eq!(in_live_mode(&program), Some("program `no-such-program` is not on PATH".into()));
        let installed = if cfg!(windows) { "cmd" } else { "cargo" };
        assert_eq!(in_live_mode(&case(|case| case.requires.commands.push(installed.into()))), None);
    }

    #[test]
    fn windows_finds_programs_by_the_endings_that_it_adds() {
        let names = |program: &'static str| spellings(program, ".EXE;.PY;").collect::<Vec<_>>();
        assert_eq!(names("python3.11"), ["python3.11", "python3.11.exe", "python3.11.py"]);
        assert_eq!(spellings("sh", "").collect::<Vec<_>>(), ["sh"]);
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("tool.1.exe");
        std::fs::write(&program, "").unwrap();
        let named = directory.path().join("tool.1").display().to_string().replace('\\', "/");
        assert_eq!(is_on_path(&named), cfg!(windows));
    }

    #[test]
    fn a_judge_may_be_needed_by_a_member_of_a_composite() {
        let judge = grader(GraderConfig::Rubrics(Rubrics::default()));
        let composite = GraderConfig::Composite(Composite {
            members: vec![grader(GraderConfig::IsJson), judge],
            aggregator: Aggregator::Threshold { threshold: 0.5 },
        });
        assert_eq!(in_live_mode(&case(|case| case.graders.push(grader(composite)))), Some("needs a judge".into()));
        let criteria = case(|case| {
            case.graders.clear();
            case.criteria = Some("Answers politely.".into());
        });
        assert_eq!(in_live_mode(&criteria), Some("needs a judge".into()));
        assert_eq!(in_mode(&criteria, Mode::Replay), None);
    }

    #[test]
    fn a_case_that_nothing_grades_is_skipped_in_every_mode() {
        let nothing = case(|case| case.graders.clear());
        for mode in [Mode::Live, Mode::Record, Mode::Replay, Mode::Regrade] {
            assert_eq!(in_mode(&nothing, mode), Some("nothing grades the case".into()));
        }
    }

    #[test]
    fn a_default_judge_is_enough_and_a_named_one_is_not_required() {
        let judged = case(|case| case.graders.push(grader(GraderConfig::Rubrics(Rubrics::default()))));
        let judges = Judges {
            default: Some((|_: JudgeRequest| Ok::<_, std::fmt::Error>("")).into_judge()),
            ..Judges::default()
        };
        let choice = JudgeChoice { judges, ..JudgeChoice::default() };
        assert_eq!(missing_with(&judged, &choice, Mode::Live), None);
        let settings = JudgeSettings { target: Some("strict".into()), ..JudgeSettings::default() };
        let named = Rubrics { judge: settings, ..Rubrics::default() };
        assert_eq!(in_live_mode(&case(|case| case.graders.push(grader(GraderConfig::Rubrics(named))))), None);
    }
}
