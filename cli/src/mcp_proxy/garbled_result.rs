//! The answer of a tool whose texts are damaged: cut off in the middle, with every third character lost. The message stays valid.

use evalsuite_schema::Value;

/// The response with a damaged result. Errors stay as they are.
pub(super) fn garbled(mut response: Value) -> Value {
    if let Some(result) = response.as_object_mut().and_then(|response| response.get_mut("result")) {
        for part in result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            match part.get_mut("text") {
                Some(text) => damage(text),
                None => {
                    if let Some(text) = part.get_mut("resource").and_then(|resource| resource.get_mut("text")) {
                        damage(text);
                    }
                }
            }
        }
        if let Some(structured) = result.get_mut("structuredContent") {
            damage(structured);
        }
    }
    response
}

/// Damages every text in a value; names, numbers and the shape stay.
fn damage(value: &mut Value) {
    match value {
        Value::String(text) => {
            let half = text.chars().count().div_ceil(2);
            let lost = |(index, letter)| if index % 3 == 2 { '\u{fffd}' } else { letter };
            *text = text.chars().take(half).enumerate().map(lost).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(damage),
        Value::Object(object) => object.values_mut().for_each(damage),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn texts_are_damaged_in_the_same_way_each_time_and_the_shape_stays() {
        let response = json!({"id": 1, "result": {
            "content": [{"type": "text", "text": "Meeting at 14:30"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            "structuredContent": {"time": "14:30", "n": 2},
        }});
        let damaged = json!({"id": 1, "result": {
            "content": [{"type": "text", "text": "Me\u{fffd}ti\u{fffd}g "}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            "structuredContent": {"time": "14\u{fffd}", "n": 2},
        }});
        assert_eq!(garbled(response.clone()), damaged);
        assert_eq!(garbled(response), damaged);
        let error = json!({"id": 1, "error": {"code": -1, "message": "no such tool"}});
        assert_eq!(garbled(error.clone()), error);
    }
}
