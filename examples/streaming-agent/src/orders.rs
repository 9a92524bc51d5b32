//! The tool `find_order`, and the orders it knows.

use serde_json::{Value, json};

/// Describes the tool to the model.
pub(crate) fn specification() -> Value {
    let id = json!({ "type": "integer", "description": "Number of the order" });
    let parameters = json!({ "type": "object", "properties": { "id": id }, "required": ["id"] });
    let function = json!({ "name": "find_order", "description": "Finds an order.", "parameters": parameters });
    json!({ "type": "function", "function": function })
}

/// The order, or the reason why there is none.
pub(crate) fn find_order(input: &Value) -> Value {
    match input["id"].as_u64() {
        Some(1182) => json!({ "id": 1182, "item": "teapot", "place": "Lyon", "arrives": "tomorrow" }),
        Some(1207) => json!({ "id": 1207, "item": "bicycle", "place": "the warehouse", "arrives": "in two weeks" }),
        Some(id) => json!({ "error": format!("there is no order {id}") }),
        None => json!({ "error": "`id` has to be the number of an order" }),
    }
}
