//! Parts of requests that are not compared.

use evalsuite_schema::Value;
use evalsuite_schema::json::key_of_step;

use super::recording::{RecordedBody, RecordedRequest};

/// JSON pointers, in which `*` is every key or index.
#[derive(Debug)]
pub(super) struct IgnoredParts(Vec<Vec<String>>);

impl IgnoredParts {
    /// The error names a text that is not a pointer.
    pub(super) fn new(pointers: &[String]) -> Result<Self, String> {
        let parse = |pointer: &String| {
            let steps = pointer.strip_prefix('/').ok_or_else(|| {
                format!("`record_ignore` has `{pointer}`, which is not a JSON pointer: it starts with `/`")
            })?;
            Ok(steps.split('/').map(key_of_step).collect())
        };
        pointers.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// The request without these parts.
    pub(super) fn removed_from(&self, mut request: RecordedRequest) -> RecordedRequest {
        if let Some(RecordedBody::Json(body)) = &mut request.body {
            self.0.iter().for_each(|steps| remove(body, steps));
        }
        request
    }
}

fn remove(value: &mut Value, steps: &[String]) {
    let Some((step, rest)) = steps.split_first() else { return };
    let is_here = |key: &str| step == "*" || step == key;
    match value {
        Value::Object(object) if rest.is_empty() => object.retain(|key, _| !is_here(key)),
        Value::Object(object) => {
            object.iter_mut().filter(|(key, _)| is_here(key)).for_each(|(_, value)| remove(value, rest));
        }
        Value::Array(items) => {
            let here = items.iter_mut().enumerate().filter(|(index, _)| is_here(&index.to_string()));
            // The places of the others stay.
            here.for_each(|(_, item)| if rest.is_empty() { *item = Value::Null } else { remove(item, rest) });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn without(pointers: &[&str], mut body: Value) -> Value {
        let pointers: Vec<String> = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
        IgnoredParts::new(&pointers).unwrap().0.iter().for_each(|steps| remove(&mut body, steps));
        body
    }

    #[test]
    fn pointers_name_keys_indices_and_all_of_them() {
        let body = json!({"id": 1, "a/b": 2, "messages": [{"id": 1, "text": "x"}, {"id": 2}], "n": [1, 2]});
        assert_eq!(
            without(&["/id", "/a~1b", "/messages/*/id", "/n/0", "/missing/x", "/n/0/y"], body.clone()),
            json!({"messages": [{"text": "x"}, {}], "n": [null, 2]})
        );
        assert_eq!(without(&[], body.clone()), body);
    }

    #[test]
    fn another_text_is_an_error() {
        let error = IgnoredParts::new(&["messages".to_owned()]).unwrap_err();
        assert_eq!(error, "`record_ignore` has `messages`, which is not a JSON pointer: it starts with `/`");
    }
}
