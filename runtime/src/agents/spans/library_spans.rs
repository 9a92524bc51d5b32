//! Spans as libraries made them in a run with a made-up model, which asks for the time in Lima: `docs/spans.md` lists versions and attributes.
//! Each becomes the same transcript.

use evalsuite_records::record::Usage;
use evalsuite_schema::Role;
use evalsuite_schema::json::{Value, json};
use tracing::{Level, Span, event, info_span};

use crate::agents::spans::Trace;
use crate::model::captured_spans::Captured;
use crate::model::messages::content_text;

const CALL: &str = r#"[{"role":"assistant","parts":[{"arguments":{"zone":"Lima"},"name":"clock","id":"call_1","type":"tool_call"}],"finish_reason":"tool_call","name":null}]"#;
const ANSWER: &str =
    r#"[{"role":"assistant","parts":[{"type":"text","content":"It is 12:30 in Lima."}],"finish_reason":"stop"}]"#;
const ASKED: &str = r#"[{"role":"system","parts":[{"content":"be brief","type":"text"}]},{"role":"user","parts":[{"content":"time?","type":"text"}]}]"#;

fn seen(work: impl FnOnce()) -> Captured {
    let trace = Trace::new("case", 0);
    trace.within(work);
    trace.take()
}

fn made(span: &Span) {
    span.in_scope(|| ());
}

/// The input of the second call, with a result of the tool.
fn asked_again(result: Value) -> String {
    let mut messages: Vec<Value> = serde(ASKED);
    messages.extend(serde(CALL));
    messages.push(result);
    json!(messages).to_string()
}

fn serde(text: &str) -> Vec<Value> {
    evalsuite_schema::json::from_str::<Value>(text).unwrap().as_array().unwrap().to_vec()
}

/// Expects the whole transcript. `usage` is that of both calls of the model.
#[track_caller]
fn assert_complete(captured: &Captured, usage: Option<Usage>) {
    let messages = captured.messages.as_ref().expect("a transcript");
    let told: Vec<(Role, String)> = messages
        .iter()
        .map(|message| (message.role, message.content.as_ref().map(content_text).unwrap_or_default()))
        .collect();
    let text = |role, text: &str| (role, text.to_owned());
    assert_eq!(
        told,
        [
            text(Role::System, "be brief"),
            text(Role::User, "time?"),
            text(Role::Assistant, ""),
            text(Role::Assistant, "It is 12:30 in Lima."),
        ]
    );
    assert_called(captured);
    assert_eq!((captured.usage, &captured.missing), (usage, &None));
    assert!(messages[2].model.as_deref().is_none_or(|model| model == "clockwork-1-0101"), "{:?}", messages[2].model);
}

/// Expects one call, with arguments and result.
#[track_caller]
fn assert_called(captured: &Captured) {
    let messages = captured.messages.as_ref().expect("a transcript");
    let calls: Vec<_> = messages.iter().flat_map(|message| &message.tool_calls).collect();
    let [call] = calls[..] else { panic!("expected one call, got {calls:#?}") };
    assert_eq!(call.tool, "clock");
    assert_eq!((&call.input, &call.output), (&Some(json!({"zone": "Lima"})), &Some(json!("12:30 in Lima"))));
    assert!(!call.is_error);
}

fn tokens() -> Option<Usage> {
    Some(Usage::new(24, 14).with_cached(16).with_reasoning(6))
}

#[test]
fn openllmetry_with_numbers_in_names() {
    let captured = seen(|| {
        let first = info_span!(
            "openai.chat",
            llm.request.type = "chat",
            gen_ai.system = "OpenAI",
            gen_ai.request.model = "clockwork-1",
            "gen_ai.prompt.0.role" = "system",
            "gen_ai.prompt.0.content" = "be brief",
            "gen_ai.prompt.1.role" = "user",
            "gen_ai.prompt.1.content" = "time?",
            "llm.request.functions.0.name" = "clock",
            gen_ai.response.model = "clockwork-1-0101",
            llm.usage.total_tokens = 27,
            gen_ai.usage.completion_tokens = 7,
            gen_ai.usage.prompt_tokens = 20,
            gen_ai.usage.cache_read_input_tokens = 8,
            "gen_ai.completion.0.finish_reason" = "tool_calls",
            "gen_ai.completion.0.role" = "assistant",
            "gen_ai.completion.0.tool_calls.0.id" = "call_1",
            "gen_ai.completion.0.tool_calls.0.name" = "clock",
            "gen_ai.completion.0.tool_calls.0.arguments" = r#"{"zone":"Lima"}"#,
        );
        made(&first);
        let second = info_span!(
            "openai.chat",
            llm.request.type = "chat",
            "gen_ai.prompt.0.role" = "system",
            "gen_ai.prompt.0.content" = "be brief",
            "gen_ai.prompt.1.role" = "user",
            "gen_ai.prompt.1.content" = "time?",
            "gen_ai.prompt.2.role" = "assistant",
            "gen_ai.prompt.2.tool_calls.0.id" = "call_1",
            "gen_ai.prompt.2.tool_calls.0.name" = "clock",
            "gen_ai.prompt.2.tool_calls.0.arguments" = r#"{"zone":"Lima"}"#,
            "gen_ai.prompt.3.role" = "tool",
            "gen_ai.prompt.3.content" = "12:30 in Lima",
            "gen_ai.prompt.3.tool_call_id" = "call_1",
            gen_ai.usage.completion_tokens = 7,
            gen_ai.usage.prompt_tokens = 20,
            gen_ai.usage.cache_read_input_tokens = 8,
            "gen_ai.completion.0.finish_reason" = "stop",
            "gen_ai.completion.0.role" = "assistant",
            "gen_ai.completion.0.content" = "It is 12:30 in Lima.",
        );
        made(&second);
    });
    assert_complete(&captured, Some(Usage::new(24, 14).with_cached(16)));
    assert_eq!(captured.tools, [json!({"name": "clock"})]);
}

/// OpenLLMetry, `opentelemetry-instrumentation-genai-openai` and Agent Framework write these, with small differences.
#[test]
fn the_current_conventions() {
    let captured = seen(|| {
        let chat = |input: &str, output: &str, reason: &str| {
            made(&info_span!(
                "openai.chat",
                gen_ai.operation.name = "chat",
                gen_ai.provider.name = "openai",
                gen_ai.request.model = "clockwork-1",
                gen_ai.response.model = "clockwork-1-0101",
                gen_ai.response.finish_reasons = reason,
                gen_ai.usage.total_tokens = 27,
                gen_ai.usage.output_tokens = 7,
                gen_ai.usage.input_tokens = 20,
                gen_ai.usage.cache_read.input_tokens = 8,
                gen_ai.usage.reasoning_tokens = 3,
                gen_ai.input.messages = input,
                gen_ai.output.messages = output,
            ));
        };
        chat(ASKED, CALL, r#"["tool_call"]"#);
        let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "12:30 in Lima"}]});
        chat(&asked_again(result), ANSWER, r#"["stop"]"#);
    });
    assert_complete(&captured, tokens());
}

/// OpenLLMetry around the OpenAI Agents SDK: the next input has another id for the call.
#[test]
fn a_call_with_another_id_in_the_next_input() {
    let captured = seen(|| {
        let chat = |input: &str, output: &str| {
            made(&info_span!(
                "openai.response",
                gen_ai.operation.name = "chat",
                gen_ai.input.messages = input,
                gen_ai.output.messages = output,
                gen_ai.usage.input_tokens = 20,
            ));
        };
        chat(ASKED, CALL);
        let tool = info_span!(
            "clock.tool",
            traceloop.span.kind = "tool",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = "clock",
            gen_ai.tool.call.arguments = r#"{"zone":"Lima"}"#,
            gen_ai.tool.call.result = "12:30 in Lima",
        );
        made(&tool);
        let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "12:30 in Lima"}]});
        chat(
            &asked_again(result).replace(r#""id":"call_1","type":"tool_call""#, r#""id":"fc_1","type":"tool_call""#),
            ANSWER,
        );
    });
    assert_complete(&captured, Some(Usage::new(40, 0)));
}

/// `opentelemetry-instrumentation-openai-v2` in its default mode: bodies of log records.
#[test]
fn events_with_a_body() {
    let captured = seen(|| {
        let chat = || info_span!("chat clockwork-1", gen_ai.operation.name = "chat", gen_ai.system = "openai");
        let told = |name: &str, body: &str| event!(Level::INFO, event.name = name, gen_ai.system = "openai", body);
        let call = r#""tool_calls":[{"id":"call_1","type":"function","function":{"name":"clock","arguments":"{\"zone\":\"Lima\"}"}}]"#;
        chat().in_scope(|| {
            told("gen_ai.system.message", r#"{"content":"be brief"}"#);
            told("gen_ai.user.message", r#"{"content":"time?"}"#);
            told(
                "gen_ai.choice",
                &format!(r#"{{"index":0,"finish_reason":"tool_calls","message":{{"role":"assistant",{call}}}}}"#),
            );
        });
        chat().in_scope(|| {
            told("gen_ai.system.message", r#"{"content":"be brief"}"#);
            told("gen_ai.user.message", r#"{"content":"time?"}"#);
            told("gen_ai.assistant.message", &format!("{{{call}}}"));
            told("gen_ai.tool.message", r#"{"content":"12:30 in Lima","id":"call_1"}"#);
            told(
                "gen_ai.choice",
                r#"{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"It is 12:30 in Lima."}}"#,
            );
        });
    });
    assert_complete(&captured, None);
}

/// The same without contents: a call is known by its name.
#[test]
fn a_call_without_contents_has_its_name() {
    let captured = seen(|| {
        let chat = info_span!(
            "chat clockwork-1",
            gen_ai.operation.name = "chat",
            gen_ai.response.finish_reasons = "[\"tool_calls\"]"
        );
        let body = r#"{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"clock"}}]}}"#;
        chat.in_scope(|| event!(Level::INFO, event.name = "gen_ai.choice", body));
    });
    let messages = captured.messages.unwrap();
    assert_eq!((messages[0].tool_calls[0].tool.as_str(), &messages[0].tool_calls[0].input), ("clock", &None));
    assert_eq!(captured.missing, None);
}

/// `strands-agents`: parts of Bedrock in events, also at the span of a tool.
#[test]
fn strands() {
    let captured = seen(|| {
        let agent = info_span!(
            "invoke_agent timekeeper",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.usage.prompt_tokens = 40,
            gen_ai.usage.input_tokens = 40,
        );
        let _agent = agent.enter();
        event!(name: "gen_ai.choice", Level::INFO, message = "It is 12:30 in Lima.\n", finish_reason = "end_turn");
        let chat = || info_span!("chat", gen_ai.operation.name = "chat", gen_ai.system = "strands-agents");
        let call = r#"[{"toolUse": {"toolUseId": "call_1", "name": "clock", "input": {"zone": "Lima"}}}]"#;
        let cycle = info_span!("execute_event_loop_cycle", gen_ai.operation.name = "execute_event_loop_cycle");
        cycle.in_scope(|| {
            event!(name: "gen_ai.user.message", Level::INFO, content = r#"[{"text": "time?"}]"#);
            chat().in_scope(|| {
                event!(name: "gen_ai.system.message", Level::INFO, content = r#"[{"text": "be brief"}]"#);
                event!(name: "gen_ai.user.message", Level::INFO, content = r#"[{"text": "time?"}]"#);
                event!(name: "gen_ai.choice", Level::INFO, finish_reason = "tool_use", message = call);
            });
            let tool = info_span!("execute_tool clock", gen_ai.operation.name = "execute_tool", gen_ai.tool.name = "clock", gen_ai.tool.call.id = "call_1", gen_ai.tool.status = "success");
            tool.in_scope(|| {
                event!(name: "gen_ai.tool.message", Level::INFO, role = "tool", content = r#"{"zone": "Lima"}"#, id = "call_1");
                event!(name: "gen_ai.choice", Level::INFO, message = r#"[{"text": "12:30 in Lima"}]"#, id = "call_1");
            });
        });
        chat().in_scope(|| {
            event!(name: "gen_ai.user.message", Level::INFO, content = r#"[{"text": "time?"}]"#);
            event!(name: "gen_ai.assistant.message", Level::INFO, content = call);
            event!(name: "gen_ai.tool.message", Level::INFO, content = r#"[{"toolResult": {"toolUseId": "call_1", "status": "success", "content": [{"text": "12:30 in Lima"}]}}]"#);
            event!(name: "gen_ai.choice", Level::INFO, finish_reason = "end_turn", message = r#"[{"text": "It is 12:30 in Lima."}]"#);
        });
    });
    assert_complete(&captured, None);
}

/// The same with the current conventions, in events of operations.
#[test]
fn events_with_details_of_the_operation() {
    let captured = seen(|| {
        let chat = |input: &str, output: &str| {
            let chat = info_span!("chat", gen_ai.operation.name = "chat", gen_ai.usage.input_tokens = 20);
            chat.in_scope(|| {
                let name = "gen_ai.client.inference.operation.details";
                let instructions = r#"[{"type": "text", "content": "be brief"}]"#;
                event!(Level::INFO, event.name = name, gen_ai.system_instructions = instructions);
                event!(Level::INFO, event.name = name, gen_ai.input.messages = input);
                event!(Level::INFO, event.name = name, gen_ai.output.messages = output);
            });
        };
        chat(ASKED, CALL);
        made(&info_span!(
            "execute_tool clock",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = "clock",
            gen_ai.tool.call.id = "call_1",
            gen_ai.tool.call.arguments = r#"{"zone": "Lima"}"#,
            gen_ai.tool.call.result = r#"[{"text": "12:30 in Lima"}]"#,
        ));
        chat(ASKED, ANSWER);
    });
    assert_complete(&captured, Some(Usage::new(40, 0)));
}

/// `pydantic-ai` with version 2 of its attributes.
#[test]
fn pydantic_ai() {
    let captured = seen(|| {
        let agent =
            info_span!("agent run", gen_ai.operation.name = "invoke_agent", gen_ai.aggregated_usage.input_tokens = 40);
        let _agent = agent.enter();
        let chat = |input: &str, output: &str| {
            made(&info_span!(
                "chat clockwork-1",
                gen_ai.operation.name = "chat",
                gen_ai.input.messages = input,
                gen_ai.output.messages = output,
                gen_ai.usage.input_tokens = 20,
                gen_ai.usage.output_tokens = 7,
                gen_ai.usage.cache_read.input_tokens = 8,
                gen_ai.usage.details.reasoning_tokens = 3,
                gen_ai.usage.details.cache_read_tokens = 8,
            ));
        };
        chat(ASKED, &CALL.replace(r#"{"zone":"Lima"}"#, r#""{\"zone\":\"Lima\"}""#));
        made(&info_span!(
            "running tool",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = "clock",
            gen_ai.tool.call.id = "call_1",
            tool_arguments = r#"{"zone":"Lima"}"#,
            tool_response = "12:30 in Lima",
        ));
        chat(ASKED, ANSWER);
    });
    assert_complete(&captured, tokens());
}

fn openinference_answer() -> Span {
    info_span!(
        "ChatCompletion",
        "llm.input_messages.1.message.role" = "user",
        "llm.input_messages.1.message.content" = "time?",
        "llm.input_messages.2.message.role" = "assistant",
        "llm.input_messages.2.message.tool_calls.0.tool_call.id" = "call_1",
        "llm.input_messages.2.message.tool_calls.0.tool_call.function.name" = "clock",
        "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments" = r#"{"zone":"Lima"}"#,
        "llm.input_messages.3.message.role" = "tool",
        "llm.input_messages.3.message.content" = "12:30 in Lima",
        "llm.input_messages.3.message.tool_call_id" = "call_1",
        llm.model_name = "clockwork-1-0101",
        llm.token_count.prompt = 20,
        llm.token_count.completion = 7,
        llm.token_count.prompt_details.cache_read = 8,
        llm.token_count.completion_details.reasoning = 3,
        "llm.output_messages.0.message.role" = "assistant",
        "llm.output_messages.0.message.contents.0.message_content.type" = "text",
        "llm.output_messages.0.message.contents.0.message_content.text" = "It is 12:30 in Lima.",
        llm.finish_reason = "stop",
        openinference.span.kind = "LLM",
    )
}

fn openinference_call() -> Span {
    info_span!(
        "ChatCompletion",
        input.value = r#"{"model": "clockwork-1"}"#,
        "llm.tools.0.tool.json_schema" = r#"{"type": "function", "function": {"name": "clock"}}"#,
        "llm.input_messages.0.message.role" = "system",
        "llm.input_messages.0.message.content" = "be brief",
        "llm.input_messages.1.message.role" = "user",
        "llm.input_messages.1.message.content" = "time?",
        llm.model_name = "clockwork-1-0101",
        llm.token_count.total = 27,
        llm.token_count.prompt = 20,
        llm.token_count.completion = 7,
        llm.token_count.prompt_details.cache_read = 8,
        llm.token_count.completion_details.reasoning = 3,
        "llm.output_messages.0.message.role" = "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id" = "call_1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name" = "clock",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments" = r#"{"zone":"Lima"}"#,
        llm.finish_reason = "tool_calls",
        openinference.span.kind = "LLM",
    )
}

#[test]
fn openinference() {
    let captured = seen(|| {
        made(&openinference_call());
        made(&openinference_answer());
    });
    assert_complete(&captured, tokens());
    assert_eq!(captured.tools, [json!({"type": "function", "function": {"name": "clock"}})]);
}

/// OpenInference around the OpenAI Agents SDK, and around LangChain, whose tools have other values.
#[test]
fn openinference_with_spans_of_tools() {
    let langchain =
        r#"{"type": "tool", "data": {"content": "12:30 in Lima", "name": "clock", "tool_call_id": "call_1"}}"#;
    for (input, output) in [(r#"{"zone":"Lima"}"#, "12:30 in Lima"), ("Lima", langchain)] {
        let captured = seen(|| {
            let agent = info_span!("timekeeper", openinference.span.kind = "AGENT", agent.name = "timekeeper");
            let _agent = agent.enter();
            made(&openinference_call());
            let chain = info_span!("tools", openinference.span.kind = "CHAIN", output.value = "{}");
            chain.in_scope(|| {
                made(&info_span!(
                    "clock",
                    tool.name = "clock",
                    input.value = input,
                    output.value = output,
                    openinference.span.kind = "TOOL"
                ));
            });
            made(&openinference_answer());
        });
        assert_complete(&captured, tokens());
        assert!(captured.messages.unwrap()[2].tool_calls[0].duration_ms.is_some());
    }
}

/// OpenLLMetry around LangChain: the arguments and the result of a tool are in LangChain's own form.
#[test]
fn openllmetry_around_langchain() {
    let captured = seen(|| {
        let agent =
            info_span!("LangGraph.workflow", traceloop.span.kind = "workflow", gen_ai.operation.name = "invoke_agent");
        let _agent = agent.enter();
        let chat = |input: &str, output: &str| {
            made(&info_span!(
                "ChatOpenAI.chat",
                gen_ai.operation.name = "chat",
                gen_ai.system_instructions = r#"[{"type": "text", "content": "be brief"}]"#,
                gen_ai.input.messages = input,
                gen_ai.output.messages = output,
            ));
        };
        chat(ASKED, CALL);
        let task =
            info_span!("execute_task tools", traceloop.span.kind = "task", gen_ai.operation.name = "execute_task");
        task.in_scope(|| {
            made(&info_span!(
                "execute_tool clock",
                traceloop.span.kind = "tool",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = "clock",
                gen_ai.tool.call.arguments = r#"{"input_str": "{'zone': 'Lima'}", "tags": ["seq:step:1"], "metadata": {}, "inputs": {"zone": "Lima"}}"#,
                gen_ai.tool.call.result = r#"{"output": {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"], "kwargs": {"content": "12:30 in Lima", "tool_call_id": "call_1"}}, "kwargs": {}}"#,
            ));
        });
        chat(ASKED, ANSWER);
    });
    assert_complete(&captured, None);
}

/// A tool of LangChain that no model asked for.
#[test]
fn openllmetry_around_a_tool_of_langchain() {
    let captured = seen(|| {
        made(&info_span!(
            "execute_tool clock",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = "clock",
            gen_ai.tool.call.arguments = r#"{"input_str": "{'zone': 'Lima'}", "tags": [], "inputs": {"zone": "Lima"}}"#,
            gen_ai.tool.call.result = r#"{"output": "12:30 in Lima", "kwargs": {"color": "green", "name": "clock"}}"#,
        ));
    });
    assert_called(&captured);
}

/// Functions that are marked as tools with OpenLLMetry.
#[test]
fn entities_of_openllmetry() {
    let captured = seen(|| {
        made(&info_span!(
            "clock.tool",
            traceloop.span.kind = "tool",
            traceloop.entity.name = "clock",
            traceloop.entity.input = r#"{"zone":"Lima"}"#,
            traceloop.entity.output = "12:30 in Lima",
        ));
    });
    assert_called(&captured);
}

/// Agent Framework: without spans of its models, the span of an agent has all messages.
#[test]
fn the_span_of_an_agent_has_all_messages() {
    let mut output = serde(CALL);
    output.push(
        json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "12:30 in Lima"}]}),
    );
    output.extend(serde(ANSWER));
    let captured = seen(|| {
        made(&info_span!(
            "invoke_agent timekeeper",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.system_instructions = r#"[{"type": "text", "content": "be brief"}]"#,
            gen_ai.input.messages = r#"[{"role": "user", "parts": [{"type": "text", "content": "time?"}]}]"#,
            gen_ai.output.messages = json!(output).to_string(),
            gen_ai.usage.input_tokens = 40,
        ));
    });
    assert_complete(&captured, Some(Usage::new(40, 0)));
}

/// `adk-rust` has requests and responses in the form of Google's API, at a span around that of the call.
#[test]
fn adk_rust() {
    let captured = seen(|| {
        let call = |request: &str, response: &str| {
            let call = info_span!(
                "call_llm",
                gcp.vertex.agent.llm_request = tracing::field::Empty,
                gcp.vertex.agent.llm_response = tracing::field::Empty,
                gen_ai.conversation.id = "d0b00f4c",
            );
            call.record("gcp.vertex.agent.llm_request", tracing::field::display(request));
            call.in_scope(|| {
                made(&info_span!(
                    "gen_ai.generate",
                    gen_ai.request.model = "clockwork-1-0101",
                    gen_ai.usage.input_tokens = 10_i64
                ));
            });
            call.record("gcp.vertex.agent.llm_response", response);
        };
        let asked = r#"{"role":"system","parts":[{"text":"be brief"}]},{"role":"user","parts":[{"text":"time?"}]}"#;
        let asks = r#"{"role":"model","parts":[{"name":"clock","args":{"zone":"Lima"}}]}"#;
        let result =
            r#"{"role":"function","parts":[{"functionResponse":{"name":"clock","response":"12:30 in Lima"}}]}"#;
        call(&format!(r#"{{"model":"clockwork-1","contents":[{asked}],"config":null}}"#), asks);
        let name = "execute_tool clock";
        made(&info_span!("", otel.name = %name, tool.name = "clock", gen_ai.conversation.id = "d0b00f4c"));
        let answer = r#"{"role":"model","parts":[{"text":"It is "},{"text":"12:30 "},{"text":"in Lima."}]}"#;
        call(&format!(r#"{{"model":"clockwork-1","contents":[{asked},{asks},{result}],"config":null}}"#), answer);
    });
    assert_complete(&captured, Some(Usage::new(20, 0)));
}

/// The Python package `mcp` names the tool in the name of its span only; other clients follow the conventions.
#[test]
fn calls_of_mcp() {
    let captured = seen(|| {
        made(&info_span!("", otel.name = "MCP send initialize", mcp.method.name = "initialize"));
        made(&info_span!(
            "",
            otel.name = "MCP send tools/call clock",
            mcp.method.name = "tools/call",
            jsonrpc.request.id = "2"
        ));
        made(
            &info_span!("tools/call", otel.name = "tools/call weather", mcp.method.name = "tools/call", error.type = "tool_error"),
        );
    });
    let messages = captured.messages.unwrap();
    let calls: Vec<(&str, bool)> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| (call.tool.as_str(), call.is_error))
        .collect();
    assert_eq!(calls, [("clock", false), ("weather", true)]);
}

/// A tool of an agent that calls a server: both spans are of one call.
#[test]
fn a_tool_around_a_call_of_mcp_is_one_call() {
    let captured = seen(|| {
        let tool = info_span!(
            "execute_tool time_clock",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = "time_clock"
        );
        tool.in_scope(|| {
            made(&info_span!(
                "tools/call clock",
                mcp.method.name = "tools/call",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = "clock",
                gen_ai.tool.call.arguments = r#"{"zone":"Lima"}"#,
                error.type = "tool_error",
            ));
        });
    });
    let messages = captured.messages.unwrap();
    let [call] = &messages[0].tool_calls[..] else { panic!("expected one call: {messages:#?}") };
    assert_eq!((call.tool.as_str(), &call.input, call.is_error), ("time_clock", &Some(json!({"zone": "Lima"})), true));
}

#[test]
fn tools_that_a_provider_runs_are_calls() {
    let output = json!([{"role": "assistant", "parts": [
        {"type": "server_tool_call", "id": "s1", "name": "web_search", "server_tool_call": {"type": "web_search", "query": "time"}},
        {"type": "server_tool_call_response", "id": "s1", "server_tool_call_response": {"type": "web_search", "results": []}},
        {"type": "compaction", "content": "what was said"},
        {"type": "text", "content": "It is late."},
        {"type": "blob", "mime_type": "image/png", "modality": "image", "content": "aGk="},
    ]}]);
    let captured = seen(|| {
        made(&info_span!("chat", gen_ai.operation.name = "chat", gen_ai.output.messages = output.to_string()));
    });
    let messages = captured.messages.unwrap();
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let [call] = &messages[0].tool_calls[..] else { panic!("expected one call: {messages:#?}") };
    assert_eq!(call.input, Some(json!({"type": "web_search", "query": "time"})));
    assert_eq!(call.output, Some(json!({"type": "web_search", "results": []})));
    assert_eq!(messages[0].reasoning.as_deref(), Some("what was said"));
    assert_eq!(messages[0].content.as_ref().map(content_text).as_deref(), Some("It is late.\n[image/png]"));
}

/// A text that is JSON is not a list of messages.
#[test]
fn an_answer_may_be_json() {
    for text in [r#"{"answer": 3}"#, "[1, 2]", r#"["a"]"#] {
        let captured = seen(|| {
            made(&info_span!(
                "invoke_agent",
                gen_ai.operation.name = "invoke_agent",
                gen_ai.prompt = text,
                gen_ai.completion = text
            ));
            let chat = info_span!("chat", gen_ai.operation.name = "chat");
            chat.in_scope(|| event!(name: "gen_ai.choice", Level::INFO, message = text));
        });
        let messages = captured.messages.unwrap();
        let last = messages.last().unwrap();
        assert_eq!(last.content.as_ref().map(content_text).as_deref(), Some(text));
    }
}

/// One of two messages with calls is without them: the calls are incomplete.
#[test]
fn calls_of_one_message_do_not_stand_for_those_of_another() {
    let captured = seen(|| {
        let chat = |output: Option<&str>| {
            made(&info_span!(
                "chat",
                gen_ai.operation.name = "chat",
                gen_ai.response.finish_reasons = "[\"tool_call\"]",
                gen_ai.output.messages = output
            ));
        };
        chat(Some(CALL));
        chat(None);
    });
    assert!(captured.missing.is_some_and(|missing| missing.lacks_calls));
}
