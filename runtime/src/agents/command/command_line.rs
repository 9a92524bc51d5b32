//! Commands with placeholders for a shell.

use std::path::{Path, PathBuf};

use evalsuite_schema::placeholder::{Piece, Syntax};

use crate::platform::shell_quoting::quoted;

/// A command with the values of its variables, which are not searched for placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The name of a placeholder.
    Placeholder(String),
}

/// The values of the placeholders.
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
    pub(crate) fn read<E>(command: &str, variable: impl Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        let literal = |piece: Piece<'_>| match piece {
            Piece::Text(text) => Part::Text(text.to_owned()),
            Piece::Placeholder(name) => Part::Placeholder(name.to_owned()),
        };
        let mut parts = Vec::new();
        for piece in Syntax::Variable.pieces(command) {
            match piece {
                Piece::Placeholder(name) => parts.push(Part::Text(variable(name)?)),
                Piece::Text(text) => parts.extend(Syntax::Command.pieces(text).map(literal)),
            }
        }
        Ok(Self(parts))
    }

    /// Whether the command has a placeholder.
    pub(crate) fn has(&self, placeholder: &str) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Placeholder(name) if name == placeholder))
    }

    /// The text for the shell. Braces around an unknown name are text.
    pub(crate) fn fill(&self, values: &Values<'_>) -> String {
        let fill = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Placeholder(name) => match name.as_str() {
                "PROMPT" => quoted(values.prompt),
                "PROMPT_FILE" => quoted_path(values.prompt_file),
                "EVAL_ID" => quoted(values.case_id),
                "ATTEMPT" => values.trial.to_string(),
                "FILES" => files(values.files_format, values.files),
                "OUTPUT_FILE" => quoted_path(values.output_file),
                unknown => format!("{{{unknown}}}"),
            },
        };
        self.0.iter().map(fill).collect()
    }
}

/// Every file in the form the target wants, separated by spaces.
fn files(format: &str, files: &[PathBuf]) -> String {
    let render = |file: &PathBuf| {
        Syntax::Command.fill(format, |name| match name {
            "path" => Some(quoted_path(file).into()),
            "basename" => Some(quoted(&file.file_name().unwrap_or_default().to_string_lossy()).into()),
            _ => None,
        })
    };
    files.iter().map(render).collect::<Vec<_>>().join(" ")
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
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
        assert!(!line("${{ BIN }}").has("PROMPT") && line("{PROMPT}").has("PROMPT"));
        assert!(line("> {OUTPUT_FILE}").has("OUTPUT_FILE") && !line("{PROMPT_FILE}").has("OUTPUT_FILE"));
        assert_eq!(
            CommandLine::read("a ${{ GONE }}", |name| Err::<String, _>(name.to_owned())),
            Err("GONE".to_owned())
        );
    }
}
