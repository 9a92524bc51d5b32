//! Which edits read one case, and which the whole suite.

use super::{Read, call, expanded, is_cached, read};
use crate::tests::{Fixture, TASK, texts};

const PATH: &str = "suites/card_agent/tasks/a.json";

/// What an expansion takes from the cache after the task has this text.
fn after(fixture: &Fixture, text: &str) -> Option<Read> {
    fixture.write(PATH, text);
    fixture.age(PATH);
    read(&call(fixture))
}

#[test]
fn the_edit_of_a_case_reads_that_case_only_and_gives_the_same_suite() {
    let fixture = expanded(&[("suites/card_agent/tasks/b.json", &TASK.replace("\"a\"", "\"b\""))]);
    assert_eq!(after(&fixture, &TASK.replace("hello", "hallo")), Some(Read::EditedCases));
    let call = call(&fixture);
    assert!(is_cached(&call));
    let code = call.expand().tokens().to_string();
    assert!(code.contains("hallo"), "{code}");
    assert_eq!(code, call.expand_uncached().tokens().to_string());
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
        let fixture = expanded(&[]);
        assert_eq!(after(&fixture, &TASK.replacen(from, to, 1)), None, "{name}");
    }
}

#[test]
fn a_mistake_that_is_corrected_leaves_the_rest_of_the_suite_in_the_cache() {
    let fixture = expanded(&[("suites/card_agent/tasks/b.json", &TASK.replace("\"a\"", "\"b\""))]);
    assert_eq!(after(&fixture, "{"), None);
    assert!(!texts(&call(&fixture).expand(), true).is_empty(), "the mistake is an error");
    assert_eq!(after(&fixture, &TASK.replace("hello", "hallo")), Some(Read::EditedCases));
}
