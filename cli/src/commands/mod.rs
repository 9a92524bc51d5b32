//! The table of commands. A command has a file or folder of its name, with its arguments and its function `run`.
//!
//! `cargo evalsuite --help`: the commands under headings, in the order of work. Clap has no headings for commands.

#[cfg(test)]
mod tests;

use clap::builder::StyledStr;
use clap::{CommandFactory, Parser, Subcommand};

use crate::platform::exit_status::{CommandStatus, Result};

/// The same for all commands.
const EXIT_CODES: &str = "Exit status: 0 on success, 1 if problems were found, 2 if the command could not run, 4 if a comparison \
                          cannot decide.\n`cargo evalsuite COMMAND --help` shows the options and examples of a command.";

/// Write, run and compare evaluation suites
#[derive(Debug, Parser)]
#[command(name = "cargo evalsuite", bin_name = "cargo evalsuite", version, after_help = EXIT_CODES, max_term_width = 80)]
#[command(help_template = template())]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// Commands below their headings, in the order of `--help`: `ARGUMENTS => MODULE`, the cargo feature without which it is not compiled,
/// and a further argument of its function `run`.
macro_rules! commands {
    ($($heading:literal: $($name:ident => $module:ident $(if $feature:literal)? $(with $argument:expr)?;)+)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(
                $(#[cfg(feature = $feature)])?
                #[command(after_help = crate::arguments::examples(stringify!($module)))]
                $name(crate::$module::$name),
                $(
                    #[cfg(not(feature = $feature))]
                    #[command(about = concat!("Requires the feature `", $feature, "` of cargo-evalsuite"))]
                    $name(WithoutFeature),
                )?
            )+)+
        }

        /// The headings, each with the names of its commands.
        const GROUPS: &[(&str, &[&str])] = &[$(($heading, &[$(stringify!($module)),+])),+];

        impl CommandLine {
            pub(crate) fn run(self) -> Result<CommandStatus> {
                match self.command {
                    $($(
                        $(#[cfg(feature = $feature)])?
                        Command::$name(command) => crate::$module::run(&command $(, $argument)?),
                        $(
                            #[cfg(not(feature = $feature))]
                            Command::$name(_) => Err(crate::platform::exit_status::CliError::without_feature($feature)),
                        )?
                    )+)+
                }
            }
        }
    };
}

commands! {
    "Write suites":
        New => new;
        Check => check;
        Explain => explain;
        Convert => convert if "convert";
    "Run suites":
        Run => run;
        Watch => watch if "watch";
        McpProxy => mcp_proxy if "mcp";
        Regrade => regrade;
        Calibrate => calibrate if "judge";
        Probe => probe;
    "Look at results":
        List => list;
        Show => show;
        Report => report;
        Health => health;
    "Compare and keep results":
        Diff => diff;
        Lift => lift;
        Gate => gate;
        Accept => accept;
    "Housekeeping of stored runs":
        Finish => finish;
        Merge => merge;
        Clean => clean;
    "For editors, shells and debugging":
        Lsp => lsp if "lsp";
        Expand => expand;
        Schema => schema;
        Completions => completions with CommandLine::command();
        Man => man with CommandLine::command();
}

/// The arguments of a command that is not compiled: any.
#[cfg(not(all(feature = "convert", feature = "judge", feature = "lsp", feature = "mcp", feature = "watch")))]
#[derive(Debug, clap::Args)]
struct WithoutFeature {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<std::ffi::OsString>,
}

/// Clap's layout of the help, with headings in the list of commands.
fn template() -> StyledStr {
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\n{{options}}{{after-help}}", commands()).into()
}

/// The list of commands as clap writes it, with a heading above the first one of each group.
fn commands() -> String {
    let program = clap::Command::new("evalsuite").help_template("{subcommands}").max_term_width(80);
    let list = Command::augment_subcommands(program).render_help();
    let header = *clap::builder::Styles::styled().get_header();
    let mut text = String::new();
    for line in list.ansi().to_string().lines() {
        let name = anstream::adapter::strip_str(line).to_string();
        let name = name.split_whitespace().next().unwrap_or_default();
        if let Some((heading, _)) =
            GROUPS.iter().find(|(_, first)| line.starts_with("  ") && first.first() == Some(&name))
        {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{header}{heading}:{header:#}\n"));
        }
        text.push_str(line);
        text.push('\n');
    }
    let header_of_options = format!("\n{header}Options:{header:#}");
    text + &header_of_options
}

#[cfg(test)]
mod help_tests {
    use clap::CommandFactory;

    use super::{CommandLine, GROUPS};

    #[test]
    fn every_command_is_under_its_heading() {
        let help = CommandLine::command().render_help().to_string();
        let mut shown: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in help.lines() {
            match (line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')), shown.last_mut()) {
                (Some(command), Some((_, names))) => names.extend(command.split_whitespace().next()),
                _ => shown.extend(line.strip_suffix(':').map(|heading| (heading, Vec::new()))),
            }
        }
        shown.retain(|(heading, _)| *heading != "Options");
        // Clap's own command comes last.
        let own = shown.last_mut().and_then(|(_, names)| names.pop());
        assert_eq!(own, Some("help"));
        let shown: Vec<(&str, Vec<String>)> = shown
            .into_iter()
            .map(|(heading, names)| (heading, names.into_iter().map(|name| name.replace('-', "_")).collect()))
            .collect();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let groups: Vec<(&str, Vec<String>)> = GROUPS.iter().map(|(heading, group)| (*heading, names(group))).collect();
        assert_eq!(shown, groups);
    }
}
