//! Which edits read one case, and which the whole suite.

use std::fs;
use std::time::{Duration, SystemTime};

use evalsuite_loader::Request;

use super::super::{Cache, Loaded};
use super::{is_cached, loaded, tracked};
use crate::fixture::{Fixture, TASK};

const PATH: &str = "suites/card_agent/tasks/a.json";

/// The suite that a build script reads after the task has this text.
fn after(fixture: &Fixture, text: &str) -> Loaded {
    fixture.write(PATH, text);
    let old = SystemTime::now() - Duration::from_secs(60);
    fs::File::open(fixture.path(PATH)).and_then(|file| file.set_modified(old)).expect("a time");
    let request = Request::new("suites/card_agent", &fixture.package.root);
    let entry = fixture.path("suites/card_agent");
    let (_, how) = Cache::new(&fixture.package.out_dir, &request, &entry).update();
    how.expect("it is stored")
}

#[test]
fn the_edit_of_a_case_reads_that_case_only_and_gives_the_same_suite() {
    let fixture = tracked(&[("suites/card_agent/tasks/b.json", &TASK.replace("\"a\"", "\"b\""))]);
    assert_eq!(after(&fixture, &TASK.replace("hello", "hallo")), Loaded::Part);
    let call = fixture.call("suites/card_agent");
    assert!(is_cached(&call));
    let code = call.expand().tokens().to_string();
    assert!(code.contains("hallo"), "{code}");
    assert_eq!(code, loaded(call).tokens().to_string());
}

#[test]
fn what_a_suite_takes_from_a_case_makes_it_read_as_a_whole() {
    let changes: [(&str, &str, &str); 4] = [
        ("an id", "\"a\"", "\"other\""),
        ("a grader of the user's", "contains", "is_nice"),
        ("a place", "{ \"id\"", "\n{ \"id\""),
        ("a path", "\"description\"", "\"input\": { \"fixture_dir\": \"tasks\" }, \"description\""),
    ];
    for (name, from, to) in changes {
        let fixture = tracked(&[]);
        assert_eq!(after(&fixture, &TASK.replacen(from, to, 1)), Loaded::Whole, "{name}");
    }
}

#[test]
fn a_build_script_that_was_built_anew_trusts_no_old_cache() {
    let fixture = tracked(&[]);
    let folder = fixture.package.out_dir.join("evalsuite/loaded");
    let file = fs::read_dir(&folder).expect("a folder").next().expect("a file").expect("an entry").path();
    let text = fs::read_to_string(&file).expect("text");
    let program = text.find("\"program\":\"").expect("the program's stamp") + "\"program\":\"".len();
    let mut other = text.clone();
    other.replace_range(program..=program, if text[program..].starts_with('1') { "2" } else { "1" });
    fs::write(&file, other).expect("written");
    let edited = TASK.replace("hello", "hallo");
    assert_eq!(after(&fixture, &edited), Loaded::Whole);
    assert_eq!(after(&fixture, TASK), Loaded::Part);
}
