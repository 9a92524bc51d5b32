//! Writing transcripts as documents.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Content, Message, Part, PathRef, Role, ToolCall};

use crate::platform::redaction::Redactor;
use crate::record::trajectory::tests::{problems, written, written_with};

#[test]
fn calls_and_what_they_returned_stand_in_one_step() {
    let mut agent = Message::text(Role::Assistant, "");
    agent.llm_call_count = Some(2);
    agent.usage = Some(Usage::new(10, 4).with_cached(5).with_reasoning(2));
    agent.start_time = Some("2026-01-04T09:15:00Z".into());
    agent.model = Some("m-1".into());
    agent.tool_calls = vec![
        ToolCall::new("add").with_id("x").with_input(json!([1])),
        ToolCall::new("add").with_id("x").with_output(json!({"sum": 3})).with_error(),
        ToolCall::new("stop"),
    ];
    let transcript = [
        Message::text(Role::System, "be brief"),
        agent,
        Message::tool_result("x", Content::Text("3".into())),
        Message::text(Role::Tool, "from nobody"),
    ];
    let document = written(Some(&transcript), "");
    assert_eq!(problems(&document), Vec::<String>::new());
    let step = &document["steps"][1];
    let calls: Vec<&Value> = step["tool_calls"].as_array().unwrap().iter().map(|call| &call["tool_call_id"]).collect();
    assert_eq!(calls, ["x", "call-2", "call-3"], "an id stands for one call");
    assert_eq!(step["tool_calls"][0]["arguments"], json!({"value": [1]}));
    assert_eq!(step["tool_calls"][1]["extra"]["is_error"], true);
    let results = step["observation"]["results"].as_array().unwrap();
    assert_eq!(results[0]["source_call_id"], "call-2");
    assert_eq!(
        evalsuite_schema::json::from_str::<Value>(results[0]["content"].as_str().unwrap()).unwrap(),
        json!({"sum": 3})
    );
    assert_eq!(results[1]["source_call_id"], "call-2", "the latest call of that id");
    assert_eq!((results[2].get("source_call_id"), &results[2]["content"]), (None, &json!("from nobody")));
    assert_eq!((&step["timestamp"], &step["model_name"]), (&json!("2026-01-04T09:15:00Z"), &json!("m-1")));
    let metrics = json!({
        "prompt_tokens": 15, "completion_tokens": 4, "cached_tokens": 5, "extra": {"reasoning_tokens": 2},
    });
    assert_eq!((&step["metrics"], &step["llm_call_count"]), (&metrics, &json!(2)));
}

#[test]
fn media_stand_by_their_path() {
    let file = |path: &str| PathRef::new(path);
    let image = |path: &str, media_type: &str| Part::Image { file: file(path), media_type: media_type.into() };
    let parts = vec![
        Part::Text("see".into()),
        image("a.png", "image/png"),
        image("b.svg", "image/svg+xml"),
        Part::File(file("c.WAV")),
        Part::File(file("d.txt")),
        Part::Audio { file: file("e.bin"), media_type: "audio/mpeg".into() },
        Part::Document { file: file("f.pdf"), media_type: "application/pdf".into() },
    ];
    let document = written(Some(&[Message::new(Role::User, Content::Parts(parts))]), "");
    assert_eq!(problems(&document), Vec::<String>::new());
    let expected = json!([
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
        {"type": "text", "text": "[file: b.svg]"},
        {"type": "audio", "source": {"media_type": "audio/wav", "path": "c.WAV"}},
        {"type": "text", "text": "[file: d.txt]"},
        {"type": "audio", "source": {"media_type": "audio/mpeg", "path": "e.bin"}},
        {"type": "text", "text": "[file: f.pdf]"},
    ]);
    assert_eq!(document["steps"][0]["message"], expected);
}

#[test]
fn the_document_says_whose_work_it_is_and_what_it_came_to() {
    let transcript = ["a", "b", "c", "d"].map(|text| Message::text(Role::Assistant, text));
    let document = written_with(Some(&transcript), "", &Redactor::default(), |work| {
        work.model = Some("m-1");
        (work.turns, work.first_simulated_turn) = (&[0, 3], Some(1));
        work.usage = Some(Usage::new(7, 3).with_cached(2).with_reasoning(1));
        work.cost_usd = Some(0.5);
    });
    assert_eq!(problems(&document), Vec::<String>::new());
    assert_eq!(
        (&document["session_id"], &document["trajectory_id"]),
        (&json!("run/case"), &json!("run/case/trial-000"))
    );
    assert_eq!(document["agent"], json!({"name": "planner", "version": "1.2.3", "model_name": "m-1"}));
    let totals = json!({
        "total_prompt_tokens": 9, "total_completion_tokens": 3, "total_cached_tokens": 2, "total_cost_usd": 0.5,
        "total_steps": 4, "extra": {"reasoning_tokens": 1},
    });
    assert_eq!((&document["final_metrics"], &document["extra"]["evalsuite"]["outcome"]), (&totals, &json!("passed")));
    let turns: Vec<&Value> = document["steps"].as_array().unwrap().iter().map(|step| &step["extra"]["turn"]).collect();
    assert_eq!(turns, [0, 0, 0, 1]);
    let simulated = document["steps"].as_array().unwrap().iter().map(|step| &step["extra"]["simulated"]);
    assert_eq!(simulated.collect::<Vec<_>>(), [&Value::Null, &Value::Null, &Value::Null, &json!(true)]);
}

#[test]
fn secrets_are_hidden_also_where_escapes_change_how_they_look() {
    let redactor = Redactor::default().with_values(["pass\"word".to_owned()]);
    let mut agent = Message::new(Role::Assistant, Content::Data(json!({"is": "pass\"word"})));
    agent.tool_calls.push(ToolCall::new("read").with_output(json!(["a pass\"word"])));
    let document = written_with(Some(&[agent]), "", &redactor, |_| ());
    let document = redactor.redacted(document).unwrap();
    let step = &document["steps"][0];
    assert_eq!(step["message"], "{\n  \"is\": \"***\"\n}");
    assert_eq!(step["observation"]["results"][0]["content"], "[\n  \"a ***\"\n]");
}
