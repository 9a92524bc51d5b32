//! Every form of a diagnostic.

use std::path::Path;
use std::sync::Arc;

use evalsuite_loader::source::{FileId, Files, Position, Span};
use evalsuite_schema::diagnostics::render::{
    Style, github, github_annotations, json, one_line, report, short, summary, text, text_without_severity,
};
use evalsuite_schema::diagnostics::{Code, Diagnostic, Diagnostics, SourceRange};

struct Fixture {
    files: Files,
}

impl Fixture {
    fn new() -> Self {
        Self { files: Files::new(Path::new("/w")) }
    }

    fn file(&self, path: &str, text: &str) -> FileId {
        self.files.add_text(&Path::new("/w").join(path), Arc::from(text), [0; 32])
    }

    fn range(&self, file: FileId, start: (u32, u32), end: (u32, u32)) -> SourceRange {
        let position = |(line, column)| Position { line, column };
        self.files.locate(Span::new(file, position(start), position(end)))
    }

    fn whole(&self, file: FileId) -> SourceRange {
        self.files.locate(Span::whole(file))
    }

    #[track_caller]
    fn shows(&self, diagnostic: &Diagnostic, expected: &str) {
        let shown = text(diagnostic, Style::Plain);
        assert_eq!(shown, expected.trim_start_matches('\n'), "\n{shown}\n");
    }
}

fn unknown_key(fixture: &Fixture) -> Diagnostic {
    let file = fixture.file("suites/a/cases/refund/case.yaml", "# c\nid: x\ninput: y\nasserts:\n  - z\n");
    Diagnostic::new(Code::UnknownKey, "unknown key `asserts` in a case")
        .at(fixture.range(file, (4, 1), (4, 8)))
        .help("did you mean `assertions`?")
}

#[test]
fn a_problem_is_shown_as_rustc_would() {
    let fixture = Fixture::new();
    fixture.shows(
        &unknown_key(&fixture),
        "
error[E019 unknown-key]: unknown key `asserts` in a case
 --> suites/a/cases/refund/case.yaml:4:1
  |
4 | asserts:
  | ^^^^^^^
  = help: did you mean `assertions`?",
    );
}

#[test]
fn compilers_put_the_severity_in_front() {
    let fixture = Fixture::new();
    assert_eq!(
        text_without_severity(&unknown_key(&fixture)),
        "\
[E019 unknown-key] unknown key `asserts` in a case
 --> suites/a/cases/refund/case.yaml:4:1
  |
4 | asserts:
  | ^^^^^^^
  = help: did you mean `assertions`?"
    );
    let without_place = Diagnostic::new(Code::UnusedGrader, "unused grader `x`").help("remove it");
    assert_eq!(text_without_severity(&without_place), "[W016 unused-grader] unused grader `x`\n  = help: remove it");
}

#[test]
fn without_source_lines_the_text_is_that_of_display() {
    let fixture = Fixture::new();
    let directory = fixture.whole(fixture.files.add(Path::new("/w/cases/a")));
    let problem = Diagnostic::new(Code::TwoCaseFiles, "case.yaml\nand \u{1b}case.yml").help("delete one\nor the other");
    for problem in [problem.clone(), problem.at(directory.clone()).related(directory, "here\u{200b}")] {
        assert_eq!(text(&problem, Style::Plain), problem.to_string());
    }
}

#[test]
fn one_line_has_place_message_code_and_help() {
    let fixture = Fixture::new();
    assert_eq!(
        short(&unknown_key(&fixture)),
        "suites/a/cases/refund/case.yaml:4:1: unknown key `asserts` in a case [E019 unknown-key] \
         (help: did you mean `assertions`?)"
    );
    let without_place = Diagnostic::new(Code::UnusedGrader, "unused\ngrader `x`");
    assert_eq!(short(&without_place), "unused grader `x` [W016 unused-grader]");
}

#[test]
fn warnings_and_problems_without_help_are_shown_in_the_same_form() {
    let fixture = Fixture::new();
    let file = fixture.file("EVAL.yaml", "\n\n\n\n\n\n\n\n  cache: true\n");
    fixture.shows(
        &Diagnostic::new(Code::NoEffect, "`cache` has no effect").at(fixture.range(file, (9, 3), (9, 8))),
        "
warning[W004 no-effect]: `cache` has no effect
 --> EVAL.yaml:9:3
  |
9 |   cache: true
  |   ^^^^^",
    );
}

#[test]
fn other_places_are_shown_with_what_is_there() {
    let fixture = Fixture::new();
    let file = fixture.file("a.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9\na: 10\n");
    let other = fixture.file("b.yaml", "id: x\n");
    let directory = fixture.files.add(Path::new("/w/cases/x"));
    fixture.shows(
        &Diagnostic::new(Code::DuplicateKey, "key `a` given twice")
            .at(fixture.range(file, (10, 1), (10, 2)))
            .related(fixture.range(file, (1, 1), (1, 2)), "first given here")
            .related(fixture.range(other, (1, 5), (1, 6)), "and here")
            .related(fixture.whole(directory), "all of it")
            .help("keep one"),
        "
error[E005 duplicate-key]: key `a` given twice
  --> a.yaml:10:1
   |
 1 | a: 1
   | - first given here
...
10 | a: 10
   | ^
   |
  ::: b.yaml:1:5
   |
 1 | id: x
   |     - and here
   = note: cases/x: all of it
   = help: keep one",
    );
}

#[test]
fn places_far_apart_are_shown_apart() {
    let fixture = Fixture::new();
    let file = fixture.file("a.yaml", &format!("a: 1\n{}a: 2\n", "\n".repeat(1_000)));
    fixture.shows(
        &Diagnostic::new(Code::DuplicateKey, "key `a` given twice")
            .at(fixture.range(file, (1_002, 1), (1_002, 2)))
            .related(fixture.range(file, (1, 1), (1, 2)), "first given here"),
        "
error[E005 duplicate-key]: key `a` given twice
    --> a.yaml:1002:1
     |
1002 | a: 2
     | ^
     |
    ::: a.yaml:1:1
     |
   1 | a: 1
     | - first given here",
    );
}

#[test]
fn whole_files_and_directories_have_no_snippet() {
    let fixture = Fixture::new();
    let directory = fixture.files.add(Path::new("/w/cases/a"));
    let file = fixture.file("EVAL.yaml", "x: 1\n");
    let problem = Diagnostic::new(Code::TwoCaseFiles, "case.yaml and case.yml").at(fixture.whole(directory));
    fixture.shows(
        &problem.clone().help("delete one\nor the other"),
        "
error[E016 two-case-files]: case.yaml and case.yml
 --> cases/a
  = help: delete one
          or the other",
    );
    fixture.shows(
        &problem.related(fixture.range(file, (1, 4), (1, 5)), "named here").help("delete one"),
        "
error[E016 two-case-files]: case.yaml and case.yml
 --> cases/a
  |
 ::: EVAL.yaml:1:4
  |
1 | x: 1
  |    - named here
  = help: delete one",
    );
    let unread = fixture.files.add(Path::new("/elsewhere/evals.rs"));
    fixture.shows(
        &Diagnostic::new(Code::EntryNotFound, "`suites/x` not found").at(fixture.range(unread, (4, 5), (4, 9))),
        "
error[E010 entry-not-found]: `suites/x` not found
 --> /elsewhere/evals.rs:4:5",
    );
}

#[test]
fn of_several_lines_the_first_is_shown() {
    let fixture = Fixture::new();
    let file = fixture.file("a.yaml", "a:\n  - b  \n  - c\nd: e");
    fixture.shows(
        &Diagnostic::new(Code::WrongType, "`a` must be text, found a list").at(fixture.range(file, (2, 3), (3, 6))),
        "
error[E020 wrong-type]: `a` must be text, found a list
 --> a.yaml:2:3
  |
2 |   - b  
  |   ^^^",
    );
}

#[test]
fn columns_are_right_below_tabs_and_wide_characters() {
    let fixture = Fixture::new();
    let file = fixture.file("a.json", "{\t\"größe 日本\": é}\r\n");
    fixture.shows(
        &Diagnostic::new(Code::JsonSyntax, "expected a value, found `é`").at(fixture.range(file, (1, 15), (1, 16))),
        "
error[E004 json-syntax]: expected a value, found `é`
 --> a.json:1:15
  |
1 | {    \"größe 日本\": é}
  |                    ^",
    );
}

#[test]
fn characters_that_disturb_a_terminal_are_shown_as_others() {
    let fixture = Fixture::new();
    let file = fixture.file("a\u{1b}[31m.yaml", "a: \u{1b}[31m\u{202e}\u{9b}\u{200f}x\rb: 1\n");
    fixture.shows(
        &Diagnostic::new(Code::UnknownKey, "unknown key `\u{1b}[0m\n\u{202e}`")
            .at(fixture.range(file, (1, 12), (1, 13)))
            .help("did you mean `\u{7}`?"),
        "
error[E019 unknown-key]: unknown key `␛[0m \u{FFFD}`
 --> a␛[31m.yaml:1:12
  |
1 | a: ␛[31m\u{FFFD}\u{FFFD}\u{FFFD}x
  |            ^
  = help: did you mean `␇`?",
    );
    let problem = Diagnostic::new(Code::UnknownKey, "second line").at(fixture.range(file, (2, 1), (2, 2)));
    assert!(text(&problem, Style::Plain).contains("2 | b: 1\n"));
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let fixture = Fixture::new();
    let line = format!("[{}é, NaN, {}]\n", "1,".repeat(300_000), "2,".repeat(300_000));
    let file = fixture.file("a.json", &line);
    let start = std::time::Instant::now();
    fixture.shows(
        &Diagnostic::new(Code::JsonSyntax, "unknown word `NaN`")
            .at(fixture.range(file, (1, 600_005), (1, 600_008)))
            .related(fixture.range(file, (1, 1), (1, 2)), "opened here"),
        "
error[E004 json-syntax]: unknown word `NaN`
 --> a.json:1:600005
  |
1 | ...,1,1,1,1,1,1,1,1,1,1,1,1,1,é, NaN, 2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2...
  |                                  ^^^
  |
 ::: a.json:1:1
  |
1 | [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1...
  | - opened here",
    );
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn places_after_the_end_are_moved_there() {
    let fixture = Fixture::new();
    for (content, expected) in [("a: [1\n\n", "1 | a: [1\n  |      ^"), ("", "1 |\n  | ^")] {
        let file = fixture.file("a.yaml", content);
        let shown = text(
            &Diagnostic::new(Code::YamlSyntax, "expected `]`").at(fixture.range(file, (9, 9), (9, 12))),
            Style::Plain,
        );
        assert!(shown.ends_with(expected), "{shown}");
    }
}

#[test]
fn every_place_can_be_shown() {
    let fixture = Fixture::new();
    for content in ["", "\n", "é", "a: b\n  日: |\r\n\r\n \tx", "\r\r\n"] {
        let file = fixture.file("a.yaml", content);
        for (line, column, end_line, end_column) in
            (0..256).map(|index: u32| (index % 4 + 1, index / 4 % 4 + 1, index / 16 % 4 + 1, index / 64 + 1))
        {
            let place = fixture.range(file, (line, column), (end_line, end_column));
            let problem = Diagnostic::new(Code::YamlSyntax, "x").at(place.clone()).related(place, "y");
            for style in [Style::Plain, Style::Colored] {
                assert!(!text(&problem, style).is_empty());
            }
        }
    }
}

#[test]
fn colors_are_those_of_rustc() {
    let fixture = Fixture::new();
    let shown = text(&unknown_key(&fixture), Style::Colored);
    let unix = "\
^[1m^[91merror[E019 unknown-key]^[0m^[1m: unknown key `asserts` in a case^[0m
 ^[1m^[94m--> ^[0msuites/a/cases/refund/case.yaml:4:1
  ^[1m^[94m|^[0m
^[1m^[94m4^[0m ^[1m^[94m|^[0m asserts:
  ^[1m^[94m|^[0m ^[1m^[91m^^^^^^^^[0m
  ^[1m^[94m=^[0m ^[1mhelp^[0m: did you mean `assertions`?";
    // The console of Windows makes blue hard to read.
    let windows = unix.replace("94m", "96m").replace("^[1m: ", "^[1m^[97m: ").replace("^[1mhelp", "^[1m^[97mhelp");
    assert_eq!(shown.replace('\u{1b}', "^"), if cfg!(windows) { windows } else { unix.to_owned() });
}

#[test]
fn counts_have_the_right_plural() {
    let fixture = Fixture::new();
    let file = fixture.file("a.yaml", "");
    for (errors, warnings, expected) in [
        (0, 0, "no problems"),
        (1, 0, "1 error"),
        (0, 1, "1 warning"),
        (2, 1, "2 errors, 1 warning"),
        (1, 2, "1 error, 2 warnings"),
    ] {
        let mut diagnostics = Diagnostics::new();
        (0..errors).for_each(|_| diagnostics.push(Diagnostic::new(Code::NoCases, "x").at(fixture.whole(file))));
        (0..warnings).for_each(|_| diagnostics.push(Diagnostic::new(Code::NoEffect, "x").at(fixture.whole(file))));
        assert_eq!(summary(&diagnostics), expected);
    }
}

#[test]
fn a_report_has_every_problem_and_the_count() {
    let fixture = Fixture::new();
    let directory = fixture.files.add(Path::new("/w/cases/a"));
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(unknown_key(&fixture));
    diagnostics.push(Diagnostic::new(Code::MissingCaseFile, "no case.yaml, skipped").at(fixture.whole(directory)));
    assert_eq!(
        report(&diagnostics, Style::Plain),
        "\
error[E019 unknown-key]: unknown key `asserts` in a case
 --> suites/a/cases/refund/case.yaml:4:1
  |
4 | asserts:
  | ^^^^^^^
  = help: did you mean `assertions`?

warning[W002 missing-case-file]: no case.yaml, skipped
 --> cases/a

1 error, 1 warning"
    );
}

#[test]
fn programs_get_json() {
    let fixture = Fixture::new();
    let file = fixture.file("a.yaml", "a: 1\na: 2\n");
    let directory = fixture.files.add(Path::new("/w/cases/a"));
    assert_eq!(
        serde_json::to_string(&json(
            &Diagnostic::new(Code::DuplicateKey, "key `a` given twice")
                .at(fixture.range(file, (2, 1), (2, 2)))
                .related(fixture.range(file, (1, 1), (1, 2)), "first given here")
                .related(fixture.whole(directory), "there")
        ))
        .unwrap(),
        r#"{"code":"E005","name":"duplicate-key","severity":"error","message":"key `a` given twice","file":"a.yaml","line":2,"column":1,"end_line":2,"end_column":2,"help":null,"related":[{"file":"a.yaml","line":1,"column":1,"message":"first given here"},{"file":"cases/a","line":null,"column":null,"message":"there"}]}"#
    );
}

#[test]
fn github_gets_commands_with_escapes() {
    let fixture = Fixture::new();
    let file = fixture.file("a,b:c%.yaml", "a: 1\n");
    let place = fixture.range(file, (1, 4), (1, 5));
    assert_eq!(
        github(&Diagnostic::new(Code::UnknownKey, "100%: a,b\nc").at(place).help("do it")),
        "::error file=a%2Cb%3Ac%25.yaml,line=1,col=4,title=E019 unknown-key::100%25: a,b%0Ac%0Ahelp: do it"
    );
    let directory = fixture.files.add(Path::new("/w/cases/a"));
    assert_eq!(
        github(&Diagnostic::new(Code::MissingCaseFile, "no case.yaml").at(fixture.whole(directory))),
        "::warning file=cases/a,title=W002 missing-case-file::no case.yaml"
    );
}

#[test]
fn a_line_for_problem_matchers_starts_with_the_place() {
    let fixture = Fixture::new();
    let line = one_line(&unknown_key(&fixture));
    assert!(line.starts_with("suites/"), "{line}");
    assert!(line.contains(": error[E019]: unknown key"), "{line}");
    let whole = fixture.whole(fixture.file("a.yaml", ""));
    let empty = Diagnostic::new(Code::EmptyFile, "the file\nis empty").at(whole);
    assert_eq!(
        one_line(&empty),
        "a.yaml:1:1: warning[W012]: the file is empty".replace("W012", Code::EmptyFile.as_str())
    );
    let unused = Diagnostic::new(Code::UnusedGrader, "unused grader `x`").help("delete it");
    assert_eq!(one_line(&unused), "warning[W016]: unused grader `x` (help: delete it)");
}

#[test]
fn of_many_annotations_the_weightiest_are_shown() {
    let fixture = Fixture::new();
    let place = |line| fixture.range(fixture.file("a.yaml", "a\n"), (line, 1), (line, 2));
    let error = |line| Diagnostic::new(Code::WrongType, format!("error {line}")).at(place(line));
    let warning = |line| Diagnostic::new(Code::NoEffect, format!("warning {line}")).at(place(line));
    let mut all: Diagnostics = (1..=10).map(warning).chain((1..=11).map(error)).collect();
    all.push(error(12).related(place(13), "also here"));
    let text = github_annotations(&all);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 9 + 1 + 10, "{text}");
    assert!(lines[0].contains("::error 12"), "it has two places: {text}");
    assert!(lines[1].contains("::error 1%0A") || lines[1].ends_with("::error 1"), "{text}");
    assert_eq!(lines[9], "::error title=evalsuite::3 more errors; `cargo evalsuite check` shows them all");
    assert!(lines[10..].iter().all(|line| line.starts_with("::warning file=a.yaml")), "ten fit: {text}");
}
