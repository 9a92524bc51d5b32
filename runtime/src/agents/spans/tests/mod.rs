//! Spans of agents become transcripts.

mod library_spans;
mod repeats_and_gaps;
mod schedules;

use evalsuite_records::record::Usage;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Content, Message, Role, ToolCall};
use tracing::field::Empty;
use tracing::{Instrument, Level, Span, info_span};

use crate::agents::spans::Trace;
use crate::model::agent_report::Captured;
use crate::platform::time_limit::Cancel;

/// The transcript captured from the spans of some work.
fn seen(work: impl FnOnce()) -> Captured {
    let trace = Trace::new("case", 0);
    trace.within(work);
    trace.take()
}

fn chat(input: &Value, output: &Value) -> Span {
    let instructions = input.as_array().and_then(|messages| messages.iter().find(|one| one["role"] == "system"));
    info_span!(
        "chat m-1",
        gen_ai.system_instructions = instructions.map(|message| message["parts"].to_string()),
        gen_ai.operation.name = "chat",
        gen_ai.request.model = "m-1",
        gen_ai.input.messages = input.to_string(),
        gen_ai.output.messages = output.to_string(),
        gen_ai.usage.input_tokens = 10,
        gen_ai.usage.cache_read.input_tokens = 4,
        gen_ai.usage.output_tokens = 3,
    )
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "parts": [{"type": "text", "content": text}]})
}

fn called(id: &str, name: &str, arguments: Value) -> Value {
    json!({"role": "assistant", "parts": [{"type": "tool_call", "id": id, "name": name, "arguments": arguments}]})
}

fn texts(messages: &[Message]) -> Vec<(Role, Option<String>)> {
    messages
        .iter()
        .map(|message| (message.role, message.content.as_ref().map(crate::model::messages::content_text)))
        .collect()
}

fn calls(messages: &[Message]) -> Vec<&ToolCall> {
    messages.iter().flat_map(|message| &message.tool_calls).collect()
}

#[test]
fn a_loop_of_model_and_tools_becomes_a_transcript() {
    let captured = seen(|| {
        let agent = info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent", gen_ai.agent.name = "planner");
        let _agent = agent.enter();
        let system = json!({"role": "system", "parts": [{"type": "text", "content": "be brief"}]});
        let question = said("user", "time?");
        let call = called("c1", "clock", json!({"zone": "UTC"}));
        chat(&json!([system, question]), &json!([call])).in_scope(|| ());
        let tool = info_span!(
            "execute_tool",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = Empty,
            gen_ai.tool.call.id = Empty,
            gen_ai.tool.call.arguments = Empty,
            gen_ai.tool.call.result = Empty,
        );
        tool.record("gen_ai.tool.name", "clock");
        tool.record("gen_ai.tool.call.id", tracing::field::display("c1"));
        tool.record("gen_ai.tool.call.arguments", r#"{"zone":"UTC"}"#);
        tool.in_scope(|| tool.record("gen_ai.tool.call.result", "12:30"));
        let answer =
            json!({"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "response": "12:30"}]});
        chat(&json!([system, question, call, answer]), &json!([said("assistant", "half past twelve")])).in_scope(|| ());
    });
    let messages = captured.messages.unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        texts(&messages),
        [
            (Role::System, text("be brief")),
            (Role::User, text("time?")),
            (Role::Assistant, None),
            (Role::Assistant, text("half past twelve")),
        ]
    );
    let [call] = calls(&messages)[..] else { panic!("one call: {messages:#?}") };
    assert_eq!((call.tool.as_str(), call.id.as_deref()), ("clock", Some("c1")));
    assert_eq!((&call.input, &call.output), (&Some(json!({"zone": "UTC"})), &Some(json!("12:30"))));
    assert!(call.duration_ms.is_some() && call.start_time.is_some() && call.end_time.is_some() && !call.is_error);
    assert_eq!((messages[2].llm_call_count, messages[2].name.as_deref()), (Some(1), None));
    assert_eq!(captured.usage, Some(Usage::new(12, 6).with_cached(8)));
    assert_eq!((captured.model.as_deref(), captured.missing), (Some("m-1"), None));
}

#[test]
fn without_contents_the_calls_and_their_number_are_told() {
    let captured = seen(|| {
        let chat = || info_span!("chat", gen_ai.operation.name = "chat", gen_ai.usage.input_tokens = 5_u64);
        chat().in_scope(|| ());
        let tool = |id: &str| {
            info_span!(
                "execute_tool",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = "read",
                gen_ai.tool.call.id = id,
                error.type = (id == "b").then_some("io"),
            )
        };
        tool("a").in_scope(|| ());
        tool("b").in_scope(|| ());
        chat().in_scope(|| ());
    });
    let messages = captured.messages.unwrap();
    assert_eq!(texts(&messages), [(Role::Assistant, None), (Role::Assistant, None)]);
    let reported: Vec<(Option<&str>, bool)> =
        calls(&messages).into_iter().map(|call| (call.id.as_deref(), call.is_error)).collect();
    assert_eq!((reported, messages[1].tool_calls.len()), (vec![(Some("a"), false), (Some("b"), true)], 0));
    assert_eq!(captured.usage, Some(Usage::new(10, 0)));
}

#[test]
fn inputs_tell_what_an_answer_was_if_its_own_span_does_not() {
    let captured = seen(|| {
        let chat = |input: Value| {
            info_span!("chat", gen_ai.operation.name = "chat", gen_ai.input.messages = input.to_string())
        };
        chat(json!([said("user", "time?")])).in_scope(|| ());
        let result = json!({"role": "tool", "tool_call_id": "c1", "content": "12:30"});
        let call = json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]});
        chat(json!([said("user", "time?"), call, result])).in_scope(|| ());
    });
    let messages = captured.messages.unwrap();
    assert_eq!(messages.len(), 3, "{messages:#?}");
    let [call] = calls(&messages)[..] else { panic!("one call") };
    assert_eq!((call.tool.as_str(), &call.input, &call.output), ("clock", &Some(json!({})), &Some(json!("12:30"))));
}

#[test]
fn history_and_examples_are_not_the_agents_work() {
    let captured = seen(|| {
        let history = json!([
            said("system", "s"),
            said("user", "before"),
            called("old", "read", json!({})),
            said("assistant", "long ago"),
            said("user", "now"),
        ]);
        chat(&history, &json!([said("assistant", "done")])).in_scope(|| ());
    });
    let messages = captured.messages.unwrap();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant]);
    assert_eq!(messages[1].content, Some(Content::Text("now".into())));
    assert!(calls(&messages).is_empty());
}

#[test]
fn a_chat_around_a_chat_is_one_call() {
    let captured = seen(|| {
        let outer = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.output.messages = json!([said("assistant", "hello")]).to_string(),
        );
        let _outer = outer.enter();
        let inner = info_span!("chat", gen_ai.operation.name = "chat", gen_ai.usage.output_tokens = 7);
        inner.in_scope(|| ());
    });
    let messages = captured.messages.unwrap();
    assert_eq!(texts(&messages), [(Role::Assistant, Some("hello".into()))]);
    assert_eq!(captured.usage, Some(Usage::new(0, 7)));
}

#[test]
fn an_agent_within_a_tool_has_a_talk_of_its_own() {
    let captured = seen(|| {
        chat(&json!([said("user", "plan")]), &json!([called("c1", "ask", json!({}))])).in_scope(|| ());
        let tool = info_span!("execute_tool ask", gen_ai.tool.name = "ask", gen_ai.tool.call.id = "c1");
        tool.in_scope(|| {
            let name = "helper";
            let inner = info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent", gen_ai.agent.name = name);
            inner.in_scope(|| {
                let chat = info_span!(
                    "chat",
                    gen_ai.operation.name = "chat",
                    gen_ai.agent.name = name,
                    gen_ai.input.messages = json!([said("user", "plan")]).to_string(),
                    gen_ai.output.messages = json!([called("c2", "read", json!({}))]).to_string(),
                );
                chat.in_scope(|| ());
                info_span!("execute_tool", gen_ai.tool.name = "read", gen_ai.tool.call.id = "c2").in_scope(|| ());
            });
        });
    });
    let messages = captured.messages.unwrap();
    let tools: Vec<&str> = calls(&messages).into_iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["ask", "read"]);
    assert_eq!(messages.last().unwrap().name.as_deref(), Some("helper"));
    assert_eq!(texts(&messages)[2], (Role::User, Some("plan".into())), "its question is another one");
}

#[test]
fn an_agents_span_counts_as_its_unreported_calls() {
    let captured = seen(|| {
        let agent = info_span!(
            "invoke_agent",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.prompt = "time?",
            gen_ai.completion = "half past twelve",
            gen_ai.usage.prompt_tokens = 9,
            gen_ai.usage.completion_tokens = 4,
        );
        agent.in_scope(|| info_span!("execute_tool", gen_ai.tool.name = "clock").in_scope(|| ()));
    });
    let messages = captured.messages.unwrap();
    assert_eq!(texts(&messages)[1], (Role::Assistant, Some("half past twelve".into())));
    assert_eq!(calls(&messages).len(), 1);
    assert_eq!(captured.usage, Some(Usage::new(9, 4)));
}

#[test]
fn events_of_older_conventions_are_messages() {
    let captured = seen(|| {
        let chat = info_span!("chat", gen_ai.operation.name = "chat");
        let _chat = chat.enter();
        tracing::event!(name: "gen_ai.system.message", Level::INFO, content = "be brief");
        tracing::event!(name: "gen_ai.user.message", Level::DEBUG, { content = "time?" });
        let choice = json!({"role": "assistant", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{\"zone\":\"UTC\"}"}}]});
        tracing::info!(event.name = "gen_ai.choice", index = 0, message = choice.to_string());
    });
    let messages = captured.messages.unwrap();
    assert_eq!(
        texts(&messages),
        [(Role::System, Some("be brief".into())), (Role::User, Some("time?".into())), (Role::Assistant, None)]
    );
    assert_eq!(calls(&messages)[0].input, Some(json!({"zone": "UTC"})));
}

#[test]
fn a_call_of_a_model_that_failed_is_no_answer() {
    let captured = seen(|| {
        let failed = info_span!("chat", gen_ai.operation.name = "chat", otel.status_code = Empty);
        failed.in_scope(|| failed.record("otel.status_code", "ERROR"));
        chat(&json!([said("user", "x")]), &json!([said("assistant", "y")])).in_scope(|| ());
    });
    let answers = captured.messages.unwrap().iter().filter(|message| message.role == Role::Assistant).count();
    assert_eq!(answers, 1);
}

#[test]
fn what_has_nothing_to_do_with_models_tells_nothing() {
    let captured = seen(|| {
        info_span!("query", db.system = "sqlite").in_scope(|| tracing::info!("done"));
        let embeddings = info_span!("embeddings", gen_ai.operation.name = "embeddings", gen_ai.usage.input_tokens = 5);
        embeddings.in_scope(|| ());
    });
    assert_eq!((captured.messages, captured.usage, captured.missing), (None, None, None));
}

#[test]
fn hostile_fields_break_nothing() {
    let values =
        ["", "{", "[[[]]]", "[1, null, {}]", r#"[{"role": 5, "parts": 7}]"#, r#"{"message": {"message": {}}}"#];
    let captured = seen(|| {
        for value in values {
            let span = info_span!(
                "chat",
                gen_ai.operation.name = "chat",
                gen_ai.input.messages = value,
                gen_ai.output.messages = value,
                gen_ai.usage.input_tokens = -1,
                gen_ai.usage.output_tokens = "many",
                gen_ai.tool.definitions = value,
            );
            span.in_scope(|| info_span!("execute_tool", gen_ai.tool.name = value).in_scope(|| ()));
        }
    });
    assert_eq!(captured.usage, None);
    assert!(captured.messages.is_some());
}

#[test]
fn trials_at_the_same_time_see_their_own_spans() {
    let threads: Vec<_> = (0..8)
        .map(|number| {
            std::thread::spawn(move || {
                let name = format!("tool-{number}");
                let captured = seen(|| {
                    for _ in 0..50 {
                        info_span!("execute_tool", gen_ai.tool.name = name.as_str()).in_scope(std::thread::yield_now);
                    }
                });
                let messages = captured.messages.unwrap();
                let calls = calls(&messages);
                assert!(calls.len() == 50 && calls.iter().all(|call| call.tool == name), "{calls:#?}");
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The transcript captured from the spans of async work, as an agent does it.
fn seen_of<F: Future>(work: impl FnOnce() -> F) -> Captured {
    let trace = Trace::new("case", 0);
    let polled = trace.clone();
    let cancel = Cancel::default().before_each_poll(move || polled.before_poll());
    trace.within(|| assert!(cancel.block_on(work()).unwrap().is_some()));
    trace.take()
}

fn tool(name: &str) {
    info_span!("execute_tool", gen_ai.tool.name = name).in_scope(|| ());
}

fn tools(captured: &Captured) -> Vec<&str> {
    calls(captured.messages.as_deref().unwrap_or_default()).into_iter().map(|call| call.tool.as_str()).collect()
}

#[test]
fn instrumented_tasks_and_blocking_work_are_seen_however_many_calls_run() {
    let agent = |name: &'static str| {
        seen_of(|| async move {
            let first = async move { tool(name) };
            tokio::spawn(first.in_current_span()).await.unwrap();
            let second = async move { tool(name) };
            tokio::spawn(second.instrument(info_span!("around"))).await.unwrap();
            let span = Span::current();
            tokio::task::spawn_blocking(move || span.in_scope(|| tool(name))).await.unwrap();
            let span = Span::current();
            std::thread::spawn(move || span.in_scope(|| tool(name))).join().unwrap();
            let after = info_span!("execute_tool", gen_ai.tool.name = name);
            tokio::spawn(async move { after.in_scope(|| ()) }).await.unwrap();
        })
    };
    std::thread::scope(|scope| {
        for name in ["one", "two", "three", "four"] {
            scope.spawn(move || {
                let captured = agent(name);
                assert_eq!((tools(&captured), &captured.missing), (vec![name; 5], &None));
            });
        }
    });
}

// Spans without a parent depend on what else runs in the process: see `runtime/tests/integration/span_sources.rs`.

#[test]
fn calls_that_a_model_made_and_no_span_shows_are_missing() {
    let chat = |reasons: &str| {
        let span = info_span!("chat m", gen_ai.operation.name = "chat", gen_ai.response.finish_reasons = reasons);
        span.in_scope(|| ());
    };
    let missing = |captured: &Captured| captured.missing.as_ref().map(|missing| missing.lacks_calls);
    assert_eq!(missing(&seen(|| chat(r#"["tool_calls"]"#))), Some(true));
    assert_eq!(missing(&seen(|| chat(r#"["stop"]"#))), None);
    let with_tool = seen(|| {
        chat(r#"["tool_calls"]"#);
        tool("clock");
    });
    assert_eq!((missing(&with_tool), tools(&with_tool)), (None, vec!["clock"]));
}

#[test]
fn what_comes_after_the_call_is_left_out() {
    let trace = Trace::new("case", 0);
    let late = trace.within(|| info_span!("execute_tool", gen_ai.tool.name = "in time"));
    late.record("gen_ai.tool.call.result", "too late");
    let messages = trace.take().messages.unwrap();
    assert_eq!((calls(&messages).len(), calls(&messages)[0].duration_ms), (1, None));
    drop(late);
    assert!(trace.take().messages.is_none());
}

/// The spans of adk-rust 2.3: a tool's span has a name for OpenTelemetry only.
#[test]
fn spans_are_known_by_their_name_for_opentelemetry() {
    let captured = seen(|| {
        let generate = info_span!(
            "gen_ai.generate",
            gen_ai.request.model = "m-1",
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read_tokens = Empty,
            gen_ai.usage.thinking_tokens = Empty,
        );
        for (name, tokens) in [("input", 10_i64), ("output", 5), ("cache_read", 4), ("thinking", 2)] {
            generate.record(format!("gen_ai.usage.{name}_tokens").as_str(), tokens);
        }
        let name = "execute_tool clock";
        info_span!("", otel.name = %name, tool.name = "clock", gen_ai.conversation.id = "c").in_scope(|| ());
    });
    let messages = captured.messages.unwrap();
    assert_eq!(calls(&messages).iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["clock"]);
    assert_eq!(captured.usage, Some(Usage::new(6, 5).with_cached(4).with_reasoning(2)));
}
