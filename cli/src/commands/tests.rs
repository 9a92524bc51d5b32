//! The help of every command, and the command lines in the documents.

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
    assert!(commands.len() > 15 && kinds.len() == 8, "expected all commands");
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
