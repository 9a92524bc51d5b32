//! Chat completions: the JSON of requests and replies, and the wait that a service asks for in the header `Retry-After` (RFC 9110, section
//! 10.2.3).

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evalsuite_records::record::Usage;
use evalsuite_schema::json::{Value, json};
use ureq::http::{HeaderMap, header};

use crate::model::judge::{JudgeError, JudgeReply, JudgeRequest};

/// How a request tells the service the shape of a reply, the strictest form first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Schema,
    /// Without lengths of lists, which some services reject.
    SchemaWithoutLengths,
    Json,
    Plain,
}

impl Format {
    pub(crate) const ALL: [Self; 4] = [Self::Schema, Self::SchemaWithoutLengths, Self::Json, Self::Plain];
}

/// The body of a request.
pub(crate) fn body(request: &JudgeRequest, model: &str, format: Format, with_temperature: bool) -> Value {
    let user = if request.images().is_empty() {
        json!(request.user())
    } else {
        let mut parts = vec![json!({"type": "text", "text": request.user()})];
        for image in request.images() {
            let data = STANDARD.encode(image.bytes());
            let url = format!("data:{};base64,{data}", image.media_type());
            parts.push(json!({"type": "image_url", "image_url": {"url": url}}));
        }
        Value::Array(parts)
    };
    let mut messages = vec![json!({"role": "user", "content": user})];
    if !request.system().is_empty() {
        messages.insert(0, json!({"role": "system", "content": request.system()}));
    }
    let mut body = json!({"model": model, "messages": messages});
    if with_temperature {
        body["temperature"] = json!(request.temperature());
    }
    match (format, request.response_schema()) {
        (Format::Schema, Some(schema)) => body["response_format"] = json_schema(schema),
        (Format::SchemaWithoutLengths, Some(schema)) => body["response_format"] = json_schema(&without_lengths(schema)),
        (Format::Json, Some(_)) => body["response_format"] = json!({"type": "json_object"}),
        (Format::Plain, _) | (_, None) => {}
    }
    body
}

fn json_schema(schema: &Value) -> Value {
    json!({"type": "json_schema", "json_schema": {"name": "judgement", "strict": true, "schema": schema}})
}

fn without_lengths(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let is_length = |key: &str, value: &Value| key == "maxItems" && value.is_number();
            let kept = object.iter().filter(|(key, value)| !is_length(key, value));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_lengths(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_lengths).collect(),
        other => other.clone(),
    }
}

pub(crate) fn reply(text: &str, price: Option<(f64, f64)>) -> Result<JudgeReply, JudgeError> {
    let value: Value = evalsuite_schema::json::from_str_with_unique_keys(text)
        .map_err(|error| JudgeError::new(format!("the service's reply is not JSON: {error}")))?;
    let usage = usage(&value["usage"]);
    let reported = value["usage"]["cost"].as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0);
    let cost_usd = reported.or_else(|| Some(cost(usage?, price?)));
    // It may have been paid for, whatever is in it.
    let paid = JudgeReply { usage, cost_usd, ..JudgeReply::default() };
    if let Some(message) = value.get("error").filter(|error| !error.is_null()) {
        return Err(JudgeError::new(format!("the service replied with an error: {message}")).after(&paid));
    }
    let choice = &value["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(JudgeError::new("the service's reply has no `choices[0].message`").after(&paid));
    }
    let content = match &message["content"] {
        Value::String(text) if !text.is_empty() => text.clone(),
        // Other parts are the thinking of the model.
        Value::Array(parts) => {
            let is_said =
                |part: &&Value| part["type"].as_str().is_none_or(|kind| ["text", "output_text"].contains(&kind));
            parts.iter().filter(is_said).filter_map(|part| part["text"].as_str()).collect()
        }
        _ => message["refusal"].as_str().unwrap_or_default().to_owned(),
    };
    Ok(JudgeReply {
        text: content,
        model: value["model"].as_str().map(str::to_owned),
        is_cut_off: choice["finish_reason"].as_str().is_some_and(is_cut_off),
        ..paid
    })
}

/// Reasons for the end of a reply that a model ended itself.
const COMPLETE: [&str; 8] =
    ["stop", "eos", "eos_token", "stop_sequence", "end_turn", "complete", "tool_calls", "function_call"];

/// Whether something else ended the reply: a limit of tokens, a filter, or an error of the service.
fn is_cut_off(finish_reason: &str) -> bool {
    !COMPLETE.iter().any(|complete| finish_reason.eq_ignore_ascii_case(complete))
}

/// The tokens, if both numbers are known.
fn usage(usage: &Value) -> Option<Usage> {
    let input = usage["prompt_tokens"].as_u64()?;
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0);
    let output = usage["completion_tokens"].as_u64().or_else(|| usage["total_tokens"].as_u64()?.checked_sub(input))?;
    let reasoning = usage["completion_tokens_details"]["reasoning_tokens"].as_u64().unwrap_or(0);
    Some(Usage::new(input.saturating_sub(cached), output).with_cached(cached).with_reasoning(reasoning))
}

#[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
fn cost(usage: Usage, (input, output): (f64, f64)) -> f64 {
    ((usage.input + usage.cached) as f64 * input + usage.output as f64 * output) / 1e6
}

/// The message in an error of a service.
pub(crate) fn error_message(text: &str) -> Option<String> {
    let value: Value = evalsuite_schema::json::from_str(text).ok()?;
    let error = value.get("error").unwrap_or(&value);
    error.as_str().or(error["message"].as_str()).map(str::to_owned)
}

/// The wait a reply asks for, as a number of seconds or as a date; zero if the date has passed. `None`: the header is absent or
/// cannot be read.
pub(crate) fn wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let asked = text(header::RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    // The clock of the service, if it is sent: this machine's may be wrong.
    let now = text(header::DATE).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use ureq::http::HeaderValue;

    use super::*;

    #[test]
    fn tokens_and_cost_are_read() {
        let text = json!({
            "model": "m-1",
            "choices": [{"message": {"content": "{}"}}],
            "usage": {
                "prompt_tokens": 1000, "completion_tokens": 500,
                "prompt_tokens_details": {"cached_tokens": 400}, "completion_tokens_details": {"reasoning_tokens": 100},
            },
        });
        let reply = reply(&text.to_string(), Some((1.0, 2.0))).unwrap();
        assert_eq!(reply.usage, Some(Usage::new(600, 500).with_cached(400).with_reasoning(100)));
        assert_eq!((reply.cost_usd, reply.model.as_deref()), (Some(0.002), Some("m-1")));
    }

    #[test]
    fn a_reply_that_was_cut_off_is_known() {
        let cut_off =
            ["length", "model_length", "MAX_TOKENS", "content_filter", "error", "insufficient_system_resource"];
        let whole = ["stop", "STOP", "eos_token", "end_turn", "tool_calls"];
        let reasons = cut_off.map(|reason| (json!(reason), true)).into_iter();
        let reasons = reasons.chain(whole.map(|reason| (json!(reason), false))).chain([(Value::Null, false)]);
        for (finish_reason, is_cut_off) in reasons {
            let text = json!({"choices": [{"message": {"content": "{"}, "finish_reason": finish_reason}]}).to_string();
            assert_eq!(reply(&text, None).unwrap().is_cut_off, is_cut_off);
        }
    }

    #[test]
    fn tokens_and_cost_are_known_only_if_both_numbers_are() {
        let read = |usage: &Value| {
            let text = json!({"choices": [{"message": {"content": "{}"}}], "usage": usage}).to_string();
            let reply = reply(&text, Some((1.0, 2.0))).unwrap();
            (reply.usage, reply.cost_usd)
        };
        assert_eq!(read(&json!({"prompt_tokens": 1000})), (None, None));
        assert_eq!(read(&json!({"completion_tokens": 1000})), (None, None));
        let summed = read(&json!({"prompt_tokens": 1000, "total_tokens": 1500}));
        assert_eq!(summed, (Some(Usage::new(1000, 500)), Some(0.002)));
    }

    #[test]
    fn only_what_the_model_said_is_the_text_of_a_reply() {
        let content = json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "{\"score\": 1}"}]},
            {"type": "reasoning", "text": "perhaps {\"score\": 1}"},
            {"type": "text", "text": "{\"score\": "},
            {"text": "0}"},
        ]);
        let text = json!({"choices": [{"message": {"content": content}}]}).to_string();
        assert_eq!(reply(&text, None).unwrap().text(), "{\"score\": 0}");
    }

    #[test]
    fn lengths_are_left_out_and_properties_of_that_name_are_not() {
        let schema = json!({"properties": {"maxItems": {"type": "array", "items": [{"maxItems": 3}], "maxItems": 2}}});
        let without = json!({"properties": {"maxItems": {"type": "array", "items": [{}]}}});
        assert_eq!(without_lengths(&schema), without);
    }

    #[test]
    fn what_is_no_completion_is_an_error() {
        for text in
            ["", "<html>", "[]", "{}", r#"{"choices": []}"#, r#"{"choices": [{"message": 1}]}"#, r#"{"error": "x"}"#]
        {
            assert!(reply(text, None).is_err(), "{text}");
        }
        let refused = reply(r#"{"choices": [{"message": {"content": null, "refusal": "no"}}]}"#, None).unwrap();
        assert_eq!((refused.text(), refused.usage, refused.cost_usd), ("no", None, None));
        let silent = reply(r#"{"choices": [{"message": {"content": "", "refusal": "no"}}]}"#, None).unwrap();
        assert_eq!(silent.text(), "no");
    }

    #[test]
    fn a_completion_that_cannot_be_used_may_have_been_paid_for() {
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 2});
        for body in [json!({"choices": [], "usage": usage}), json!({"error": "content was filtered", "usage": usage})] {
            let error = reply(&body.to_string(), Some((1.0, 2.0))).unwrap_err();
            assert_eq!((error.usage(), error.cost_usd()), (Some(Usage::new(10, 2)), Some(14e-6)), "{body}");
        }
        assert_eq!(reply("<html>", Some((1.0, 2.0))).unwrap_err().cost_usd(), None);
    }

    #[test]
    fn images_are_sent_as_data() {
        let mut request = JudgeRequest::new("", "look");
        request.images.push(crate::model::judge::JudgeImage {
            media_type: "image/png".into(),
            path: "a.png".into(),
            bytes: (*b"abc").into(),
        });
        let body = body(&request, "m", Format::Schema, true);
        assert_eq!(body["messages"][0]["content"][1]["image_url"]["url"], "data:image/png;base64,YWJj");
        assert_eq!((&body["response_format"], body["messages"].as_array().map(Vec::len)), (&Value::Null, Some(1)));
    }

    /// 1994-11-06 08:49:37 UTC.
    const THEN: u64 = 784_111_777;

    fn wait_at(seconds: u64, retry_after: &str, date: Option<&'static str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_str(retry_after).unwrap());
        headers.extend(date.map(|date| (header::DATE, HeaderValue::from_static(date))));
        wait(&headers, UNIX_EPOCH + Duration::from_secs(seconds))
    }

    #[test]
    fn seconds_are_waited_for() {
        let seconds = |text| wait_at(THEN, text, None);
        assert_eq!(seconds("7"), Some(Duration::from_secs(7)));
        assert_eq!(seconds(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(seconds("0"), Some(Duration::ZERO));
        assert_eq!(seconds("1e300"), Some(Duration::MAX));
    }

    #[test]
    fn every_form_of_date_is_read_and_a_date_that_has_passed_means_no_wait() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(wait_at(THEN - 90, date, None), Some(Duration::from_secs(90)), "{date}");
            assert_eq!(wait_at(THEN, date, None), Some(Duration::ZERO), "{date}");
            assert_eq!(wait_at(THEN + 90, date, None), Some(Duration::ZERO), "{date}");
        }
    }

    #[test]
    fn the_clock_of_the_service_takes_precedence() {
        let wait = wait_at(0, "Sun, 06 Nov 1994 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:30 GMT"));
        assert_eq!(wait, Some(Duration::from_secs(7)));
        assert_eq!(wait_at(THEN - 7, "Sun, 06 Nov 1994 08:49:37 GMT", Some("today")), Some(Duration::from_secs(7)));
    }

    #[test]
    fn other_texts_ask_for_no_wait() {
        for text in [
            "",
            "soon",
            "-1",
            "NaN",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nev 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(wait_at(THEN, text, None), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_is_a_panic(text in "[ -~]*") {
            wait_at(THEN, &text, None);
        }
    }
}
