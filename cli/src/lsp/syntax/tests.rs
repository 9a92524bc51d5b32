//! What the reader makes of valid and broken texts.

use serde_json::{Value, json};

use super::{Data, Node, read};

fn value(node: &Node) -> Value {
    match &node.data {
        Data::Mapping(entries) => {
            let value = |entry: &super::MappingEntry| {
                let key = if entry.is_complete { entry.key.clone() } else { format!("{}?", entry.key) };
                (key, value(&entry.value))
            };
            Value::Object(entries.iter().map(value).collect())
        }
        Data::Sequence(items) => items.iter().map(value).collect(),
        Data::Scalar(text) => Value::String(text.clone()),
    }
}

#[track_caller]
fn reads(text: &str, expected: Value) {
    assert_eq!(value(&read(text)), expected, "{text}");
}

#[test]
fn valid_yaml() {
    reads(
        "# head\n---\nname: shop # the name\nexecution: { timeout_seconds: 60, targets: [a, b] }\ntests:\n- id: a\n  input: |\n    Hello: x\n\n    you\n  assertions:\n    - Is polite\n    - type: contains\n      value: \"a: b\"\n- id: b\n",
        json!({
            "name": "shop", "execution": { "timeout_seconds": "60", "targets": ["a", "b"] },
            "tests": [
                { "id": "a", "input": "    Hello: x\n\n    you\n", "assertions": ["Is polite", { "type": "contains", "value": "a: b" }] },
                { "id": "b" },
            ],
        }),
    );
    reads("a: one\n  two\nb: 'it''s'\n\"c d\": x\n", json!({ "a": "one\n  two", "b": "it''s", "c d": "x" }));
    reads("- a\n-\n  b: 1\n- - x\n", json!(["a", { "b": "1" }, ["x"]]));
    reads("url: http://a/b:c\r\nnext: 1\r\n", json!({ "url": "http://a/b:c", "next": "1" }));
}

#[test]
fn json_with_and_without_mistakes() {
    reads("{ \"a\": [1, {\"b\": \"x\\\"y\"}], \"c\": null }", json!({ "a": ["1", { "b": "x\\\"y" }], "c": "null" }));
    reads("{\n  \"id\": \"a\",\n  \"gra\n}", json!({ "id": "a", "gra?": "" }));
    reads("{ \"a\": ", json!({ "a": "" }));
}

#[test]
fn yaml_that_is_being_typed() {
    reads("name: shop\nexec\ntests: ./cases/\n", json!({ "name": "shop", "exec?": "", "tests": "./cases/" }));
    reads("exec\nname: shop\n", json!({ "exec?": "", "name": "shop" }));
    reads("execution:\n  time\nname: shop\n", json!({ "execution": "time", "name": "shop" }));
    reads(
        "assertions:\n  - type: contains\n    val\n  - ty\n",
        json!({ "assertions": [{ "type": "contains", "val?": "" }, "ty"] }),
    );
    reads("a: { type: con\nb: 1\n", json!({ "a": { "type": "con" }, "b": "1" }));
    reads(
        "a:\n  - { type: x, \n  - y\nb: [1,\nc: \"open\nd: 1\n",
        json!({ "a": [{ "type": "x" }, "y"], "b": ["1"], "c": "open", "d": "1" }),
    );
    reads("a:\n    b: 1\n  c: 2\nd: 3\n", json!({ "a": { "b": "1" }, "d": "3" }));
}

#[test]
fn every_text_is_read_and_ranges_are_inside() {
    fn check(node: &Node, length: usize) {
        assert!(node.range.start <= node.range.end && node.range.end <= length);
        node.entries().iter().for_each(|entry| check(&entry.value, length));
        node.items().iter().for_each(|item| check(item, length));
    }
    let text = "name: sh\u{e9}p\ntests:\n  - { id: \"a\", input: [x, {y: 'z'}] } # c\n  - |\n    t\n&a k: !t v\n? x\n";
    let cuts = text.char_indices().map(|(index, _)| index);
    for cut in cuts {
        for text in [&text[..cut], &text[cut..]] {
            check(&read(text), text.len());
        }
    }
    for text in
        ["[".repeat(100_000), "- ".repeat(50_000), "{a: ".repeat(50_000), "a:\n ".repeat(3000), "]}\n".repeat(99)]
    {
        check(&read(&text), text.len());
    }
}
