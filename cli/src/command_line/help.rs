//! `cargo evalsuite --help`: the commands under headings, in the order of work. Clap has no headings for commands.

use clap::builder::StyledStr;
use clap::{Command, Subcommand};

use super::{Comparing, Keeping, Looking, Plumbing, Running, Writing};

/// Adds the commands of a group.
type Augment = fn(Command) -> Command;

/// The headings of the groups, in the order of the variants of [`super::Command`].
const GROUPS: [(&str, Augment); 6] = [
    ("Write suites", Writing::augment_subcommands),
    ("Run suites", Running::augment_subcommands),
    ("Look at results", Looking::augment_subcommands),
    ("Compare and keep results", Comparing::augment_subcommands),
    ("Housekeeping of stored runs", Keeping::augment_subcommands),
    ("For editors, shells and debugging", Plumbing::augment_subcommands),
];

/// Clap's layout of the help, with headings in the list of commands.
pub(super) fn template() -> StyledStr {
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\n{{options}}{{after-help}}", commands()).into()
}

/// The list of commands as clap writes it, with a heading above the first one of each group.
fn commands() -> String {
    let program = Command::new("evalsuite").help_template("{subcommands}").max_term_width(80);
    let list = GROUPS.iter().fold(program, |program, (_, augment)| augment(program)).render_help();
    let header = *clap::builder::Styles::styled().get_header();
    let mut text = String::new();
    for line in list.ansi().to_string().lines() {
        let name = anstream::adapter::strip_str(line).to_string();
        let name = name.split_whitespace().next().unwrap_or_default();
        let starts = |augment: Augment| {
            augment(Command::new("")).get_subcommands().next().is_some_and(|it| it.get_name() == name)
        };
        if let Some((heading, _)) = GROUPS.iter().find(|(_, augment)| line.starts_with("  ") && starts(*augment)) {
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
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::command_line::CommandLine;

    #[test]
    fn every_command_is_under_one_heading() {
        let names = |command: Command| command.get_subcommands().map(|it| it.get_name().to_owned()).collect::<Vec<_>>();
        let grouped: Vec<String> = GROUPS.iter().flat_map(|(_, augment)| names(augment(Command::new("")))).collect();
        assert_eq!(grouped, names(CommandLine::command()), "`GROUPS` and `Command` have the same groups");
        let help = CommandLine::command().render_help().to_string();
        let mut heading = "";
        let mut shown = Vec::new();
        for line in help.lines() {
            match line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
                Some(command) => shown.push((heading, command.split_whitespace().next().unwrap_or_default())),
                None if line.ends_with(':') => heading = line.trim_end_matches(':'),
                None => {}
            }
        }
        for (title, augment) in GROUPS {
            let below: Vec<&str> = shown.iter().filter(|(it, _)| *it == title).map(|(_, name)| *name).collect();
            let mut expected = names(augment(Command::new("")));
            // Clap's own command comes last.
            expected.extend((title == GROUPS[GROUPS.len() - 1].0).then(|| "help".to_owned()));
            assert_eq!(below, expected, "{title}");
        }
    }
}
