//! Made-up results, graded by graders of all kinds.

use std::path::Path;

use evalsuite_records::record::Verdict;
use evalsuite_schema::grader::{Aggregator, Composite, LlmGrader, TextValue};
use evalsuite_schema::{
    Aggregation, Case, Conversation, Example, Grader, GraderConfig, Input, Layout, Location, Message, Object,
    OnTurnFailure, Role, Suite, SuiteKind, ToolCall, Turn,
};

use super::bounded_grading::AllowedGraders;
use super::suite::MadeUpSuite;
use super::{GradedResult, MadeUpReply, MadeUpResult};
use crate::model::evals::Evals;
use crate::model::evidence::Evidence;
use crate::model::suite::loaded_suite;
use crate::run::settings::Settings;

fn place(line: u32) -> Location {
    Location::new("suites/s/EVAL.yaml", line, 5)
}

fn contains(text: &str) -> Grader {
    let config = GraderConfig::Contains(TextValue { value: text.to_owned() });
    Grader::new(format!("has-{text}"), place(2), config)
}

fn judge() -> Grader {
    Grader::new("judge", place(3), GraderConfig::LlmGrader(LlmGrader::default()))
}

fn user(name: &str) -> Grader {
    let config = GraderConfig::User { grader: name.to_owned(), config: Object::new() };
    Grader::new(name, place(4), config)
}

fn composite(members: Vec<Grader>, threshold: f64) -> Grader {
    let config = Composite { members, aggregator: Aggregator::Threshold { threshold } };
    Grader::new("all", place(5), GraderConfig::Composite(config))
}

fn case(graders: Vec<Grader>) -> Case {
    let mut case = Case::new("c", place(1));
    case.input = Input::Messages(vec![Message::text(Role::User, "hello")]);
    case.graders = graders;
    case
}

fn answer(text: &str) -> MadeUpResult {
    MadeUpResult::new(vec![MadeUpReply::new(text, Vec::new())])
}

fn grade_in(root: &Path, case: Case, register: impl FnOnce(Evals) -> Evals, result: &MadeUpResult) -> GradedResult {
    let mut suite = Suite::new("s", Layout::Cases, SuiteKind::Regression, place(1));
    suite.root = "suite-of-test".to_owned();
    let suite = loaded_suite(suite, vec![case], None, root).unwrap();
    let allowed = AllowedGraders { judges: false, commands: true };
    let made_up = MadeUpSuite::new(register(Evals::new(suite)), &Settings::default(), allowed).unwrap();
    let grading = made_up.case(&suite.cases[0]).unwrap();
    let graded = grading.grade(result);
    drop(grading);
    assert_eq!(made_up.end(), Vec::<String>::new());
    graded
}

fn grade(graders: Vec<Grader>, result: &MadeUpResult) -> GradedResult {
    grade_in(Path::new("/"), case(graders), |evals| evals, result)
}

fn not_run(graded: &GradedResult) -> Vec<&str> {
    graded.not_run.iter().map(|grader| grader.path.as_str()).collect()
}

#[test]
fn built_in_graders_decide() {
    let graded = grade(vec![contains("refund")], &answer("no"));
    assert_eq!((graded.passes, graded.score), (Some(false), Some(0.0)));
    assert_eq!(grade(vec![contains("refund")], &answer("a refund")).passes, Some(true));
    assert!(graded.not_run.is_empty());
}

#[test]
fn a_case_is_undecided_only_if_the_missing_graders_matter() {
    let graded = grade(vec![contains("refund"), judge()], &answer("a refund"));
    assert_eq!((graded.passes, graded.score, not_run(&graded)), (None, None, vec!["judge"]));
    assert!(graded.not_run[0].asks_judge);
    let graded = grade(vec![contains("refund"), judge()], &answer("no"));
    assert_eq!((graded.passes, graded.score), (Some(false), None), "at most 0.5");
    let mut light = judge();
    light.weight = 0.1;
    assert_eq!(grade(vec![contains("refund"), light], &answer("a refund")).passes, Some(true));
    let mut gate = contains("refund");
    gate.required = true;
    assert_eq!(grade(vec![gate, judge()], &answer("no")).passes, Some(false));
    assert_eq!(grade(Vec::new(), &answer("no")).passes, None, "a judge grades a case without graders");
}

#[test]
fn members_that_were_not_run_leave_a_composite_open_in_both_directions() {
    let open = || composite(vec![contains("refund"), judge()], 1.0);
    let graded = grade(vec![open()], &answer("a refund"));
    assert_eq!((graded.passes, not_run(&graded)), (None, vec!["all/judge"]));
    assert_eq!(graded.graders[0].members.len(), 2);
    assert_eq!(graded.graders[0].verdict, None);
    let graded = grade(vec![open()], &answer("no"));
    assert_eq!((graded.passes, graded.graders[0].members[1].verdict), (Some(false), None));
    let negated = |text: &str| {
        let mut grader = open();
        grader.negate = true;
        grade(vec![grader], &answer(text)).passes
    };
    assert_eq!(
        (negated("a refund"), negated("no")),
        (None, Some(true)),
        "the negation of at least 0.5, and of at most 0.5"
    );
}

#[test]
fn graders_in_rust_run_if_the_program_has_them() {
    fn made_one_call(evidence: &Evidence<'_>) -> bool {
        assert!(evidence.workspace().is_dir());
        evidence.tool_calls().is_some_and(|calls| calls.len() == 1)
    }
    let result = MadeUpResult::new(vec![MadeUpReply::new("", vec![ToolCall::new("save")])]);
    let register = |evals: Evals| evals.with_grader("calls", made_one_call);
    let graded = grade_in(Path::new("/"), case(vec![user("calls")]), register, &result);
    assert_eq!(graded.passes, Some(true));
    let missing = grade(vec![user("calls")], &result);
    assert_eq!((missing.passes, not_run(&missing)), (None, vec!["calls"]));
    assert!(missing.not_run[0].reason.contains("`calls`"), "{:?}", missing.not_run);

    fn panics(_: &Evidence<'_>) -> bool {
        panic!("broken")
    }
    let broken = grade_in(Path::new("/"), case(vec![user("p")]), |evals| evals.with_grader("p", panics), &result);
    assert_eq!(broken.passes, None);
    assert!(broken.not_run[0].reason.contains("broken"), "{:?}", broken.not_run);
}

#[cfg(unix)]
#[test]
fn commands_see_the_template_with_the_made_up_files() {
    use evalsuite_schema::grader::{CodeGrader, PreparedCommand, ResultSource};
    use evalsuite_schema::{Command, PathRef, Workspace};

    let package = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(package.path().join("suite-of-test")).unwrap();
    std::fs::create_dir_all(package.path().join("template")).unwrap();
    std::fs::write(package.path().join("template/given.txt"), "given").unwrap();
    let script = "cd \"$EVALSUITE_WORKSPACE\" && cat given.txt new.txt 2>/dev/null | grep -q given-new";
    let config = CodeGrader {
        run: PreparedCommand { command: Command::Shell(script.into()), cwd: None },
        sealing: Default::default(),
        result: ResultSource::Output,
        timeout_seconds: None,
        config: Object::new(),
        preprocessors: None,
    };
    let command = Grader::new("files", place(6), GraderConfig::CodeGrader(config));
    let graded = |files: Vec<(String, Option<String>)>| {
        let mut case = case(vec![command.clone()]);
        case.dir = "suite-of-test".to_owned();
        case.workspace = Some(Workspace { template: Some(PathRef::new("template")), ..Workspace::default() });
        let result = MadeUpResult { files, ..answer("done") };
        grade_in(package.path(), case, |evals| evals, &result)
    };
    let file = |path: &str, text: Option<&str>| (path.to_owned(), text.map(str::to_owned));
    let untouched = graded(Vec::new());
    assert_eq!(untouched.passes, Some(false), "{:?}", untouched.not_run);
    assert_eq!(graded(vec![file("new.txt", Some("-new"))]).passes, Some(true));
    assert_eq!(graded(vec![file("new.txt", Some("-new")), file("given.txt", None)]).passes, Some(false));
    let outside = graded(vec![file("../new.txt", Some("-new"))]);
    assert_eq!((outside.passes, not_run(&outside)), (None, vec!["files"]));
}

#[test]
fn turns_and_the_whole_of_a_conversation_are_graded() {
    let turn = |text: &str, graders| Turn::new(Message::text(Role::User, text), Vec::new(), graders);
    let graded = |on_turn_failure, replies: &[&str]| {
        let mut case = case(vec![contains("bye")]);
        let turns = vec![turn("one", vec![contains("1")]), turn("two", vec![contains("2"), judge()])];
        let mut conversation = Conversation::new(turns);
        conversation.on_turn_failure = on_turn_failure;
        conversation.aggregation = Aggregation::Min;
        case.conversation = Some(conversation);
        let replies = replies.iter().map(|text| MadeUpReply::new(*text, Vec::new())).collect();
        grade_in(Path::new("/"), case, |evals| evals, &MadeUpResult::new(replies))
    };
    let all = graded(OnTurnFailure::Continue, &["1", "2, bye"]);
    assert_eq!((all.passes, not_run(&all)), (None, vec!["turn-001/judge"]));
    let none = graded(OnTurnFailure::Stop, &[]);
    assert_eq!((none.passes, none.turns.as_ref().map(Vec::len)), (Some(false), Some(2)));
    assert_eq!(none.turns.unwrap()[1].graders[0].verdict, Some(Verdict::Fail));
}

#[test]
fn examples_belong_to_the_case_or_to_a_grader() {
    let example = |line, answer: &str| Example::new(place(line), answer);
    let mut refund = contains("refund");
    refund.examples.pass = vec![example(20, "a refund"), example(21, "nothing")];
    let mut judged = judge();
    judged.examples.fail = vec![example(22, "rude")];
    let mut case = case(vec![refund, composite(vec![contains("19.90"), judged], 0.5)]);
    case.examples.fail = vec![example(23, "no"), example(24, "a refund of 19.90")];
    let suite = Suite::new("s", Layout::Cases, SuiteKind::Regression, place(1));
    let suite = loaded_suite(suite, vec![case], None, Path::new("/")).unwrap();
    let allowed = AllowedGraders { judges: false, commands: true };
    let made_up = MadeUpSuite::new(Evals::new(suite), &Settings::default(), allowed).unwrap();
    let graded = made_up.case(&suite.cases[0]).unwrap().grade_examples().unwrap();
    let results: Vec<_> =
        graded.iter().map(|example| (example.location.line, example.grader.as_deref(), example.is_right())).collect();
    let expected = [
        (23, None, Some(true)),
        (24, None, Some(false)),
        (20, Some("has-refund"), Some(true)),
        (21, Some("has-refund"), Some(false)),
        (22, Some("all/judge"), None),
    ];
    assert_eq!(results, expected);
    assert!(
        graded[3].problem("c").starts_with(
            "suites/s/EVAL.yaml:21:5: the example should pass, and grader `has-refund` of case `c` fails it"
        )
    );
    assert!(graded[4].undecided("c").0);
}
