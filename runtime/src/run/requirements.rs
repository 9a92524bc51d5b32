//! The requirements of a case: variables, programs and judges without which it is skipped.

use std::path::Path;

use evalsuite_schema::grader::AskedJudge;
use evalsuite_schema::record::{CaseOutcome, Mode, Reason, ReasonCode, Stage};
use evalsuite_schema::{Case, Grader, GraderConfig};

use crate::judge::judge_choice::JudgeChoice;
use crate::model::evals::Registry;
use crate::platform::environment;
use crate::run::settings::Settings;
use crate::run::turn_graders::turn_graders;

/// Why a case is skipped, if a requirement is not met.
pub(crate) fn missing(case: &Case, registry: &Registry, judges: JudgeChoice<'_>, mode: Mode) -> Option<Reason> {
    // A replay needs neither the agent's keys nor a judge.
    let is_replay = mode == Mode::Replay;
    let reason = |code, message: String| Some(Reason::new(Stage::Requirements, code, message));
    if case.workspace.as_ref().is_some_and(|workspace| workspace.docker) {
        return reason(ReasonCode::DockerUnsupported, "docker workspaces are not supported".to_owned());
    }
    let is_unset = |name: &&String| environment::var_os(name).is_none_or(|value| value.is_empty());
    if !is_replay
        && mode != Mode::Regrade
        && let Some(name) = case.requires.env.iter().find(is_unset)
    {
        return reason(ReasonCode::RequirementMissing, format!("environment variable {name} is not set"));
    }
    if let Some(program) = case.requires.commands.iter().find(|program| !is_on_path(program)) {
        return reason(ReasonCode::RequirementMissing, format!("program `{program}` is not on PATH"));
    }
    if !judges.is_recorded && !judges.has_default() && needs_judge(case, registry) {
        return reason(ReasonCode::RequirementMissing, "needs a judge".to_owned());
    }
    None
}

/// Turns a skip into an error where EVALSUITE_REQUIRE is set, unless the case was not selected.
pub(crate) fn refuse_skip(settings: &Settings, outcome: &mut CaseOutcome, reason: &mut Option<Reason>) {
    let Some(reason) = reason else { return };
    if settings.require && *outcome == CaseOutcome::Skipped && reason.code != ReasonCode::Filtered {
        *outcome = CaseOutcome::Error;
        reason.code = ReasonCode::Required;
        reason.message = format!("{}, and EVALSUITE_REQUIRE=1 turns skipped cases into errors", reason.message);
    }
}

/// Whether a grader asks the default judge. A named judge that does not exist is an error of the grader that names it.
pub(crate) fn needs_judge(case: &Case, registry: &Registry) -> bool {
    let implicit = case.graders.is_empty() && case.conversation.is_none();
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    let mut of_turns = turns.flat_map(|turn| turn_graders(turn, case));
    implicit
        || case.graders.iter().any(|grader| asks_default_judge(grader, registry))
        || of_turns.any(|grader| asks_default_judge(&grader, registry))
}

fn asks_default_judge(grader: &Grader, registry: &Registry) -> bool {
    grader.with_members().any(|grader| match &grader.config {
        GraderConfig::User { grader, .. } => registry.grader(grader).is_some_and(|grader| grader.needs_judge),
        config => config.asked_judge() == Some(AskedJudge::Default),
    })
}

/// Whether a program with this name can be started.
fn is_on_path(program: &str) -> bool {
    if program.contains(std::path::MAIN_SEPARATOR) {
        return is_executable(Path::new(program));
    }
    let Some(path) = environment::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|directory| {
        let file = directory.join(program);
        is_executable(&file)
            || cfg!(windows) && ["exe", "cmd", "bat"].iter().any(|e| is_executable(&file.with_extension(e)))
    })
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
    use evalsuite_schema::Location;
    use evalsuite_schema::grader::{Aggregator, Composite, JudgeSettings, Rubrics};

    use super::*;
    use crate::judge::judge_options::JudgeOptions;
    use crate::model::judge::{IntoJudge, JudgeRequest, Judges};

    fn case(change: impl FnOnce(&mut Case)) -> Case {
        let mut case = Case::new("c", Location::new("f", 1, 1));
        case.graders.push(grader(GraderConfig::IsJson));
        change(&mut case);
        case
    }

    fn grader(config: GraderConfig) -> Grader {
        Grader::new("g", Location::new("f", 1, 1), config)
    }

    fn message(case: &Case) -> Option<String> {
        in_mode(case, Mode::Live).map(|reason| reason.message)
    }

    fn in_mode(case: &Case, mode: Mode) -> Option<Reason> {
        let (judges, options) = (Judges::default(), JudgeOptions::default());
        missing(
            case,
            &Registry::default(),
            JudgeChoice { judges: &judges, options: &options, is_recorded: mode == Mode::Replay, commands: None },
            mode,
        )
    }

    #[test]
    fn a_case_without_its_variable_or_program_is_skipped() {
        assert_eq!(message(&case(|_| ())), None);
        let variable = case(|case| case.requires.env.push("EVALSUITE_NO_SUCH_VARIABLE".into()));
        assert_eq!(message(&variable).unwrap(), "environment variable EVALSUITE_NO_SUCH_VARIABLE is not set");
        for mode in [Mode::Replay, Mode::Regrade] {
            assert_eq!(in_mode(&variable, mode), None, "no agent is called");
        }
        let program = case(|case| case.requires.commands.push("no-such-program".into()));
        assert_eq!(message(&program).unwrap(), "program `no-such-program` is not on PATH");
        assert_eq!(message(&case(|case| case.requires.commands.push("cargo".into()))), None);
    }

    #[test]
    fn a_judge_may_be_needed_by_a_member_of_a_composite() {
        let judge = grader(GraderConfig::Rubrics(Rubrics::default()));
        let composite = GraderConfig::Composite(Composite {
            members: vec![grader(GraderConfig::IsJson), judge],
            aggregator: Aggregator::Threshold { threshold: 0.5 },
        });
        assert_eq!(message(&case(|case| case.graders.push(grader(composite)))).unwrap(), "needs a judge");
        let nothing = case(|case| case.graders.clear());
        assert_eq!(message(&nothing).unwrap(), "needs a judge");
        assert_eq!(in_mode(&nothing, Mode::Replay), None);
    }

    #[test]
    fn a_default_judge_is_enough_and_a_named_one_is_not_required() {
        let judged = case(|case| case.graders.push(grader(GraderConfig::Rubrics(Rubrics::default()))));
        let judges = Judges {
            default: Some((|_: JudgeRequest| Ok::<_, std::fmt::Error>("")).into_judge()),
            ..Judges::default()
        };
        let choice =
            JudgeChoice { judges: &judges, options: &JudgeOptions::default(), is_recorded: false, commands: None };
        assert!(missing(&judged, &Registry::default(), choice, Mode::Live).is_none());
        let settings = JudgeSettings { target: Some("strict".into()), ..JudgeSettings::default() };
        let named = Rubrics { judge: settings, ..Rubrics::default() };
        assert_eq!(message(&case(|case| case.graders.push(grader(GraderConfig::Rubrics(named))))), None);
    }
}
