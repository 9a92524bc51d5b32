//! `cargo evalsuite --help`: the commands under headings, in the order of work. Clap has no headings for commands.

use clap::Subcommand;
use clap::builder::StyledStr;

use super::Command;

/// The headings, each with the first command below it.
const GROUPS: [(&str, &str); 6] = [
    ("Write suites", "new"),
    ("Run suites", "run"),
    ("Look at results", "list"),
    ("Compare and keep results", "diff"),
    ("Housekeeping of stored runs", "finish"),
    ("For editors, shells and debugging", "lsp"),
];

/// The examples of all commands: a line with `#` and the name of a command, then what the end of its help shows, then an empty line.
const EXAMPLES: &str = include_str!("../../assets/examples.txt");

/// The examples of a command, named with the command that it is a part of.
pub(super) fn examples(command: &str) -> &'static str {
    let (_, rest) = EXAMPLES.split_once(&format!("# {command}\n")).unwrap_or_default();
    rest.split("\n\n").next().unwrap_or_default().trim_end()
}

/// Clap's layout of the help, with headings in the list of commands.
pub(super) fn template() -> StyledStr {
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
        if let Some((heading, _)) = GROUPS.iter().find(|(_, first)| line.starts_with("  ") && *first == name) {
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

    use super::GROUPS;
    use crate::command_line::CommandLine;

    #[test]
    fn every_command_is_under_one_heading() {
        let program = CommandLine::command();
        let mut names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        // Clap's own command comes last.
        names.push("help");
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
        shown.retain(|(heading, _)| *heading != "Options");
        assert!(shown.iter().map(|(_, name)| *name).eq(names), "expected every command once");
        let firsts = shown.chunk_by(|(one, _), (other, _)| one == other).map(|group| group[0]);
        assert!(firsts.eq(GROUPS), "expected every heading above its first command");
    }
}
