//! `cargo evalsuite new`: writes suites, cases, graders, targets of commands, calibrations and settings of CI and editors into a package.

mod agent;
mod arguments;
mod case;
mod ci_and_editor;
mod package;
mod suite;

pub(crate) use self::arguments::New;
use self::arguments::NewItem;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &New) -> Result<Exit> {
    match &command.item {
        None => suite::write(&Default::default()),
        Some(NewItem::Suite(arguments)) => suite::write(arguments),
        Some(NewItem::Case(arguments)) => case::write(arguments),
        Some(NewItem::Grader(arguments)) => case::write_grader(arguments),
        Some(NewItem::AgentCli(arguments)) => agent::write_cli(arguments),
        Some(NewItem::AgentAcp(arguments)) => agent::write_acp(arguments),
        Some(NewItem::Calibration(arguments)) => case::write_calibration(arguments),
        Some(NewItem::Ci(arguments)) => ci_and_editor::write_ci(arguments),
        Some(NewItem::Editor(arguments)) => ci_and_editor::write_editor(arguments),
    }?;
    Ok(Exit::Good)
}
