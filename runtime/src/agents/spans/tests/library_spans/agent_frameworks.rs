//! Spans of agents, and of what instruments them.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::json;
use evalsuite_schema::{Content, Role};
use tracing::field::Empty;
use tracing::{Level, event, info_span, warn};

use crate::agents::spans::tests::library_spans::{
    ANSWER, ASKED, CALL, asked_again, assert_called, assert_complete, made, seen, serde, tokens,
};

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

/// A call of a model as adk-rust makes it.
fn call_of_adk_rust(request: &str, response: &str) {
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
}

fn clock_of_adk_rust() {
    let name = "execute_tool clock";
    made(&info_span!("", otel.name = %name, tool.name = "clock", gen_ai.conversation.id = "d0b00f4c"));
}

/// `adk-rust` has requests and responses in the form of Google's API, at a span around that of the call.
#[test]
fn adk_rust() {
    let captured = seen(|| {
        let asked = r#"{"role":"system","parts":[{"text":"be brief"}]},{"role":"user","parts":[{"text":"time?"}]}"#;
        let asks = r#"{"role":"model","parts":[{"name":"clock","args":{"zone":"Lima"}}]}"#;
        let result =
            r#"{"role":"function","parts":[{"functionResponse":{"name":"clock","response":"12:30 in Lima"}}]}"#;
        call_of_adk_rust(&format!(r#"{{"model":"clockwork-1","contents":[{asked}],"config":null}}"#), asks);
        clock_of_adk_rust();
        let answer = r#"{"role":"model","parts":[{"text":"It is "},{"text":"12:30 "},{"text":"in Lima."}]}"#;
        call_of_adk_rust(
            &format!(r#"{{"model":"clockwork-1","contents":[{asked},{asks},{result}],"config":null}}"#),
            answer,
        );
    });
    assert_complete(&captured, Some(Usage::new(20, 0)));
}

/// `adk-rust` reports a failed call of a tool next to its span, and an error of the provider within that of the call of the model. A call of
/// a tool that fails at first has not failed if it then succeeds.
#[test]
fn failed_calls_of_adk_rust() {
    let asks = r#"{"role":"model","parts":[{"name":"clock","args":{"zone":"Lima"}}]}"#;
    let called = |report: fn()| {
        let captured = seen(|| {
            call_of_adk_rust("{...[truncated 2000 bytes]", asks);
            let name = "execute_tool clock";
            let tool = info_span!("", otel.name = %name, tool.name = %"clock", gen_ai.conversation.id = "d0b00f4c");
            tool.in_scope(|| ());
            report();
        });
        let messages = captured.messages.expect("a transcript");
        let calls: Vec<_> = messages.iter().flat_map(|message| &message.tool_calls).collect();
        let [call] = calls[..] else { panic!("one call: {messages:#?}") };
        call.is_error
    };
    assert!(called(|| warn!(tool.name = %"clock", error = %"no such zone", "tool_error")));
    assert!(called(|| warn!(tool.name = %"clock", timeout_secs = 5, "tool_timeout")));
    assert!(!called(|| warn!(tool.name = %"clock", attempt = 0, error = %"busy", "tool execution failed, retrying")));
    assert!(!called(|| warn!(tool.name = %"watch", error = %"no such zone", "tool_error")));
    assert!(!called(|| tracing::error!(error.code = %"io", "another error next to the call")));

    let captured = seen(|| {
        let call =
            info_span!("call_llm", gcp.vertex.agent.llm_request = "{...[truncated]", gen_ai.conversation.id = "d");
        call.in_scope(|| {
            made(&info_span!("gen_ai.generate", gen_ai.request.model = "clockwork-1", gen_ai.usage.input_tokens = Empty));
            tracing::error!(error.code = %"overloaded", error.message = %"try later", "model reported a terminal error");
        });
        drop(call);
        call_of_adk_rust("{...[truncated 2000 bytes]", asks);
    });
    let messages = captured.messages.expect("a transcript");
    assert_eq!(messages.len(), 1, "the failed call has no message: {messages:#?}");
    assert!(captured.lacks_tokens, "the answer had begun");
}

/// Without its feature `record-payloads`, `adk-rust` cuts off what is longer than 2 KiB.
#[test]
fn what_adk_rust_cuts_off_is_not_a_message() {
    let asks = r#"{"role":"model","parts":[{"name":"clock","args":{"zone":"Lima"}}]}"#;
    let captured = seen(|| {
        let request =
            r#"{"model":"clockwork-1","contents":[{"role":"system","parts":[{"text":"be br...[truncated 90 bytes]"#;
        call_of_adk_rust(request, asks);
        clock_of_adk_rust();
        call_of_adk_rust(request, r#"{"role":"model","parts":[{"text":"It is 12...[truncated 9000 bytes]"#);
    });
    let messages = captured.messages.as_deref().expect("a transcript");
    let told: Vec<(Role, Option<&Content>)> =
        messages.iter().map(|message| (message.role, message.content.as_ref())).collect();
    assert_eq!(told, [(Role::Assistant, None), (Role::Assistant, None)]);
    let [call] = messages[0].tool_calls.as_slice() else { panic!("one call: {messages:#?}") };
    assert_eq!((call.tool.as_str(), &call.input), ("clock", &Some(json!({"zone": "Lima"}))));
    assert_eq!(captured.usage, Some(Usage::new(20, 0)));
}
