//! What a judge is shown of an answer: its files, its images, and what was changed and called on the way.
#![cfg(unix)]

use std::fs;

use evalsuite::record::{Mode, ReasonCode};
use evalsuite::{
    AgentError, CaseReport, Content, Evals, Message, Outcome, Part, PathRef, Role, Status, ToolCall, Trial,
};
use evalsuite_schema::Input;
use evalsuite_schema::json::{Value, json, to_value};

use crate::common::{case_json, grader, run_in_mode, suite};
use crate::judges::{Scripted, scripted};

const YES: &str = r#"{"score": 1}"#;

fn path(path: &str) -> PathRef {
    PathRef::new(path)
}

/// Answers with a text and these files, which it writes.
fn with_files(files: &[(&'static str, &[u8])]) -> impl Fn(&mut Trial<'_>) -> Result<Outcome, AgentError> + use<> {
    let files: Vec<_> = files.iter().map(|(name, content)| (*name, content.to_vec())).collect();
    move |trial| {
        let mut parts = vec![Part::Text("Here they are.".into())];
        for (name, content) in &files {
            fs::write(trial.workspace().join(name), content).map_err(|error| AgentError::new(error.to_string()))?;
            let file = path(name);
            parts.push(match name.rsplit_once('.') {
                Some((_, "png")) => Part::Image { file, media_type: "image/png".into() },
                Some((_, "mp3")) => Part::Audio { file, media_type: "audio/mpeg".into() },
                Some((_, "pdf")) => Part::Document { file, media_type: "application/pdf".into() },
                _ => Part::File(file),
            });
        }
        let mut answer = Message::new(Role::Assistant, Content::Parts(parts));
        answer.tool_calls.push(ToolCall::new("Write").with_input(json!({"file_path": "a.csv"})));
        Ok(Outcome::new().with_messages(vec![answer]))
    }
}

fn command(script: &str) -> Value {
    json!({"argv": [{"text": "sh"}, {"text": "-c"}, {"text": script}]})
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("suites/x")).unwrap();
        Self(directory)
    }

    fn evals(&self, config: Value, more: Value) -> Evals {
        let mut case =
            case_json("a", json!([grader("tone", 5, json!({"llm-grader": config}))]), json!({"criteria": "c"}));
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Evals::new(suite("cases", "mixed", self.0.path(), &[case]))
    }

    fn run(&self, evals: &Evals, mode: Mode) -> CaseReport {
        run_in_mode(evals, self.0.path(), mode)
    }
}

/// What the judge was asked about an answer with these files.
fn shown(files: &[(&'static str, &[u8])], config: Value, more: Value) -> (CaseReport, Scripted) {
    let (place, judge) = (Place::new(), scripted([YES]));
    let evals = place.evals(config, more).with_agent(with_files(files)).with_judge(judge.clone());
    (place.run(&evals, Mode::Live), judge)
}

#[track_caller]
fn broken(case: &CaseReport, part: &str) {
    let reason = case.record().reason.as_ref().unwrap_or_else(|| panic!("{case}"));
    assert_eq!((case.status(), reason.code), (Status::Error, ReasonCode::GraderError), "{case}");
    assert!(reason.message.contains(part), "{part} is missing in {}", reason.message);
}

#[test]
fn a_prompt_with_the_tool_calls_is_not_filled_in_if_they_are_not_known() {
    let config = json!({"prompt": {"text": "Was nothing deleted? {{ output }} Calls: {{ tool_calls }}"}});
    let run = |agent: fn(&mut Trial<'_>) -> Result<Outcome, AgentError>| {
        let (place, judge) = (Place::new(), scripted([YES]));
        let evals = place.evals(config.clone(), json!({})).with_agent(agent).with_judge(judge.clone());
        (place.run(&evals, Mode::Live), judge)
    };
    let (case, judge) = run(|_| Ok("done".into()));
    broken(&case, "the prompt contains `tool_calls`, but the agent's calls are not known");
    assert!(judge.asked().is_empty());
    let (case, judge) = run(|trial| {
        trial.transcript_complete();
        Ok("done".into())
    });
    assert_eq!(case.status(), Status::Passed, "{case}");
    assert_eq!(judge.asked()[0].user(), "Was nothing deleted? done Calls: ");
}

#[test]
fn files_of_the_answer_are_shown_as_text() {
    let files: [(&str, &[u8]); 2] = [("a.txt", "first ü\n".as_bytes()), ("b.md", b"# second")];
    let (case, judge) = shown(&files, json!({}), json!({}));
    assert_eq!(case.status(), Status::Passed, "{case}");
    let prompt = judge.asked()[0].user().to_owned();
    let expected = "Here they are.\n[[ file: a.txt ]]\nfirst ü\n\n[[ file: b.md ]]\n# second";
    assert!(prompt.contains(expected), "{prompt}");
    for part in ["[[ ## file_changes ## ]]", "+# second", "[[ ## tool_calls ## ]]", "- Write: a.csv"] {
        assert!(prompt.contains(part), "{part} is missing in\n{prompt}");
    }
}

#[test]
fn a_recorded_file_is_shown_with_the_text_that_is_returned_and_reports_no_calls() {
    fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
        fs::write(trial.workspace().join("a.txt"), "first").map_err(|error| AgentError::new(error.to_string()))?;
        trial.recorder().file("a.txt");
        Ok("Here it is.".into())
    }
    let (place, judge) = (Place::new(), scripted([YES]));
    let evals = || place.evals(json!({}), json!({})).with_judge(judge.clone());
    for case in [
        place.run(&evals().with_agent(agent), Mode::Record),
        place.run(&evals().with_agent(|_: &mut Trial<'_>| -> Result<String, AgentError> { panic!() }), Mode::Replay),
    ] {
        assert_eq!(
            (case.status(), case.trials()[0].answer.as_deref()),
            (Status::Passed, Some("Here it is.")),
            "{case}"
        );
    }
    let prompt = judge.asked()[0].user().to_owned();
    assert!(prompt.contains("Here it is.\n[[ file: a.txt ]]\nfirst"), "{prompt}");
    let calls = grader("calls", 5, json!({"execution-metrics": {"max_tool_calls": 0}}));
    let evals = Evals::new(suite("cases", "mixed", place.0.path(), &[case_json("b", json!([calls]), json!({}))]));
    broken(&place.run(&evals.with_agent(agent), Mode::Live), "the agent's calls are not known");
}

#[test]
fn a_preprocessor_makes_text_of_a_file_by_its_extension_or_media_type() {
    let describe = r#"cat; echo " read""#;
    for kind in ["bin", ".BIN"] {
        let own = json!({"judge": {"preprocessors": [{"type": kind, "command": command(describe)}]}});
        let (case, judge) = shown(&[("a.bin", b"\0\x01")], own, json!({}));
        assert_eq!(case.status(), Status::Passed, "{case}");
        let prompt = judge.asked()[0].user().to_owned();
        assert!(prompt.contains("[[ file: a.bin ]]\n{"), "{prompt}");
        for part in [
            "\"original_path\": \"a.bin\"",
            "\"media_type\": \"application/octet-stream\"",
            "/workspace/a.bin\"",
            " read",
        ] {
            assert!(prompt.contains(part), "{part} is missing in\n{prompt}");
        }
    }
    let of_suite = json!({"preprocessors": [{"type": "text/csv", "command": command("echo of the suite")}]});
    let (_, judge) = shown(&[("a.csv", b"1,2")], json!({}), of_suite.clone());
    assert!(judge.asked()[0].user().contains("[[ file: a.csv ]]\nof the suite"), "{}", judge.asked()[0].user());
    let own = json!({"judge": {"preprocessors": [{"type": "csv", "command": command("echo my own")}]}});
    let (_, judge) = shown(&[("a.csv", b"1,2")], own, of_suite);
    assert!(judge.asked()[0].user().contains("[[ file: a.csv ]]\nmy own"), "{}", judge.asked()[0].user());
}

#[test]
fn a_file_that_cannot_be_shown_breaks_the_grader_and_asks_nobody() {
    let failing =
        json!({"judge": {"preprocessors": [{"type": "bin", "command": command("echo no reader >&2; exit 3")}]}});
    let large = vec![b'x'; 1024 * 1024 + 1];
    for (files, config, part) in [
        ([("a.bin", b"\0\x01".as_slice())], json!({}), "`a.bin` of the answer is binary"),
        ([("a.bin", b"\xff\xfe")], json!({}), "preprocessors: [{ type: bin"),
        ([("a.bin", b"\0")], failing, "no reader"),
        ([("a.txt", large.as_slice())], json!({}), "more than the 1048576"),
    ] {
        let (case, judge) = shown(&files, config, json!({}));
        broken(&case, part);
        assert_eq!(judge.asked().len(), 0);
    }
    let place = Place::new();
    let gone = |part: Part| {
        let agent = move |_: &mut Trial<'_>| {
            Ok::<_, AgentError>(
                Outcome::new().with_messages(vec![Message::new(Role::Assistant, Content::Parts(vec![part.clone()]))]),
            )
        };
        place.run(&place.evals(json!({}), json!({})).with_agent(agent).with_judge(scripted([YES])), Mode::Live)
    };
    broken(&gone(Part::File(path("gone.txt"))), "the file `gone.txt` of the answer does not exist");
    let image = Part::Image { file: path("gone.png"), media_type: "image/png".into() };
    broken(&gone(image), "the image `gone.png` of the answer does not exist");
}

#[test]
fn sounds_and_documents_are_named_unless_they_are_text_or_a_preprocessor_reads_them() {
    let files: [(&str, &[u8]); 2] = [("memo.mp3", b"\0\x01"), ("report.pdf", b"plain after all")];
    let (_, judge) = shown(&files, json!({}), json!({}));
    let asked = &judge.asked()[0];
    let named = "[[ file: memo.mp3 ]]\n(audio/mpeg, not shown)\n[[ file: report.pdf ]]\nplain after all";
    assert!(asked.user().contains(named), "{}", asked.user());
    let heard = json!({"judge": {"preprocessors": [{"type": "mp3", "command": command("echo call me back")}]}});
    let (_, judge) = shown(&files[..1], heard, json!({}));
    assert!(judge.asked()[0].user().contains("[[ file: memo.mp3 ]]\ncall me back"), "{}", judge.asked()[0].user());
}

#[test]
fn images_are_handed_on_and_are_part_of_what_is_recorded() {
    let place = Place::new();
    let judge = scripted([YES]);
    let evals =
        |content: &'static [u8]| place.evals(json!({}), json!({})).with_agent(with_files(&[("a.png", content)]));
    let case = place.run(&evals(b"one").with_judge(judge.clone()), Mode::Record);
    assert_eq!(case.status(), Status::Passed, "{case}");
    let images = judge.asked()[0].images().to_vec();
    assert_eq!((images.len(), images[0].media_type()), (1, "image/png"));
    assert!(images[0].path().ends_with("workspace/a.png"), "{images:?}");
    let same = place.run(&evals(b"one"), Mode::Live);
    assert_eq!(same.status(), Status::Passed, "{same}");
    let other = place.run(&evals(b"two"), Mode::Live);
    let reason = other.record().reason.as_ref().unwrap();
    assert_eq!(reason.code, ReasonCode::RecordingStale, "{other}");
}

/// A judge was asked about a picture without any word of one.
#[test]
fn images_of_the_input_are_named_where_the_judge_does_not_see_them() {
    let place = Place::new();
    fs::write(place.0.path().join("photo.png"), b"\0").unwrap();
    let image = Part::Image { file: path("photo.png"), media_type: "image/png".into() };
    let asked = Message::new(Role::User, Content::Parts(vec![image, Part::Text("What is it?".into())]));
    let input = to_value(&Input::Messages(vec![asked])).unwrap();
    let notes_and_prompt = |config: Value| {
        let judge = scripted([YES]);
        let evals = place.evals(config, json!({"input": input})).with_agent(with_files(&[])).with_judge(judge.clone());
        let case = place.run(&evals, Mode::Live);
        assert_eq!(case.status(), Status::Passed, "{case}");
        let notes = case.trials()[0].notes.iter().map(|note| format!("{}: {}", note.code, note.message));
        (notes.collect::<Vec<_>>(), judge.asked()[0].user().to_owned())
    };
    let (notes, prompt) = notes_and_prompt(json!({}));
    let shown = "[[ ## question ## ]]\n<file path=\"photo.png\">\n(image/png, not shown)\n</file>\n\nWhat is it?\n";
    assert!(prompt.contains(shown), "{prompt}");
    assert_eq!(notes, ["input_not_shown: judges are not shown `photo.png` of the input"]);
    let (notes, _) = notes_and_prompt(json!({"prompt": {"text": "Is it short? {{ output }}"}}));
    assert_eq!(notes, [""; 0], "the prompt asks nothing about the input");
}

#[test]
fn every_variable_of_a_prompt_has_its_value() {
    let prompt = "i {{ input }}|o {{output}}|e {{ expected_output_text }}|c {{ criteria }}|f {{ file_changes }}|t {{ tool_calls }}|{{ input_text }}";
    let config = json!({"prompt": {"text": prompt}});
    let more = json!({"expected_output": [{"role": "assistant", "content": {"data": {"a": 1}}}]});
    let (_, judge) = shown(&[("a.csv", b"1,2\n")], config, more);
    let asked = judge.asked()[0].user().to_owned();
    assert!(
        asked.starts_with("i say hello|o Here they are.\n[[ file: a.csv ]]\n1,2|e {\n  \"a\": 1\n}|c c|f "),
        "{asked}"
    );
    assert!(asked.contains("+1,2") && asked.ends_with("|t - Write: a.csv|say hello"), "{asked}");
}

#[test]
fn a_long_diff_is_cut_and_says_so() {
    let line = format!("{}\n", "x".repeat(99));
    let content: &'static [u8] = line.repeat(2500).leak().as_bytes();
    let agent = move |trial: &mut Trial<'_>| {
        fs::write(trial.workspace().join("long.txt"), content).map_err(|error| AgentError::new(error.to_string()))?;
        Ok::<_, AgentError>("done".to_owned())
    };
    let (place, judge) = (Place::new(), scripted([YES]));
    let evals = place.evals(json!({"prompt": {"text": "{{ output }}{{ file_changes }}"}}), json!({}));
    place.run(&evals.with_agent(agent).with_judge(judge.clone()), Mode::Live);
    let asked = judge.asked()[0].user().to_owned();
    let (diff, note) = asked.strip_prefix("done").unwrap().rsplit_once('\n').unwrap();
    assert_eq!(diff.chars().count(), 200_000);
    assert!(note.starts_with("[cut: 200000 of ") && note.ends_with(" characters are shown]"), "{note}");
}
