//! Commands with placeholders for a shell.

use std::path::{Path, PathBuf};

use crate::model::interpolation::{Piece, pieces};

/// What a command may hold in braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placeholder {
    Prompt,
    PromptFile,
    EvalId,
    Attempt,
    Files,
    OutputFile,
}

const PLACEHOLDERS: [(&str, Placeholder); 6] = [
    ("{PROMPT}", Placeholder::Prompt),
    ("{PROMPT_FILE}", Placeholder::PromptFile),
    ("{EVAL_ID}", Placeholder::EvalId),
    ("{ATTEMPT}", Placeholder::Attempt),
    ("{FILES}", Placeholder::Files),
    ("{OUTPUT_FILE}", Placeholder::OutputFile),
];

/// A command whose variables are filled in. What they hold is not searched for placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Placeholder(Placeholder),
}

/// What stands for the placeholders.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) prompt_file: &'a Path,
    pub(crate) case_id: &'a str,
    pub(crate) trial: u32,
    pub(crate) files: &'a [PathBuf],
    pub(crate) files_format: &'a str,
    pub(crate) output_file: &'a Path,
}

impl CommandLine {
    /// Reads a command, with the values of its variables.
    ///
    /// # Errors
    ///
    /// That of `variable`.
    pub(crate) fn read<E>(command: &str, variable: impl Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        let mut parts = Vec::new();
        for piece in pieces(command) {
            match piece {
                Piece::Variable(name) => parts.push(Part::Text(variable(name)?)),
                Piece::Text(text) => push_literal(&mut parts, text),
            }
        }
        Ok(Self(parts))
    }

    /// Whether the command says where its answer goes.
    pub(crate) fn names_output_file(&self) -> bool {
        self.0.contains(&Part::Placeholder(Placeholder::OutputFile))
    }

    /// Whether the whole prompt is a part of the command.
    pub(crate) fn holds_prompt(&self) -> bool {
        self.0.contains(&Part::Placeholder(Placeholder::Prompt))
    }

    /// The text for the shell.
    pub(crate) fn fill(&self, values: &Values<'_>) -> String {
        let fill = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Placeholder(placeholder) => match placeholder {
                Placeholder::Prompt => quote(values.prompt),
                Placeholder::PromptFile => quote_path(values.prompt_file),
                Placeholder::EvalId => quote(values.case_id),
                Placeholder::Attempt => values.trial.to_string(),
                Placeholder::Files => files(values.files_format, values.files),
                Placeholder::OutputFile => quote_path(values.output_file),
            },
        };
        self.0.iter().map(fill).collect()
    }
}

fn push_literal(parts: &mut Vec<Part>, mut text: &str) {
    let next = |text: &str| {
        PLACEHOLDERS
            .iter()
            .filter_map(|(token, placeholder)| Some((text.find(token)?, token.len(), *placeholder)))
            .min_by_key(|(start, ..)| *start)
    };
    while let Some((start, length, placeholder)) = next(text) {
        if start > 0 {
            parts.push(Part::Text(text[..start].to_owned()));
        }
        parts.push(Part::Placeholder(placeholder));
        text = &text[start + length..];
    }
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

/// Every file in the form the target wants, with blanks between them.
fn files(format: &str, files: &[PathBuf]) -> String {
    let render = |file: &PathBuf| {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // One after the other would search a path for `{basename}`.
        let mut text = String::new();
        let mut rest = format;
        while let Some(start) = rest.find('{') {
            text.push_str(&rest[..start]);
            rest = &rest[start..];
            if let Some(after) = rest.strip_prefix("{path}") {
                text.push_str(&quote_path(file));
                rest = after;
            } else if let Some(after) = rest.strip_prefix("{basename}") {
                text.push_str(&quote(&name));
                rest = after;
            } else {
                text.push('{');
                rest = &rest[1..];
            }
        }
        text + rest
    };
    files.iter().map(render).collect::<Vec<_>>().join(" ")
}

fn quote_path(path: &Path) -> String {
    quote(&path.to_string_lossy())
}

/// The text as one word for `sh`, whatever is in it.
#[cfg(not(windows))]
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text as one word for `cmd`. Its `%NAME%` cannot be quoted; a command that reads `{PROMPT_FILE}` does not meet it.
#[cfg(windows)]
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn line(command: &str) -> CommandLine {
        let variable = |name: &str| match name {
            "BIN" => Ok("agent {PROMPT}".to_owned()),
            _ => Err(name.to_owned()),
        };
        CommandLine::read(command, variable).unwrap()
    }

    fn fill(command: &str, prompt: &str, format: &str) -> String {
        line(command).fill(&Values {
            prompt,
            prompt_file: Path::new("/t/a b/prompt.txt"),
            case_id: "x/$HOME",
            trial: 2,
            files: &["/s/a'b.txt".into(), "/s/{basename}".into()],
            files_format: format,
            output_file: Path::new("/t/output"),
        })
    }

    #[test]
    fn every_value_is_one_word_of_the_shell() {
        assert_eq!(
            fill("run {PROMPT} -f {PROMPT_FILE} --id={EVAL_ID} {ATTEMPT} > {OUTPUT_FILE}", "it's $(x)\n", "{path}"),
            "run 'it'\\''s $(x)\n' -f '/t/a b/prompt.txt' --id='x/$HOME' 2 > '/t/output'"
        );
    }

    #[test]
    fn the_shell_gives_back_what_was_quoted() {
        let nasty = "a'b\"c\\d $HOME `ls` $(ls) ; & | > < * ? [x] ~ # ! {x}\n\ttab é";
        let output = std::process::Command::new("sh").args(["-c", &format!("printf %s {}", quote(nasty))]).output();
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), nasty);
    }

    #[test]
    fn files_are_rendered_one_by_one() {
        assert_eq!(fill("{FILES}", "", "{path}"), r"'/s/a'\''b.txt' '/s/{basename}'");
        assert_eq!(
            fill("x {FILES}", "", "-f {basename}:{path}{}"),
            r"x -f 'a'\''b.txt':'/s/a'\''b.txt'{} -f '{basename}':'/s/{basename}'{}"
        );
    }

    #[test]
    fn what_is_filled_in_is_not_read_again() {
        assert_eq!(
            fill("${{ BIN }} {PROMPT}", "{OUTPUT_FILE} ${{ BIN }}", "{path}"),
            "agent {PROMPT} '{OUTPUT_FILE} ${{ BIN }}'"
        );
        assert!(!line("${{ BIN }}").holds_prompt() && line("{PROMPT}").holds_prompt());
        assert!(line("> {OUTPUT_FILE}").names_output_file() && !line("{PROMPT_FILE}").names_output_file());
        assert_eq!(
            CommandLine::read("a ${{ GONE }}", |name| Err::<String, _>(name.to_owned())),
            Err("GONE".to_owned())
        );
    }
}
