//! Tests of the whole agent, offline, that need several runs or special files and are therefore not tasks of the suite.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use card_agent::{CardAgent, Desk, Note, Observer, ScriptedModel, ToolCall, ToolResult};

#[derive(Default)]
struct Calls(Vec<(String, bool)>);

impl Observer for Calls {
    fn on_tool_call(&mut self, call: &ToolCall, result: &ToolResult, _took: std::time::Duration) {
        self.0.push((call.name.clone(), result.is_ok()));
    }
}

fn run(note: &str, root: &Path) -> (String, Vec<(String, bool)>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut calls = Calls::default();
    let desk = Desk::open(root).unwrap();
    let note = Note::new(note, "2026-01-12".parse().unwrap());
    let answer = runtime.block_on(CardAgent::new(ScriptedModel::new()).run(&note, &desk, &mut calls)).unwrap();
    (answer, calls.0)
}

fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn a_card_is_saved_and_not_saved_twice() {
    let dir = tempfile::tempdir().unwrap();
    let (answer, calls) = run("Dentist on Wednesday at 15:30", dir.path());
    assert_eq!(answer, "Saved event card cards/2026-01-14-dentist.json: Dentist (date 2026-01-14, time 15:30).");
    assert_eq!(calls, [("list_files".to_owned(), true), ("write_file".to_owned(), true)]);
    let before = files(dir.path());
    let (answer, calls) = run("Wednesday 3:30 pm dentist", dir.path());
    assert_eq!(answer, "Nothing to save: cards/2026-01-14-dentist.json says that already.");
    assert_eq!(calls, [("list_files".to_owned(), true), ("read_file".to_owned(), true)]);
    assert_eq!(files(dir.path()), before);
}

#[test]
fn an_invalid_profile_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("profile.json"), "{").unwrap();
    let (answer, _) = run("Paid 30 for parking", dir.path());
    assert_eq!(answer, "In which currency is the amount 30?");
}

#[test]
fn ledger_lines_are_quoted_as_csv_requires() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("expenses.csv"), "date,title,amount,currency").unwrap();
    let (answer, _) = run("Lunch, with wine, 14.20 EUR", dir.path());
    assert!(answer.ends_with("Added a line to expenses.csv."), "{answer}");
    assert_eq!(
        files(dir.path())["expenses.csv"],
        "date,title,amount,currency\n2026-01-12,\"Lunch, with wine\",14.20,EUR\n"
    );
}

#[cfg(unix)]
#[test]
fn a_card_that_cannot_be_written_is_not_reported_as_saved() {
    let dir = tempfile::tempdir().unwrap();
    // A file in place of the directory of cards.
    fs::write(dir.path().join("cards"), "").unwrap();
    let (answer, calls) = run("Buy milk tomorrow", dir.path());
    assert!(answer.starts_with("I could not save everything: "), "{answer}");
    assert_eq!(calls.last(), Some(&("write_file".to_owned(), false)));
}
