//! The files that a command line names: programs and scripts, which a sealed command has to be able to read.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What separates words of a shell.
const SEPARATORS: &[char] = &[' ', '\t', '\n', '\'', '"', ';', '|', '&', '(', ')', '<', '>', '=', '`', ','];

/// Files among the words of a command line, which runs in `cwd` with the variables of `command`. Of a directory nothing is opened.
pub(crate) fn of_line(line: &str, cwd: &Path, command: &Command) -> Vec<PathBuf> {
    let words = line.split(SEPARATORS).filter(|word| !word.is_empty() && !word.starts_with('-'));
    let mut files: Vec<PathBuf> =
        words.map(|word| cwd.join(filled(word, command))).filter(|path| path.is_file()).collect();
    files.sort();
    files.dedup();
    files
}

/// Files among the arguments of a command.
pub(crate) fn of_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>, cwd: &Path) -> Vec<PathBuf> {
    arguments
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(|word| cwd.join(word))
        .filter(|path| path.is_file())
        .collect()
}

/// The word with the values of `$NAME` and `${NAME}`.
fn filled(word: &str, command: &Command) -> OsString {
    let mut filled = OsString::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        filled.push(before);
        let (name, next) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, next)) => (name, next),
            None => {
                let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                after.split_at(end.unwrap_or(after.len()))
            }
        };
        filled.push(variable(name, command).unwrap_or_default());
        rest = next;
    }
    filled.push(rest);
    filled
}

fn variable(name: &str, command: &Command) -> Option<OsString> {
    let set = command.get_envs().find(|(known, _)| *known == name);
    set.map_or_else(|| if name.is_empty() { None } else { env::var_os(name) }, |(_, value)| value.map(OsString::from))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn programs_and_scripts_are_found_and_directories_are_not() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("suite")).unwrap();
        for file in ["agent.py", "suite/run.sh", "notes.txt"] {
            fs::write(path(file), "").unwrap();
        }
        let mut command = Command::new("sh");
        command.env("EVALSUITE_SUITE_DIR", path("suite"));
        let line = "python3 'agent.py' --dir suite \"$EVALSUITE_SUITE_DIR/run.sh\" < ${EVALSUITE_SUITE_DIR}/../notes.txt > gone";
        let expected = [path("agent.py"), path("suite/../notes.txt"), path("suite/run.sh")];
        assert_eq!(of_line(line, root.path(), &command), expected);
        assert_eq!(of_arguments(["sh", "agent.py", "suite"], root.path()), [path("agent.py")]);
    }
}
