//! The arguments of the command line.

mod comparing;
mod help;
mod keeping;
mod looking;
mod new;
mod plumbing;
mod running;
mod writing;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use self::comparing::{Accept, ComparisonArguments, Diff, DiffFormat, Gate, UnitOfComparison};
pub(crate) use self::keeping::{Clean, Finish, Merge};
pub(crate) use self::looking::{Health, List, PrintedReport, Report, ReportedCases, Show};
pub(crate) use self::new::{
    LayoutName, New, NewAgentCli, NewCalibration, NewCase, NewCi, NewEditor, NewGrader, NewItem, NewSuite,
};
pub(crate) use self::plumbing::{Completions, Expand, Lsp, Man, Schema};
#[cfg(feature = "watch")]
pub(crate) use self::running::WatchFormat;
pub(crate) use self::running::{Build, Calibrate, Probe, Regrade, Run, Watch};
#[cfg(feature = "convert")]
pub(crate) use self::writing::{CaseLayout, SourceKind};
pub(crate) use self::writing::{Check, Convert, Explain, Format};

/// The same for all commands.
const EXIT_CODES: &str = "Exit status: 0 on success, 1 if problems were found, 2 if the command could not run, 4 if a comparison \
                          cannot decide.\n`cargo evalsuite COMMAND --help` shows the options and examples of a command.";

/// Write, run and compare evaluation suites
#[derive(Debug, Parser)]
#[command(name = "cargo evalsuite", bin_name = "cargo evalsuite", version, after_help = EXIT_CODES, max_term_width = 80)]
#[command(help_template = help::template())]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// All commands, in the order of `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(New),
    Check(Check),
    Explain(Explain),
    Convert(Convert),
    Run(Run),
    Watch(Watch),
    Regrade(Regrade),
    Calibrate(Calibrate),
    Probe(Probe),
    List(List),
    Show(Show),
    Report(Report),
    Health(Health),
    Diff(Diff),
    Gate(Gate),
    Accept(Accept),
    Finish(Finish),
    Merge(Merge),
    Clean(Clean),
    Lsp(Lsp),
    Expand(Expand),
    Schema(Schema),
    Completions(Completions),
    Man(Man),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text and tables
    #[default]
    #[value(alias = "text")]
    Human,
    /// One JSON object; `cargo evalsuite schema` prints its schema
    Json,
}

/// A share: `10%` or `0.1`.
fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    let is_share = |share: &f64| (0.0..=1.0).contains(share);
    share.ok().filter(is_share).ok_or_else(|| "expected a share from 0 to 1, such as `10%` or `0.1`".to_owned())
}

/// A share above 0.
fn margin(text: &str) -> Result<f64, String> {
    match share(text)? {
        share if share > 0.0 => Ok(share),
        _ => Err("expected a share above 0, such as `10%` or `0.1`".to_owned()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number greater than 0".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use clap::error::ErrorKind;
    use clap::{CommandFactory, Parser};

    use super::CommandLine;

    /// The words of a line of a shell, without what follows a redirection.
    fn words(line: &str) -> Vec<String> {
        let command = line.split(" > ").next().unwrap_or_default().replace('\'', "\"");
        let quoted = command.split('"').enumerate();
        let words = quoted.flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }

    #[test]
    fn every_command_has_its_exit_codes_and_examples_that_are_valid() {
        let mut commands: Vec<clap::Command> = CommandLine::command().get_subcommands().cloned().collect();
        let kinds: Vec<clap::Command> = commands.iter().flat_map(clap::Command::get_subcommands).cloned().collect();
        assert!(commands.len() > 15 && kinds.len() == 7, "expected all commands");
        for command in &commands {
            let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
            let about = about.to_lowercase();
            assert!(about.contains("exit status: 0"), "{} does not say how it exits", command.get_name());
        }
        commands.extend(kinds);
        for command in commands {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let (title, examples) = help.split_once('\n').unwrap_or_default();
            assert!(title.starts_with("Example"), "{} has no example", command.get_name());
            for line in examples.lines() {
                let line = line.trim_start().strip_prefix("cargo evalsuite ").expect("a call of cargo evalsuite");
                assert!(line.contains(command.get_name()), "{line}");
                assert!("  cargo evalsuite ".len() + line.len() <= 80, "a broken line cannot be copied: {line}");
                let words = ["cargo evalsuite".to_owned()].into_iter().chain(words(line));
                if let Err(error) = CommandLine::try_parse_from(words) {
                    panic!("{line}\n{error}");
                }
            }
        }
    }

    #[test]
    fn every_command_line_in_the_documents_is_valid() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let listings =
            [root.to_owned(), root.join("docs"), root.join("docs/reference")].map(|path| fs::read_dir(path).unwrap());
        let documents = listings.into_iter().flatten().map(|entry| entry.unwrap().path());
        let mut checked = 0;
        for document in documents.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
            let text = fs::read_to_string(&document).unwrap();
            let shown = text.lines().flat_map(|line| line.split("cargo evalsuite ").skip(1));
            let commands = shown.map(|rest| rest.split(['`', '#']).next().unwrap_or_default().trim());
            for command in commands.filter(|command| !command.contains('…')) {
                let words = words(command).into_iter().map(|word| if word == "N" { "1".to_owned() } else { word });
                let words = ["cargo evalsuite".to_owned()].into_iter().chain(words);
                let error = CommandLine::try_parse_from(words).err();
                // A sentence may name a command without its arguments, or an option without its value.
                let has_value = !command.split_whitespace().last().is_some_and(|word| word.starts_with("--"));
                let error = error.filter(|error| match error.kind() {
                    ErrorKind::MissingRequiredArgument => false,
                    ErrorKind::InvalidValue => has_value,
                    _ => true,
                });
                assert!(error.is_none(), "{}: cargo evalsuite {command}\n{error:?}", document.display());
                checked += 1;
            }
        }
        assert!(checked > 10, "expected the documents to show more than {checked} command lines");
    }
}
