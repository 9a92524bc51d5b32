//! JSON Schemas that allow no other fields.

use evalsuite_schema::Value;

/// Makes a schema refuse fields that it does not name, which published schemas allow.
pub fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(values) => values.iter_mut().for_each(close),
        _ => {}
    }
}
