//! `cargo evalsuite --help`: the commands under headings, in the order of work. Clap has no headings for commands.

use clap::Subcommand;
use clap::builder::StyledStr;

use super::{Command, GROUPS};

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
mod tests {
    use clap::CommandFactory;

    use super::super::{CommandLine, GROUPS};

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
