//! Rules of `code-grader`.

use evalsuite_schema::Object;
use evalsuite_schema::grader::PreparedCommand;
use evalsuite_schema::keys::Written;

use super::{Family, Rules};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::paths::{PathKind, Scope};
use crate::fields::{command, label, sealing};
use crate::read::node::Entry;

/// Keys so close to a known one are typing errors rather than settings of the command.
const NEAR: usize = 2;

pub(super) const FAMILY: Family = Family { rules: &[("code-grader", code_grader)], constant: |_| None };

fn code_grader(mut rules: Rules<'_, '_, '_>, d: &mut Diagnostics) {
    rules.read_preprocessors(d);
    let Rules { fields, parts, cx, .. } = rules;
    sealing::read(fields, parts, cx.scope, d);
    let command = fields.require("command", d);
    let cwd = fields.get("cwd");
    let run = command.and_then(|command| prepared(command, cwd, cx.scope, d));
    let config_entry = fields.get("config");
    let mut config = config_entry.and_then(|entry| fields::object(&entry.value, "`config`", d)).unwrap_or_default();
    for entry in fields.rest() {
        surplus_key(entry, config_entry, &fields.known(), &mut config, d);
    }
    parts.make("command", run);
    parts.set("config", Written::Data(config.into()));
}

/// A command and its working directory, which is searched first for the files the command names.
pub(super) fn prepared(
    command: &Entry,
    cwd: Option<&Entry>,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<PreparedCommand> {
    let directory = match cwd {
        Some(entry) => scope.find(&entry.value, "`cwd`", PathKind::Directory, d).map(Some),
        None => Some(None),
    };
    let path = directory.as_ref().and_then(Option::as_ref).map(|found| found.path.as_path());
    let mut found = Diagnostics::new();
    let command = command::read(&command.value, &label(command), scope, path, &mut found);
    if directory.is_none() {
        command::forgive_paths(&mut found);
    }
    d.append(found);
    Some(PreparedCommand { command: command?, cwd: directory?.map(|found| found.reference) })
}

/// A key that belongs to the command.
fn surplus_key(entry: &Entry, written: Option<&Entry>, known: &[&str], config: &mut Object, d: &mut Diagnostics) {
    let near = known.iter().find(|known| strsim::osa_distance(&entry.key, known) <= NEAR);
    if let Some(near) = near {
        let message = format!("`{}` is close to `{near}`, a key of `code-grader`", entry.key);
        let help = format!("did you mean `{near}`? else put it under `config`");
        d.report(Code::NearMissKey, entry.key_span, message, help);
        return;
    }
    if config.contains_key(&entry.key) {
        let first =
            written.and_then(|config| config.value.entry(&entry.key)).map_or(entry.key_span, |first| first.key_span);
        let problem = Diagnostic::new(Code::ConflictingKeys, format!("`{}` is also in `config`", entry.key));
        d.push(problem.at(entry.key_span).related(first, "also here").help("keep one"));
        return;
    }
    config.insert(entry.key.clone(), entry.value.to_json());
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::{GraderConfig, ResultSource};
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Argument, Command, PathRef};

    use crate::graders::tests::{check, config};
    use crate::tests::Package;

    #[test]
    fn other_keys_go_into_the_config() {
        let entry = "{type: code-grader, command: 'sh x.sh', config: {a: 1}, retries: [2], level: null}";
        let GraderConfig::CodeGrader(grader) = config(entry) else { panic!("another type") };
        assert_eq!(grader.run.command, Command::Shell("sh x.sh".into()));
        assert_eq!(evalsuite_schema::Value::Object(grader.config), json!({"a": 1, "retries": [2], "level": null}));
        check(&[
            (
                "{type: code-grader, command: x, comand: y}",
                &["1:35 E062 `comand` is close to `command`, a key of `code-grader`"],
            ),
            ("{type: code-grader, command: x, config: {a: 1}, a: 2}", &["1:51 E025 `a` is also in `config`"]),
            (
                "{type: code-grader, command: x, target: {}}",
                &["1:35 E026 `target` of a `code-grader` is not supported: there is no proxy to a model"],
            ),
            ("{type: code-grader, script: x}", &["1:23 W001 `script` is now `command`"]),
            (
                "{type: code-grader, command: x, timeout_seconds: 0}",
                &["1:52 E024 `timeout_seconds` is 0, which is not a number greater than 0"],
            ),
            ("{type: code-grader}", &["1:3 E052 missing key `command` in `code-grader`"]),
        ]);
    }

    #[test]
    fn the_result_is_read_from_the_output_unless_the_entry_says_otherwise() {
        let result = |entry| match config(entry) {
            GraderConfig::CodeGrader(grader) => grader.result,
            other => panic!("{other:?}"),
        };
        assert_eq!(result("{type: code-grader, command: make}"), ResultSource::Output);
        assert_eq!(result("{type: code-grader, command: make, result: status}"), ResultSource::Status);
        check(&[(
            "{type: code-grader, command: make, result: exit-code}",
            &["1:46 E023 `result` is `exit-code`, which is not one of `output` and `status`"],
        )]);
    }

    #[test]
    fn the_working_directory_is_searched_first() {
        let package = Package::new(&[("suite/tools/grade.py", ""), ("suite/grade.py", "")]);
        let (parsed, d) = package.read("[{type: code-grader, command: [python3, grade.py], cwd: tools}]");
        assert_eq!(package.lines(&d), Vec::<String>::new());
        let GraderConfig::CodeGrader(grader) = &parsed[0].grader.config else { panic!("another type") };
        assert_eq!(grader.run.cwd, Some(PathRef::found("tools", "suite/tools")));
        let script = Argument::Path(PathRef::found("grade.py", "suite/tools/grade.py"));
        assert_eq!(grader.run.command, Command::Argv(vec![Argument::Text("python3".into()), script]));
    }

    #[test]
    fn a_missing_working_directory_is_an_error() {
        check(&[(
            "{type: code-grader, command: x, cwd: missing}",
            &["1:40 E018 `cwd`: directory `missing` not found"],
        )]);
    }

    #[test]
    fn preprocessors_are_read_with_the_grader() {
        let package = Package::new(&[("suite/pp.sh", "")]);
        let (parsed, d) =
            package.read("[{type: code-grader, command: x, preprocessors: [{type: csv, command: [sh, pp.sh]}]}]");
        assert_eq!(package.lines(&d), Vec::<String>::new());
        let GraderConfig::CodeGrader(grader) = &parsed[0].grader.config else { panic!("another type") };
        assert_eq!(grader.preprocessors.as_ref().map(Vec::len), Some(1));
        // One of them would never run, and which one is a matter of taste.
        check(&[(
            "{type: code-grader, command: x, preprocessors: [{type: .CSV, command: [a]}, {type: md, command: [b]}, {type: text/csv, command: [c]}]}",
            &["1:112 E028 two preprocessors take files of type `text/csv`"],
        )]);
        check(&[(
            "{type: code-grader, command: x, preprocessors: [{type: csv}, {type: md, command: cat}]}",
            &["1:51 E021 missing key `command` in a preprocessor", "1:84 E020 `command` must be a list, found text"],
        )]);
    }
}
