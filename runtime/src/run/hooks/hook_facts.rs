//! The data of a hook: on standard input, in its environment, and in placeholders `{{ name }}` of its command.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process;

use evalsuite_schema::json::{FromJson, ToJson, Value, json};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Argument, Case, Command, Content, Input, Message, Object, Part};

use crate::model::command::{CommandEnvironment, of_workspace, shell};
use crate::model::messages::{content_text, prompt};
use crate::model::suite_location::SuiteLocation;
use crate::platform::process::Echo;
use crate::platform::shell_quoting::{is_quotable, quoted};
use crate::run::case_report::TrialResult;

/// What a hook gets.
#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct HookFacts {
    pub(crate) run_id: String,
    pub(crate) package_root: PathBuf,
    pub(crate) suite_dir: PathBuf,
    pub(crate) workspace: PathBuf,
    /// Id of the case, or a name in underscores for a hook around all of them.
    pub(crate) test_id: String,
    pub(crate) target: Option<String>,
    pub(crate) case: Option<CaseFacts>,
    /// Index of the trial and its directory.
    pub(crate) trial: Option<(u32, PathBuf)>,
    /// How the trial ended, for a hook after it.
    pub(crate) result: Option<TrialResult>,
    /// What it may not use if it is sealed.
    pub(crate) hidden: Vec<PathBuf>,
}

/// What a hook gets of a case.
#[derive(Debug, Clone, ToJson, FromJson)]
pub(crate) struct CaseFacts {
    pub(crate) dir: PathBuf,
    pub(crate) input: String,
    pub(crate) metadata: Object,
}

impl CaseFacts {
    pub(crate) fn of(case: &Case, places: &SuiteLocation) -> Self {
        Self { dir: places.join(&case.dir), input: input_text(&case.input), metadata: case.metadata.clone() }
    }
}

impl HookFacts {
    /// The object on standard input.
    pub(crate) fn payload(&self) -> Value {
        let mut payload = json!({
            "workspace_path": self.workspace.display().to_string(),
            "test_id": self.test_id,
            "eval_run_id": self.run_id,
            "case_input": self.case.as_ref().map(|case| &case.input),
            "case_metadata": self.case.as_ref().map(|case| &case.metadata),
            "target": self.target,
            "trial": self.trial.as_ref().map(|(index, _)| index),
        });
        if let (Some(result), Value::Object(payload)) = (&self.result, &mut payload) {
            payload.insert("outcome".to_owned(), result.outcome.as_str().into());
            payload.insert("score".to_owned(), result.score.into());
            payload.insert("answer".to_owned(), result.answer.clone().into());
        }
        payload
    }

    /// The value of a placeholder; `None` for a name that is not one.
    pub(crate) fn placeholder(&self, name: &str) -> Option<String> {
        let path = |path: &Path| path.display().to_string();
        let case = self.case.as_ref();
        Some(match name {
            "workspace_path" => path(&self.workspace),
            "test_id" => self.test_id.clone(),
            "eval_run_id" => self.run_id.clone(),
            "case_input" => case.map(|case| case.input.clone()).unwrap_or_default(),
            "case_metadata" => case.map(|case| Value::Object(case.metadata.clone()).to_string()).unwrap_or_default(),
            "suite_dir" => path(&self.suite_dir),
            "case_dir" => case.map(|case| path(&case.dir)).unwrap_or_default(),
            "target" => self.target.clone().unwrap_or_default(),
            _ => return None,
        })
    }

    pub(crate) fn environment(&self, echo: Echo) -> CommandEnvironment {
        let path = |path: &Path| OsString::from(path);
        let mut variables =
            vec![("EVALSUITE_SUITE_DIR", path(&self.suite_dir)), ("EVALSUITE_RUN_ID", self.run_id.as_str().into())];
        variables.extend(of_workspace(&self.workspace));
        if let Some(case) = &self.case {
            variables.push(("EVALSUITE_CASE_DIR", path(&case.dir)));
            variables.push(("EVALSUITE_CASE_ID", self.test_id.as_str().into()));
        }
        if let Some((index, directory)) = &self.trial {
            variables.push(("EVALSUITE_TRIAL", index.to_string().into()));
            variables.push(("EVALSUITE_TRIAL_DIR", path(directory)));
        }
        variables.extend(self.target.as_ref().map(|target| ("EVALSUITE_TARGET", target.into())));
        CommandEnvironment::new(variables, echo)
    }

    pub(crate) fn places(&self) -> SuiteLocation {
        SuiteLocation { package_root: self.package_root.clone(), suite_dir: self.suite_dir.clone() }
    }
}

/// The text of an input: all text parts of all messages, trimmed, joined by single spaces.
fn input_text(input: &Input) -> String {
    let Input::Messages(messages) = input else { return prompt(input, |file| PathBuf::from(&file.path)) };
    let texts: Vec<String> = messages.iter().flat_map(texts).filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}

fn texts(message: &Message) -> Vec<String> {
    let parts = match &message.content {
        None => return Vec::new(),
        Some(Content::Parts(parts)) => parts,
        Some(content) => return vec![content_text(content).trim().to_owned()],
    };
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.trim().to_owned()),
        _ => None,
    };
    parts.iter().filter_map(text).collect()
}

/// The program to start, and its text, in which a shell gets quoted values; unknown placeholders stay. The error is why it cannot run.
pub(crate) fn filled_command(command: &Command, facts: &HookFacts) -> Result<(process::Command, String), String> {
    let fill = |text: &str, written: fn(String) -> String| {
        Syntax::TemplateBesideVariables.fill(text, |name| facts.placeholder(name).map(written).map(Cow::Owned))
    };
    match command {
        Command::Shell(line) => {
            let is_unquotable = |name: &&str| facts.placeholder(name).is_some_and(|value| !is_quotable(&value));
            if let Some(name) = Syntax::TemplateBesideVariables.names(line).find(is_unquotable) {
                return Err(format!(
                    "cannot run: the value of `{name}` has several lines, of which `cmd` reads only the first"
                ));
            }
            let line = fill(line, |value| quoted(&value));
            Ok((shell(&line), line))
        }
        Command::Argv(arguments) => {
            let word = |argument: &Argument| match argument {
                Argument::Text(text) => fill(text, |value| value),
                Argument::Path(path) => facts.places().resolve(path).display().to_string(),
            };
            let words: Vec<String> = arguments.iter().map(word).collect();
            let (program, arguments) = words.split_first().ok_or("has an empty command")?;
            let mut command = process::Command::new(program);
            command.args(arguments);
            Ok((command, words.join(" ")))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use evalsuite_records::record::Status;
    use evalsuite_schema::{PathRef, Role};

    use super::*;
    use crate::platform::protocol_schema;

    pub(crate) fn facts() -> HookFacts {
        HookFacts {
            run_id: "run".into(),
            package_root: "/p".into(),
            suite_dir: "/p/suites/x".into(),
            workspace: "/w".into(),
            test_id: "case".into(),
            target: Some("codex".into()),
            case: Some(CaseFacts {
                dir: "/p/suites/x/cases/a".into(),
                input: "it's".into(),
                metadata: Object::from_iter([("k".to_owned(), json!(1))]),
            }),
            trial: Some((2, "/t".into())),
            result: None,
            hidden: Vec::new(),
        }
    }

    #[test]
    fn the_object_on_standard_input_has_every_key() {
        let payload = facts().payload();
        assert_eq!(
            payload,
            json!({
                "workspace_path": "/w", "test_id": "case", "eval_run_id": "run", "case_input": "it's",
                "case_metadata": {"k": 1}, "target": "codex", "trial": 2,
            })
        );
        let around_all = HookFacts { case: None, target: None, trial: None, ..facts() }.payload();
        for key in ["case_input", "case_metadata", "target", "trial"] {
            assert_eq!(around_all.get(key), Some(&Value::Null), "{key}");
        }
        let result = TrialResult { outcome: Status::Failed, score: Some(0.5), answer: Some("no".into()) };
        let after = HookFacts { result: Some(result), ..facts() }.payload();
        assert_eq!(
            (&after["outcome"], &after["score"], &after["answer"]),
            (&json!("failed"), &json!(0.5), &json!("no"))
        );
        protocol_schema::examples("hook-input");
        for payload in [payload, around_all, after] {
            assert_eq!(protocol_schema::problems("hook-input", &payload), Vec::<String>::new(), "{payload}");
        }
    }

    #[test]
    fn the_input_is_the_text_of_all_messages() {
        let file = Part::File(PathRef::new("a"));
        let parts = vec![Part::Text(" first ".into()), file, Part::Text("  ".into()), Part::Text("second".into())];
        let messages = vec![Message::text(Role::System, "be brief\n"), Message::new(Role::User, Content::Parts(parts))];
        assert_eq!(input_text(&Input::Messages(messages)), "be brief first second");
    }

    fn text(text: &str) -> Argument {
        Argument::Text(text.to_owned())
    }

    #[test]
    fn arguments_get_the_plain_values() {
        let command = Command::Argv(vec![
            text("echo"),
            text("{{test_id}}/{{ target }}"),
            text("{{case_metadata}}"),
            text("{{unknown}} ${{ test_id }} {{{test_id}}} {{"),
        ]);
        let (_, shown) = filled_command(&command, &facts()).unwrap();
        assert_eq!(shown, "echo case/codex {\"k\":1} {{unknown}} ${{ test_id }} {case} {{");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_gets_every_value_as_one_word() {
        let line = Command::Shell("cd {{workspace_path}} && echo {{case_input}}".into());
        let (_, line) = filled_command(&line, &facts()).unwrap();
        assert_eq!(line, r"cd '/w' && echo 'it'\''s'");
    }

    #[test]
    fn what_does_not_apply_is_empty() {
        let facts = HookFacts { case: None, target: None, ..facts() };
        let command = Command::Argv(vec![text("echo"), text("<{{case_dir}}{{target}}>")]);
        assert_eq!(filled_command(&command, &facts).unwrap().1, "echo <>");
    }
}
