//! Spans of instrumented clients of models.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::json;
use tracing::{Level, Span, event, info_span};

use crate::agents::spans::tests::library_spans::{
    ANSWER, ASKED, CALL, asked_again, assert_complete, made, seen, tokens,
};

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

#[test]
fn openinference() {
    let captured = seen(|| {
        made(&openinference_call());
        made(&openinference_answer());
    });
    assert_complete(&captured, tokens());
    assert_eq!(captured.tools, [json!({"type": "function", "function": {"name": "clock"}})]);
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
