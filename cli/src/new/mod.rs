//! `cargo evalsuite new`: writes suites, cases, graders, targets of commands, calibrations and settings of CI and editors into a package.

mod agent_acp;
mod agent_cli;
mod arguments;
mod build_script;
mod calibration;
mod canary;
mod case;
mod changes;
mod ci;
mod dev_profile;
mod editor;
mod grader;
mod manifest;
mod package_here;
mod questions;
mod suite;
mod target_test;

pub(crate) use self::arguments::New;
use self::arguments::NewItem;
use crate::platform::cli_error::{Exit, Result};

pub(crate) fn run(command: &New) -> Result<Exit> {
    match &command.item {
        None => suite::write(&Default::default()),
        Some(NewItem::Suite(arguments)) => suite::write(arguments),
        Some(NewItem::Case(arguments)) => case::write(arguments),
        Some(NewItem::Grader(arguments)) => grader::write(arguments),
        Some(NewItem::AgentCli(arguments)) => agent_cli::write(arguments),
        Some(NewItem::AgentAcp(arguments)) => agent_acp::write(arguments),
        Some(NewItem::Calibration(arguments)) => calibration::write(arguments),
        Some(NewItem::Ci(arguments)) => ci::write(arguments),
        Some(NewItem::Editor(arguments)) => editor::write(arguments),
    }?;
    Ok(Exit::Good)
}
