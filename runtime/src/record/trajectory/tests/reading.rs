//! Reading documents of other tools, and invalid ones.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Content, Message, Part, Role};

use crate::model::messages::answer;
use crate::model::outcome::Outcome;
use crate::record::trajectory::TrajectoryError;
use crate::record::trajectory::read_document::read;

fn steps(steps: Value) -> Result<Outcome, TrajectoryError> {
    document(json!({"schema_version": "ATIF-v1.6", "agent": {"name": "a", "version": "1"}, "steps": steps}))
}

fn document(value: Value) -> Result<Outcome, TrajectoryError> {
    read(value.to_string().as_bytes())
}

fn texts(messages: &[Message]) -> Vec<(&str, Option<&Content>)> {
    messages.iter().map(|message| (message.role.as_str(), message.content.as_ref())).collect()
}

#[test]
fn every_version_so_far_is_read_and_no_other() {
    let version = |version: &str| {
        document(json!({"schema_version": version, "agent": {"name": "a", "version": "1"}, "steps": []}))
    };
    for minor in 0..=8 {
        assert!(version(&format!("ATIF-v1.{minor}")).is_ok(), "{minor}");
    }
    for other in ["ATIF-v1.9", "ATIF-v2.0", "ATIF-v1", "1.8"] {
        let error = version(other).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("`schema_version` is \"{other}\", expected a version from `ATIF-v1.0` to `ATIF-v1.8`")
        );
    }
}

#[test]
fn the_work_of_another_harness_becomes_messages() {
    let read = document(json!({
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "a", "version": "1", "model_name": "m-0", "unheard": true},
        "unheard_of": [],
        "steps": [
            {"step_id": 1, "source": "system", "message": "", "observation": {"results": [{"content": "booted"}]}},
            {"step_id": 2, "source": "user", "message": [
                {"type": "text", "text": "look"},
                {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
            ]},
            {
                "step_id": 3, "source": "agent", "message": "", "timestamp": "2026-01-04T09:15:00Z", "model_name": "m-1",
                "reasoning_content": "hm", "reasoning_effort": "high",
                "tool_calls": [
                    {"tool_call_id": "x", "function_name": "read", "arguments": {"path": "a"}, "extra": {"retries": 1}},
                    {"tool_call_id": "y", "function_name": "list", "arguments": {}},
                ],
                "observation": {"results": [
                    {"source_call_id": "x", "content": "text of a", "extra": {"is_error": true}},
                    {"source_call_id": "x", "content": "more"},
                    {"content": "on the side"},
                    {"source_call_id": "y", "subagent_trajectory_ref": [{"trajectory_id": "t"}]},
                ]},
                "metrics": {"prompt_tokens": 12, "completion_tokens": 5, "cached_tokens": 2, "cost_usd": 0.25, "logprobs": [0.1]},
                "extra": {"branch": "main"},
            },
            {"step_id": 4, "source": "agent", "message": "done", "llm_call_count": 0},
            {"step_id": 5, "source": "agent", "message": "copied", "is_copied_context": true, "metrics": {"prompt_tokens": 99}},
        ],
        "subagent_trajectories": [{"trajectory_id": "t"}],
    }))
    .unwrap();
    let messages = read.messages.unwrap();
    let text = |text: &str| Content::Text(text.into());
    let roles: Vec<&str> = messages.iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles, ["tool", "user", "assistant", "tool", "tool", "assistant", "assistant"]);
    assert_eq!(messages[0].content, Some(text("booted")));
    assert!(matches!(&messages[1].content, Some(Content::Parts(parts)) if matches!(parts[1], Part::Image { .. })));
    let agent = &messages[2];
    assert_eq!(
        (agent.content.as_ref(), agent.reasoning.as_deref(), agent.model.as_deref()),
        (None, Some("hm"), Some("m-1"))
    );
    assert_eq!((agent.usage, agent.cost_usd), (Some(Usage::new(10, 5).with_cached(2)), Some(0.25)));
    assert_eq!(agent.metadata, Some(json!({"branch": "main"})));
    let call = &agent.tool_calls[0];
    assert_eq!((call.tool.as_str(), call.output.as_ref(), call.is_error), ("read", Some(&json!("text of a")), true));
    assert_eq!((messages[3].tool_call_id.as_deref(), &messages[3].content), (Some("x"), &Some(text("more"))));
    assert_eq!((messages[4].tool_call_id.as_deref(), &messages[4].content), (None, &Some(text("on the side"))));
    assert_eq!(agent.tool_calls[1].output, None);
    let counts: Vec<Option<u64>> = messages.iter().map(|message| message.llm_call_count).collect();
    assert_eq!((counts[2], counts[counts.len() - 2]), (None, Some(0)));
    assert_eq!((answer(&messages), read.model.as_deref()), ("copied".to_owned(), Some("m-0")));
    assert_eq!((read.usage, read.cost_usd), (Some(Usage::new(10, 5).with_cached(2)), Some(0.25)));
}

#[test]
fn totals_go_before_sums() {
    let read = document(json!({
        "schema_version": "ATIF-v1.0", "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": 1, "source": "agent", "message": "x", "metrics": {"prompt_tokens": 1, "cost_usd": 2}}],
        "final_metrics": {"total_prompt_tokens": 30, "total_completion_tokens": 4, "extra": {"reasoning_tokens": 3}},
    }))
    .unwrap();
    assert_eq!((read.usage, read.cost_usd), (Some(Usage::new(30, 4).with_reasoning(3)), Some(2.0)));
}

#[test]
fn totals_that_lack_a_number_have_that_of_the_steps_or_are_not_known() {
    let usage = |metrics: Value, totals: Value| {
        let read = document(json!({
            "schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "final_metrics": totals,
            "steps": [{"step_id": 1, "source": "agent", "message": "x", "metrics": metrics}],
        }));
        read.unwrap().usage
    };
    let steps = || json!({"prompt_tokens": 9, "completion_tokens": 3, "cached_tokens": 4});
    let of_steps = Usage::new(5, 3).with_cached(4);
    assert_eq!(usage(steps(), json!({"total_steps": 1})), Some(of_steps));
    assert_eq!(usage(steps(), json!({"total_completion_tokens": 7})), Some(Usage::new(5, 7).with_cached(4)));
    assert_eq!(usage(steps(), json!({"total_prompt_tokens": 20})), Some(Usage::new(20, 3)));
    for partial in
        [json!({"total_completion_tokens": 7}), json!({"total_prompt_tokens": 7}), json!({"total_cached_tokens": 7})]
    {
        assert_eq!(usage(json!({}), partial.clone()), None, "{partial}");
    }
    assert_eq!(usage(json!({"completion_tokens": 7}), json!({})), None);
    assert_eq!(usage(json!({"prompt_tokens": 7}), json!({})), None);
}

#[test]
fn some_steps_with_metrics_have_no_sum() {
    let read = |metrics: Value, totals: Value| {
        let read = document(json!({
            "schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "final_metrics": totals,
            "steps": [
                {"step_id": 1, "source": "user", "message": "x"},
                {"step_id": 2, "source": "agent", "message": "y",
                 "metrics": {"prompt_tokens": 9, "completion_tokens": 3, "cost_usd": 0.5}},
                {"step_id": 3, "source": "agent", "message": "z", "metrics": metrics},
            ],
        }));
        let read = read.unwrap();
        (read.usage, read.cost_usd)
    };
    assert_eq!(read(json!({}), json!({})), (None, None));
    assert_eq!(read(json!({"prompt_tokens": 900}), json!({"total_completion_tokens": 7})), (None, None));
    let all = json!({"prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0.25});
    assert_eq!(read(all, json!({})), (Some(Usage::new(10, 4)), Some(0.75)));
    let totals = json!({"total_prompt_tokens": 30, "total_completion_tokens": 4, "total_cost_usd": 2});
    assert_eq!(read(json!({}), totals), (Some(Usage::new(30, 4)), Some(2.0)));
}

#[test]
fn copied_context_is_no_work_of_this_trajectory() {
    let copied = json!({
        "step_id": 1, "source": "agent", "message": "copied", "is_copied_context": true,
        "metrics": {"prompt_tokens": 99, "completion_tokens": 9, "cost_usd": 4},
    });
    let read = document(json!({
        "schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"},
        "steps": [copied, {"step_id": 2, "source": "agent", "message": "x"}],
    }));
    let read = read.unwrap();
    assert_eq!((read.usage, read.cost_usd), (None, None));
    let messages = read.messages.unwrap();
    let counted: Vec<_> =
        messages.iter().map(|message| (message.usage, message.cost_usd, message.llm_call_count)).collect();
    assert_eq!(counted, [(None, None, Some(0)), (None, None, None)]);
}

#[test]
fn a_call_of_the_wrong_form_is_named_by_its_place() {
    let call = json!({"tool_call_id": "x", "function_name": "f", "arguments": {}});
    let agent = |more: Value| {
        let mut step = json!({"step_id": 1, "source": "agent", "message": "x"});
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([step])
    };
    let table = [
        (json!("x"), "`steps` is \"x\", expected a list"),
        (json!([1]), "`steps[0]` is 1, expected an object"),
        (json!([{"source": "agent", "message": "x"}]), "`steps[0]` has no `step_id`"),
        (
            json!([{"step_id": 2, "source": "agent", "message": "x"}]),
            "`steps[0].step_id` is 2, expected 1: steps are numbered from 1",
        ),
        (
            json!([{"step_id": 1, "source": "assistant", "message": "x"}]),
            "`steps[0].source` is \"assistant\", expected `system`, `user` or `agent`",
        ),
        (agent(json!({"message": null})), "`steps[0]` has no `message`"),
        (agent(json!({"message": 5})), "`steps[0].message` is 5, expected a string or a list of content parts"),
        (
            agent(json!({"message": [{"type": "video"}]})),
            "`steps[0].message[0].type` is \"video\", expected `text`, `image` or `audio`",
        ),
        (
            agent(json!({"source": "user", "tool_calls": [call]})),
            "`steps[0]` has `tool_calls`, which only an agent's step has",
        ),
        (
            agent(json!({"tool_calls": [{"tool_call_id": "x", "function_name": "f", "arguments": "{}"}]})),
            "`steps[0].tool_calls[0].arguments` is \"{}\", expected an object",
        ),
        (
            agent(json!({"tool_calls": [call], "observation": {"results": [{"source_call_id": "z"}]}})),
            "`steps[0].observation.results[0].source_call_id` is \"z\", expected the `tool_call_id` of a call of the same step",
        ),
        (
            agent(json!({"metrics": {"prompt_tokens": -1}})),
            "`steps[0].metrics.prompt_tokens` is -1, expected an integer of at least 0",
        ),
        (
            agent(json!({"metrics": {"prompt_tokens": 1, "cached_tokens": 2}})),
            "`cached_tokens` of `steps[0].metrics` is 2, more than its `prompt_tokens`, which includes it",
        ),
        (
            agent(json!({"metrics": {"cost_usd": "1"}})),
            "`steps[0].metrics.cost_usd` is \"1\", expected a number of at least 0",
        ),
    ];
    for (steps, expected) in table {
        let shown = steps.to_string();
        assert_eq!(self::steps(steps).unwrap_err().to_string(), expected, "{shown}");
    }
}

#[test]
fn what_is_no_document_is_an_error() {
    assert_eq!(read(b"{").unwrap_err().to_string(), "the trajectory is not valid JSON");
    let twice =
        read(br#"{"schema_version": "ATIF-v1.6", "steps": [{"message": "no", "message": "yes"}]}"#).unwrap_err();
    let twice = std::error::Error::source(&twice).map(ToString::to_string).unwrap_or_default();
    assert!(twice.starts_with("an object has the key `message` twice"), "{twice}");
    assert_eq!(document(json!([])).unwrap_err().to_string(), "the trajectory is [], expected an object");
    assert_eq!(document(json!({})).unwrap_err().to_string(), "the trajectory has no `schema_version`");
    let long = "x".repeat(1000);
    let error = document(json!({"schema_version": long})).unwrap_err().to_string();
    assert!(error.len() < 200, "{error}");
}

#[test]
fn the_last_word_is_the_answer() {
    let read = steps(json!([
        {"step_id": 1, "source": "agent", "message": "first"},
        {"step_id": 2, "source": "agent", "message": "", "tool_calls": [
            {"tool_call_id": "x", "function_name": "stop", "arguments": {}}]},
        {"step_id": 3, "source": "user", "message": "thanks"},
    ]))
    .unwrap();
    let messages = read.messages.unwrap();
    assert_eq!(answer(&messages), "first");
    assert_eq!(texts(&messages)[1], (Role::Assistant.as_str(), None), "a step that only calls says nothing");
}
