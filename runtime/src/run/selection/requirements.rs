//! The requirements of a case: variables, programs and judges without which it is skipped.

use std::path::Path;

use evalsuite_records::record::{Mode, Reason, ReasonCode, Stage, Status};
use evalsuite_schema::grader::{AskedJudge, ComparedWith};
use evalsuite_schema::{Case, Grader, GraderConfig, SimulatedUser};

use crate::judge::judge_choice::JudgeChoice;
use crate::model::evals::Registry;
use crate::model::suite::EvalSuite;
use crate::platform::environment;
use crate::run::selection::case_graders::{case_graders, turn_graders};
use crate::run::selection::rerun;
use crate::run::settings::Settings;

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
    let is_judged = case.conversation.is_some() || case.criteria.is_some() || !case.expected_output.is_empty();
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
            let command = rerun::suite_command(suite);
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
    let command = rerun::suite_command(suite);
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
    let is_one = |grader: &Grader| match &grader.config {
        GraderConfig::Compare(config) => config.against == ComparedWith::Baseline,
        _ => false,
    };
    case.graders.iter().any(|grader| grader.with_members().any(is_one))
}

fn any_asks(case: &Case, registry: &Registry, is_wanted: fn(AskedJudge<'_>) -> bool) -> bool {
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    let mut of_turns = turns.flat_map(|turn| turn_graders(turn, case));
    let of_user = || {
        case.conversation.iter().flat_map(|conversation| {
            conversation.user.iter().flat_map(|user| &user.graders).chain(&conversation.turn_graders)
        })
    };
    let asks = |grader: &Grader| {
        grader.with_members().any(|grader| match &grader.config {
            GraderConfig::User { grader, .. } => registry.grader(grader).is_some_and(|grader| grader.needs_judge),
            config => config.asked_judge().is_some_and(is_wanted),
        })
    };
    let writes = |user: &SimulatedUser| user.asked_judge().is_some_and(is_wanted);
    case_graders(case).iter().any(asks)
        || of_turns.any(|grader| asks(&grader))
        || of_user().any(asks)
        || case.user().is_some_and(writes)
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

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{Aggregator, Composite, JudgeSettings, Rubrics};
    use evalsuite_schema::{Layout, Location, Suite, SuiteKind};

    use super::*;
    use crate::model::judge::{IntoJudge, JudgeRequest, Judges};
    use crate::model::loaded_suite::loaded_suite;

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
