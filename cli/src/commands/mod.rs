//! The table of commands. A command has a file or folder of its name, with its arguments and its function `run`.

mod help;
#[cfg(test)]
mod tests;

use clap::{CommandFactory, Parser, Subcommand};

use crate::platform::cli_error::{Exit, Result};

/// The same for all commands.
const EXIT_CODES: &str = "Exit status: 0 on success, 1 if problems were found, 2 if the command could not run, 4 if a comparison \
                          cannot decide.\n`cargo evalsuite COMMAND --help` shows the options and examples of a command.";

/// Write, run and compare evaluation suites
#[derive(Debug, Parser)]
#[command(name = "cargo evalsuite", bin_name = "cargo evalsuite", version, after_help = EXIT_CODES, max_term_width = 80)]
#[command(help_template = help::template())]
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
            pub(crate) fn run(self) -> Result<Exit> {
                match self.command {
                    $($(
                        $(#[cfg(feature = $feature)])?
                        Command::$name(command) => crate::$module::run(&command $(, $argument)?),
                        $(
                            #[cfg(not(feature = $feature))]
                            Command::$name(_) => Err(crate::platform::cli_error::CliError::without_feature($feature)),
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
