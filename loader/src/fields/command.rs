//! Commands: a command line for the shell, or a program and its arguments.

use std::path::{Path, PathBuf};

use evalsuite_schema::{Argument, Command};

use super::paths::{self, PathKind, Scope, SearchFailure};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, in_place_of};
use crate::fields;
use crate::read::node::{Data, Node};

/// Endings by which an argument is recognised as the script that an interpreter runs.
const SCRIPTS: &[&str] = &[".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1"];

/// Reads a command: text for the shell, or a list for no shell. `cwd` is searched before everything else.
///
/// `None`: a problem was reported.
pub(crate) fn read(
    node: &Node,
    what: &str,
    scope: Scope<'_>,
    cwd: Option<&Path>,
    d: &mut Diagnostics,
) -> Option<Command> {
    match &node.data {
        Data::String(text) if text.trim().is_empty() => empty(node, format!("{what} is empty"), d),
        Data::String(text) => Some(Command::Shell(text.clone())),
        Data::Sequence(_) => argv(node, what, scope, cwd, d),
        _ => fields::wrong_type(node, what, "text or a list of text", d),
    }
}

/// Reads a command that must be a list of program and arguments.
pub(crate) fn argv(
    node: &Node,
    what: &str,
    scope: Scope<'_>,
    cwd: Option<&Path>,
    d: &mut Diagnostics,
) -> Option<Command> {
    let items = fields::list(node, what, d)?;
    if items.is_empty() {
        return empty(node, format!("{what} is an empty list"), d);
    }
    let words = fields::all(items, |item| match item.as_str() {
        Some(word) if word.trim().is_empty() => empty(item, format!("an element of {what} is empty"), d),
        None => fields::wrong_type(item, &format!("an element of {what}"), "text", d),
        word => word,
    })?;
    let is_file = || search_places(scope, cwd).iter().any(|place| place.join(words[0]).is_file());
    if let Some(problem) = program_with_blanks(node, &words, what).filter(|_| !is_file()) {
        d.push(problem.at(items[0].span));
        return None;
    }
    let program = program(&words);
    let mut places = None;
    let argument = |(index, (&word, item)): (usize, (&&str, &Node))| {
        let is_program = Some(index) == program;
        if !(is_program || starts_with_dots(word) && may_be_path(word)) {
            return Some(Argument::Text(word.to_owned()));
        }
        let places = places.get_or_insert_with(|| search_places(scope, cwd));
        let kind = if is_program { PathKind::File } else { PathKind::Any };
        let miss = match scope.search(word, kind, places) {
            Ok(found) => return Some(Argument::Path(found.reference)),
            Err(miss) => miss,
        };
        let exists = || places.iter().any(|place| paths::normalize(&place.join(word)).symlink_metadata().is_ok());
        if !is_program && (matches!(miss, SearchFailure::Missing(_)) || !exists()) {
            let message = format!("`{word}` does not exist in the suite");
            d.report(Code::ArgumentNotFound, item.span, message, "it is passed unchanged");
            return Some(Argument::Text(word.to_owned()));
        }
        scope.report(miss, word, item, "the command", (Code::MissingPath, kind), d);
        None
    };
    words.iter().zip(items).enumerate().map(argument).collect::<Option<_>>().map(Command::Argv)
}

/// A list whose first element is a whole command line: the program would have this name.
fn program_with_blanks(node: &Node, words: &[&str], what: &str) -> Option<Diagnostic> {
    let first = words[0].trim();
    if !first.contains(char::is_whitespace) || first.contains("{{") || paths::is_absolute(first) {
        return None;
    }
    let quoted = |word: &str| serde_json::Value::from(word).to_string();
    let argv: Vec<String> = first.split_whitespace().chain(words[1..].iter().copied()).map(quoted).collect();
    let line = quoted(&words.join(" && "));
    let (argv, first) = (argv.join(", "), words[0]);
    let are_commands = words.iter().all(|word| word.trim().contains(char::is_whitespace));
    let help = match (words, are_commands) {
        ([_], _) => format!("write `{line}`, or `[{argv}]`"),
        (_, true) => format!("a list is one command: write `{line}` for several commands, or one word per element"),
        (_, false) => format!("write `[{argv}]`, or `{line}` for several commands"),
    };
    let fix = in_place_of(node.span, line).filter(|_| are_commands && node.is_flow());
    let message = format!("the program in {what} is `{first}`: a list is a program and its arguments");
    Some(Diagnostic::new(Code::InvalidCommand, message).help(help).fix_if(fix))
}

/// Drops the problems with files that a command names: they may be in its working directory, which has a problem itself.
pub(crate) fn forgive_paths(found: &mut Diagnostics) {
    found.retain(|problem| !matches!(problem.code, Code::MissingPath | Code::ArgumentNotFound));
}

fn empty<T>(node: &Node, message: String, d: &mut Diagnostics) -> Option<T> {
    let help = "write a shell command, or a list of program and arguments";
    fields::reject(Code::InvalidCommand, node.span, message, help, d)
}

fn search_places(scope: Scope<'_>, cwd: Option<&Path>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = cwd.map(Path::to_path_buf).into_iter().collect();
    places.extend(scope.roots.search(scope.dir));
    places
}

/// Index of the element that has to be a file of the suite.
fn program(words: &[&str]) -> Option<usize> {
    let first = words[0];
    if first.contains('/') && may_be_path(first) && !paths::is_absolute(first) {
        return Some(0);
    }
    let is_script = |word: &str| may_be_path(word) && (starts_with_dots(word) || ends_like_script(word));
    words[1..].iter().position(|word| is_script(word)).map(|index| index + 1)
}

/// Blanks and placeholders do not occur in the paths of a command.
fn may_be_path(word: &str) -> bool {
    !word.contains(char::is_whitespace) && !word.contains("{{")
}

fn starts_with_dots(word: &str) -> bool {
    word.starts_with("./") || word.starts_with("../")
}

/// Options (`--import=hook.mjs`) and URLs end like scripts, too, and are none.
fn ends_like_script(word: &str) -> bool {
    SCRIPTS.iter().any(|ending| word.ends_with(ending)) && !word.starts_with('-') && !word.contains("://")
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Command;

    use super::read;
    use crate::diagnostic::Diagnostics;
    use crate::tests::Package;

    /// The arguments, files of the suite in angle brackets, and the problems.
    fn argv(files: &[(&str, &str)], yaml: &str) -> (Vec<String>, Vec<String>) {
        let package = Package::new(files);
        let mut d = Diagnostics::new();
        let command = read(&package.node(yaml), "`command`", package.scope(), None, &mut d);
        let words = match command {
            Some(Command::Argv(arguments)) => arguments
                .into_iter()
                .map(|argument| match argument {
                    evalsuite_schema::Argument::Text(text) => text,
                    evalsuite_schema::Argument::Path(path) => format!("<{}>", path.path),
                })
                .collect(),
            Some(Command::Shell(line)) => vec![line],
            None => Vec::new(),
        };
        (words, package.lines(&d))
    }

    const NONE: &[&str] = &[];

    #[test]
    fn a_shell_command_is_not_looked_into() {
        assert_eq!(argv(&[], "' ./missing.sh | wc '"), (vec![" ./missing.sh | wc ".to_owned()], vec![]));
    }

    #[test]
    fn the_program_is_a_file_of_the_suite() {
        let files = &[("suite/grade.py", ""), ("tools/run.sh", ""), ("suite/data.csv", ""), ("suite/my script.py", "")];
        let table: &[(&str, &[&str])] = &[
            ("[python3, grade.py]", &["python3", "<suite/grade.py>"]),
            ("[python3, -u, ./grade.py, other.py]", &["python3", "-u", "<suite/grade.py>", "other.py"]),
            ("[tools/run.sh, ./data.csv, data.csv]", &["<tools/run.sh>", "<suite/data.csv>", "data.csv"]),
            ("[/usr/bin/env, python3, grade.py]", &["/usr/bin/env", "python3", "<suite/grade.py>"]),
            ("[node, --import=hook.mjs, -e, '1']", &["node", "--import=hook.mjs", "-e", "1"]),
            (
                "[echo, 'my script.py', 'a{{ x }}.py', '${{ DIR }}.sh']",
                &["echo", "my script.py", "a{{ x }}.py", "${{ DIR }}.sh"],
            ),
            ("[grade.py, a]", &["grade.py", "a"]),
            ("['./my script.py', a]", &["./my script.py", "a"]),
        ];
        for (yaml, expected) in table {
            let (words, problems) = argv(files, yaml);
            assert_eq!(problems, NONE, "{yaml}");
            assert_eq!(words, *expected, "{yaml}");
        }
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert_eq!(argv(&[], "[python3, grade.py]").1, ["1:11 E018 the command: file `grade.py` not found"]);
        assert_eq!(argv(&[], "[bin/run]").1, ["1:2 E018 the command: file `bin/run` not found"]);
        assert_eq!(
            argv(&[("suite/tools/x", "")], "[./tools]").1,
            ["1:2 E018 the command: `suite/tools` is not a file"]
        );
        assert_eq!(
            argv(&[], "[python3, /opt/grade.py]").1,
            ["1:11 E017 the command: `/opt/grade.py` is an absolute path"]
        );
    }

    #[test]
    fn another_argument_may_be_missing() {
        let (words, problems) = argv(&[("suite/run.sh", "")], "[./run.sh, ../marketplace, ../../no-such-place]");
        assert_eq!(words, ["<suite/run.sh>", "../marketplace", "../../no-such-place"]);
        assert_eq!(
            problems,
            [
                "1:12 W009 `../marketplace` does not exist in the suite",
                "1:28 W009 `../../no-such-place` does not exist in the suite",
            ]
        );
    }

    #[test]
    fn an_argument_outside_the_package_is_an_error() {
        let (_, problems) = argv(&[("suite/run.sh", "")], "[./run.sh, ../../..]");
        assert_eq!(problems, ["1:12 E017 the command: `../../..` leaves the package"]);
    }

    #[test]
    fn empty_commands_are_errors() {
        for (yaml, expected) in [
            ("'  '", "1:1 E058 `command` is empty"),
            ("[]", "1:1 E058 `command` is an empty list"),
            ("[echo, '']", "1:8 E058 an element of `command` is empty"),
            ("[echo, 5]", "1:8 E020 an element of `command` must be text, found a number"),
            ("5", "1:1 E020 `command` must be text or a list of text, found a number"),
        ] {
            assert_eq!(argv(&[], yaml).1, [expected], "{yaml}");
        }
    }
}
