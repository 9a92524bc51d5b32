//! What spans say twice is counted once, and what they leave out is not known.

use evalsuite_records::record::Usage;
use evalsuite_schema::Role;
use evalsuite_schema::json::{Value, json};
use tracing::field::Empty;
use tracing::{Level, info_span};

use super::{called, calls, chat, said, seen, texts, tool, tools};
use crate::model::agent_report::Captured;

fn lacks_calls(captured: &Captured) -> bool {
    captured.missing.as_ref().is_some_and(|missing| missing.lacks_calls)
}

#[test]
fn messages_in_a_span_and_in_its_event_are_there_once() {
    let (question, answer) =
        (json!([said("user", "time?")]).to_string(), json!([said("assistant", "noon")]).to_string());
    let details = || {
        tracing::event!(
            name: "gen_ai.client.inference.operation.details",
            Level::INFO,
            gen_ai.operation.name = "chat",
            gen_ai.input.messages = question.as_str(),
            gen_ai.output.messages = answer.as_str(),
        );
    };
    let expected = [(Role::User, Some("time?".to_owned())), (Role::Assistant, Some("noon".to_owned()))];
    let in_both = seen(|| {
        let span = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.input.messages = question.as_str(),
            gen_ai.output.messages = answer.as_str(),
        );
        span.in_scope(details);
    });
    assert_eq!(texts(&in_both.messages.unwrap()), expected);
    let in_event = seen(|| info_span!("chat", gen_ai.operation.name = "chat").in_scope(details));
    assert_eq!(texts(&in_event.messages.unwrap()), expected);
    assert_eq!(texts(&seen(details).messages.unwrap()), expected, "without a span");
}

#[test]
fn calls_in_the_span_of_an_agent_and_in_its_event_are_there_once() {
    let work = json!([called("c1", "delete", json!({})), said("assistant", "done")]).to_string();
    let captured = seen(|| {
        let agent =
            info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent", gen_ai.output.messages = work.as_str());
        agent.in_scope(|| {
            tracing::event!(
                name: "gen_ai.client.inference.operation.details",
                Level::INFO,
                gen_ai.output.messages = work.as_str(),
            );
        });
    });
    assert_eq!((tools(&captured), lacks_calls(&captured)), (vec!["delete"], false));
}

#[test]
fn calls_with_the_same_id_keep_their_own_arguments_and_results() {
    let cities = ["Rome", "Oslo"];
    let part =
        |city: &str| json!({"type": "tool_call", "id": "weather", "name": "weather", "arguments": {"city": city}});
    let call = json!({"role": "assistant", "parts": cities.map(part)});
    let input = json!([said("user", "weather?")]);
    let expected: Vec<(Option<Value>, Option<Value>)> =
        cities.iter().map(|city| (Some(json!({"city": city})), Some(json!(format!("{city}: sun"))))).collect();
    let of_calls = |captured: &Captured| -> Vec<(Option<Value>, Option<Value>)> {
        let calls = calls(captured.messages.as_deref().unwrap_or_default());
        calls.into_iter().map(|call| (call.input.clone(), call.output.clone())).collect()
    };
    let from_spans = seen(|| {
        chat(&input, &json!([call])).in_scope(|| ());
        for city in cities {
            let span = info_span!(
                "execute_tool",
                gen_ai.tool.name = "weather",
                gen_ai.tool.call.id = "weather",
                gen_ai.tool.call.arguments = json!({"city": city}).to_string(),
                gen_ai.tool.call.result = format!("{city}: sun"),
            );
            span.in_scope(|| ());
        }
    });
    assert_eq!(of_calls(&from_spans), expected);
    let from_input = seen(|| {
        chat(&input, &json!([call])).in_scope(|| ());
        let result = |city: &str| json!({"role": "tool", "tool_call_id": "weather", "content": format!("{city}: sun")});
        let next = json!([said("user", "weather?"), call, result("Rome"), result("Oslo")]);
        chat(&next, &json!([said("assistant", "sun")])).in_scope(|| ());
    });
    assert_eq!(of_calls(&from_input), expected);
}

#[test]
fn the_span_of_an_agent_alone_does_not_show_that_no_tool_was_called() {
    let agent = || info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent", gen_ai.completion = Empty);
    let bare = seen(|| agent().in_scope(|| ()));
    assert!(lacks_calls(&bare), "{bare:?}");
    let with_answer = seen(|| {
        let agent = agent();
        agent.record("gen_ai.completion", "done");
        agent.in_scope(|| ());
    });
    assert!(lacks_calls(&with_answer), "{with_answer:?}");
    let around = |work: fn()| seen(|| agent().in_scope(work));
    assert!(!lacks_calls(&around(|| tool("clock"))));
    let with_model = around(|| {
        chat(&json!([said("user", "x")]), &json!([said("assistant", "y")])).in_scope(|| ());
    });
    assert!(!lacks_calls(&with_model));
}

#[test]
fn the_sum_of_tokens_or_cost_is_not_known_if_a_call_of_a_model_lacks_them() {
    let call = |tokens: Option<u64>, cost: Option<&str>| {
        let span = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.output.messages = "hello",
            gen_ai.usage.input_tokens = tokens,
            gen_ai.usage.cost = cost,
        );
        span.in_scope(|| ());
    };
    let of = |work: &dyn Fn()| {
        let captured = seen(work);
        (captured.usage.is_some(), captured.lacks_tokens, captured.cost_usd, captured.lacks_cost)
    };
    let two = |one: (Option<u64>, Option<&str>), other: (Option<u64>, Option<&str>)| {
        of(&|| {
            call(one.0, one.1);
            call(other.0, other.1);
        })
    };
    assert_eq!(two((Some(5), Some("0.5")), (Some(5), Some("0.25"))), (true, false, Some(0.75), false));
    assert_eq!(two((Some(5), None), (None, None)), (true, true, None, false));
    assert_eq!(two((Some(5), Some("0.5")), (Some(5), None)), (true, false, Some(0.5), true));
    assert_eq!(two((None, None), (None, None)), (false, false, None, false));
    // A call that failed is no answer, and its tokens are not billed, unless the model had begun to answer.
    let failed = || info_span!("chat", gen_ai.operation.name = "chat", error.type = "timeout").in_scope(|| ());
    let with_failed = of(&|| {
        failed();
        call(Some(5), Some("0.5"));
    });
    assert_eq!(with_failed, (true, false, Some(0.5), false));
    let cut_off = || {
        let span = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.response.time_to_first_chunk = 0.1,
            error.type = "web_stream",
        );
        span.in_scope(|| ());
    };
    let with_cut_off = of(&|| {
        cut_off();
        call(Some(5), Some("0.5"));
    });
    assert_eq!(with_cut_off, (true, true, Some(0.5), true));
}

#[test]
fn a_call_of_a_model_around_other_work_around_the_same_call_is_one_call() {
    let chat = || {
        info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.output.messages = "hello",
            gen_ai.usage.input_tokens = 5,
            gen_ai.usage.output_tokens = 7,
        )
    };
    let captured = seen(|| {
        chat().in_scope(|| info_span!("task", traceloop.span.kind = "task").in_scope(|| chat().in_scope(|| ())));
    });
    assert_eq!((captured.usage, captured.messages.unwrap().len()), (Some(Usage::new(5, 7)), 1));
}

/// Models on one's own machine number the calls of each answer from 0.
#[test]
fn agents_at_the_same_time_keep_their_calls_though_the_ids_are_the_same() {
    let cities = ["Rome", "Oslo"];
    let result = |city: &str| format!("{city}: sun");
    let expected: Vec<(Option<Value>, Option<Value>)> =
        cities.map(|city| (Some(json!({"city": city})), Some(json!(result(city))))).to_vec();
    let asked = |city: &str| [said("user", city), called("call_0", "weather", json!({"city": city}))];
    let agents = || cities.map(|city| (city, info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent")));
    let of_calls = |captured: &Captured| -> Vec<(Option<Value>, Option<Value>)> {
        let calls = calls(captured.messages.as_deref().unwrap_or_default());
        calls.into_iter().map(|call| (call.input.clone(), call.output.clone())).collect()
    };
    let from_spans = seen(|| {
        let agents = agents();
        for (city, agent) in &agents {
            let [question, call] = asked(city);
            agent.in_scope(|| chat(&json!([question]), &json!([call])).in_scope(|| ()));
        }
        for (city, agent) in &agents {
            let tool = || {
                info_span!(
                    "execute_tool",
                    gen_ai.tool.name = "weather",
                    gen_ai.tool.call.id = "call_0",
                    gen_ai.tool.call.result = result(city),
                )
            };
            agent.in_scope(|| tool().in_scope(|| ()));
        }
    });
    assert_eq!(of_calls(&from_spans), expected);
    let from_input = seen(|| {
        let agents = agents();
        for (city, agent) in &agents {
            let [question, call] = asked(city);
            agent.in_scope(|| chat(&json!([question]), &json!([call])).in_scope(|| ()));
        }
        for (city, agent) in &agents {
            let [question, call] = asked(city);
            let told = json!({"role": "tool", "tool_call_id": "call_0", "content": result(city)});
            let next = json!([question, call, told]);
            agent.in_scope(|| chat(&next, &json!([said("assistant", "sun")])).in_scope(|| ()));
        }
    });
    assert_eq!(of_calls(&from_input), expected);
}

#[test]
fn without_contents_each_span_of_a_tool_is_a_call_though_the_ids_are_the_same() {
    let chat = || info_span!("chat", gen_ai.operation.name = "chat", gen_ai.usage.output_tokens = 3).in_scope(|| ());
    let tool = || info_span!("execute_tool", gen_ai.tool.name = "read", gen_ai.tool.call.id = "call_0");
    let calls_by_message = |captured: &Captured| -> Vec<usize> {
        captured.messages.iter().flatten().map(|message| message.tool_calls.len()).collect()
    };
    let in_turns = seen(|| {
        chat();
        tool().in_scope(|| ());
        tool().in_scope(|| ());
        chat();
        tool().in_scope(|| ());
        chat();
    });
    assert_eq!(calls_by_message(&in_turns), [2, 1, 0]);
    let of_two_agents = seen(|| {
        let agents = ["a", "b"].map(|_| info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent"));
        agents.iter().for_each(|agent| agent.in_scope(chat));
        agents.iter().for_each(|agent| agent.in_scope(|| tool().in_scope(|| ())));
    });
    assert_eq!(calls_by_message(&of_two_agents), [1, 1]);
    let around_itself = seen(|| {
        chat();
        tool().in_scope(|| tool().in_scope(|| ()));
    });
    assert_eq!(calls_by_message(&around_itself), [1], "a span within one of the same call is the same call");
}

#[test]
fn calls_of_one_exchange_with_the_same_id_are_told_apart_by_their_arguments() {
    let cities = ["Rome", "Oslo"];
    let captured = seen(|| {
        for city in cities {
            chat(&json!([said("user", "x")]), &json!([called("call_0", "weather", json!({"city": city}))]))
                .in_scope(|| ());
        }
        for city in cities {
            let span = info_span!(
                "execute_tool",
                gen_ai.tool.name = "weather",
                gen_ai.tool.call.id = "call_0",
                gen_ai.tool.call.arguments = json!({"city": city}).to_string(),
                gen_ai.tool.call.result = city,
            );
            span.in_scope(|| ());
        }
    });
    let calls = calls(captured.messages.as_deref().unwrap());
    let seen: Vec<_> = calls.iter().map(|call| (call.input.clone(), call.output.clone())).collect();
    assert_eq!(seen, cities.map(|city| (Some(json!({"city": city})), Some(json!(city)))));
}

#[test]
fn a_tool_that_is_tried_again_is_one_call_with_the_last_result() {
    let captured = seen(|| {
        chat(&json!([said("user", "x")]), &json!([called("c1", "read", json!({}))])).in_scope(|| ());
        for error in [Some("io"), None] {
            let span = info_span!(
                "execute_tool",
                gen_ai.tool.name = "read",
                gen_ai.tool.call.id = "c1",
                gen_ai.tool.call.result = error.unwrap_or("text"),
                error.type = error,
            );
            span.in_scope(|| ());
        }
    });
    let [call] = calls(captured.messages.as_deref().unwrap())[..] else { panic!("one call: {captured:#?}") };
    assert_eq!((&call.output, call.is_error), (&Some(json!("text")), false));
}

#[test]
fn a_call_within_a_tool_is_at_the_message_of_the_tool() {
    let captured = seen(|| {
        chat(&json!([said("user", "x")]), &json!([called("c1", "plan", json!({}))])).in_scope(|| ());
        let plan = info_span!("execute_tool", gen_ai.tool.name = "plan", gen_ai.tool.call.id = "c1");
        plan.in_scope(|| {
            let other = info_span!("invoke_agent", gen_ai.operation.name = "invoke_agent");
            other.in_scope(|| chat(&json!([said("user", "y")]), &json!([said("assistant", "z")])).in_scope(|| ()));
            tool("read");
        });
    });
    let messages = captured.messages.as_deref().unwrap();
    let names: Vec<&str> = messages[1].tool_calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(names, ["plan", "read"], "{messages:#?}");
}

#[test]
fn results_that_say_they_are_errors_are() {
    let results = [
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": true}]}),
        json!({"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "no"}], "status": "error"}}]}),
        json!({"role": "function", "parts": [{"functionResponse": {"name": "read", "response": {"error": "no"}}}]}),
    ];
    let is_error = |result: &Value| {
        let call = called("c1", "read", json!({}));
        let captured = seen(|| {
            chat(&json!([said("user", "x")]), &json!([call])).in_scope(|| ());
            chat(&json!([said("user", "x"), call, result]), &json!([said("assistant", "y")])).in_scope(|| ());
        });
        calls(captured.messages.as_deref().unwrap())[0].is_error
    };
    for result in results {
        assert!(is_error(&result), "{result}");
    }
    let fine =
        json!({"role": "function", "parts": [{"functionResponse": {"name": "read", "response": {"error": null}}}]});
    assert!(!is_error(&fine));
}
