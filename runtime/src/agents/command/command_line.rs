//! The command line of a call, for a shell: its variables and placeholders, and the files that it names.

use std::path::{Path, PathBuf};

use evalsuite_schema::placeholder::{Piece, Syntax};

use crate::agents::CommandCall;
use crate::platform::shell_quoting::quoted;

/// Names of the files of a call.
pub(crate) const PROMPT: &str = "prompt.md";
pub(crate) const OUTPUT: &str = "output";

/// A command with the values of its variables, which are not searched for placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// The value of a variable.
    Value(String),
    /// May have placeholders.
    Text(String),
}

impl CommandLine {
    /// Reads a command, with the values of its variables.
    pub(crate) fn read<E>(command: &str, variable: impl Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        let part = |piece| match piece {
            Piece::Placeholder(name) => variable(name).map(Part::Value),
            Piece::Text(text) => Ok(Part::Text(text.to_owned())),
        };
        Syntax::Variable.pieces(command).map(part).collect::<Result<_, _>>().map(Self)
    }

    /// Its texts, without values of placeholders.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(Part::Value(text) | Part::Text(text))| text.as_str())
    }

    /// The text for the shell of a command that has no placeholders.
    #[cfg(feature = "acp")]
    pub(crate) fn without_placeholders(&self) -> String {
        self.texts().collect()
    }

    /// Whether the command has a placeholder.
    pub(crate) fn has(&self, placeholder: &str) -> bool {
        let has = |text| Syntax::Command.names(text).any(|name| name == placeholder);
        self.0.iter().any(|part| matches!(part, Part::Text(text) if has(text)))
    }

    /// The text for the shell. Braces around an unknown name are text.
    pub(crate) fn fill(&self, call: &CommandCall<'_>, files_format: &str) -> String {
        let value = |name: &str| match name {
            "PROMPT" => Some(quoted(call.prompt)),
            "PROMPT_FILE" => Some(quoted_path(&call.directory.path().join(PROMPT))),
            "EVAL_ID" => Some(quoted(call.case_id)),
            "ATTEMPT" => Some(call.trial.to_string()),
            "MCP_CONFIG" => call.mcp.map(|mcp| quoted_path(&mcp.config())),
            "FILES" => Some(files(files_format, call.files)),
            "OUTPUT_FILE" => Some(quoted_path(&call.directory.path().join(OUTPUT))),
            _ => None,
        };
        let fill = |part: &Part| match part {
            Part::Value(value) => value.clone(),
            Part::Text(text) => Syntax::Command.fill(text, |name| value(name).map(Into::into)),
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
    use std::time::Duration;

    use super::*;
    use crate::agents::Writer;
    use crate::model::command::CommandEnvironment;
    use crate::platform::redaction::Redactor;
    use crate::platform::untrusted::UntrustedDirectory;

    fn line(command: &str) -> CommandLine {
        let variable = |name: &str| match name {
            "BIN" => Ok("agent {PROMPT}".to_owned()),
            _ => Err(name.to_owned()),
        };
        CommandLine::read(command, variable).unwrap()
    }

    fn fill(command: &str, prompt: &str, format: &str) -> String {
        let call = CommandCall {
            prompt,
            files: &["/s/a'b.txt".into(), "/s/{basename}".into()],
            case_id: "x/$HOME",
            trial: 2,
            directory: &UntrustedDirectory::new("/t/a b"),
            cwd: Path::new("/"),
            environment: &CommandEnvironment::default(),
            limit: Duration::ZERO,
            writer: Writer::Agent,
            keep: false,
            redactor: &Redactor::default(),
            mcp: None,
            seal: None,
        };
        line(command).fill(&call, format)
    }

    #[test]
    fn every_value_is_one_word_of_the_shell() {
        assert_eq!(
            fill("run {PROMPT} -f {PROMPT_FILE} --id={EVAL_ID} {ATTEMPT} > {OUTPUT_FILE}", "it's $(x)\n", "{path}"),
            "run 'it'\\''s $(x)\n' -f '/t/a b/prompt.md' --id='x/$HOME' 2 > '/t/a b/output'"
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
