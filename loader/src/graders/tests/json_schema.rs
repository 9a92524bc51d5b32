//! `json-schema` and `contains-json`.

use evalsuite_schema::grader::GraderConfig;
use evalsuite_schema::json::json;

use crate::tests::Package;

/// Problems of a schema in a file of this name.
#[track_caller]
fn problems_in(file: &str, schema: &str) -> Vec<String> {
    let package = Package::new(&[(&format!("suite/{file}"), schema)]);
    let (parsed, d) =
        package.read(&format!("[{{type: json-schema, schema: {file}}}, {{type: json-schema, schema: {file}}}]"));
    assert_eq!(parsed.len(), 2, "an entry stays an entry");
    let prefix = format!("{file}:");
    package.lines(&d).into_iter().map(|line| line.trim_start_matches(&prefix).to_owned()).collect()
}

#[track_caller]
fn problems(schema: &str) -> Vec<String> {
    problems_in("s.yaml", schema)
}

#[test]
fn the_schema_is_embedded() {
    let files = [
        ("suite/card.json", r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#),
        ("suite/any.yaml", "true\n"),
    ];
    let package = Package::new(&files);
    let (parsed, d) = package.read("[{type: json-schema, schema: card.json}, {type: json_schema, schema: ./any.yaml}]");
    assert_eq!(package.lines(&d), Vec::<String>::new());
    let schemas: Vec<_> = parsed
        .iter()
        .map(|parsed| match &parsed.grader.config {
            GraderConfig::JsonSchema(config) => {
                (parsed.grader.name.as_str(), config.file.as_ref().map(|file| file.path.as_str()), &config.schema)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let card = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    assert_eq!(
        schemas,
        [("json-schema", Some("suite/card.json"), &card), ("json-schema", Some("suite/any.yaml"), &json!(true))]
    );
}

#[test]
fn contains_json_needs_no_schema() {
    let package = Package::new(&[("suite/card.json", r#"{"type": "object"}"#), ("suite/bad.json", r#"{"type": "x"}"#)]);
    let (parsed, d) = package.read("[{type: contains-json}, {type: contains_json, schema: card.json}]");
    assert_eq!(package.lines(&d), Vec::<String>::new());
    let configs: Vec<_> = parsed.iter().map(|parsed| &parsed.grader.config).collect();
    let [GraderConfig::ContainsJson(without), GraderConfig::ContainsJson(with)] = configs[..] else { panic!("two") };
    assert_eq!(without.schema, None);
    assert_eq!(with.schema.as_ref().map(|schema| &schema.schema), Some(&json!({"type": "object"})));
    assert_eq!(configs.iter().filter(|config| config.settings().json_schema().is_some()).count(), 1);
    let (_, d) = package.read("[{type: contains-json, schema: bad.json}]");
    assert_eq!(package.lines(&d), ["bad.json:1:10 E076 `type` is `x`, which is not a JSON type"]);
}

#[test]
fn the_file_has_to_be_there() {
    super::check(&[
        ("{type: json-schema}", &["1:3 E052 missing key `schema` in `json-schema`"]),
        ("{type: json-schema, schema: {type: object}}", &[]),
        ("{type: contains-json, schema: {type: objekt}}", &["1:40 E076 `type` is `objekt`, which is not a JSON type"]),
        ("{type: json-schema, schema: [object]}", &["1:31 E020 `schema` must be a path or a schema, found a list"]),
        ("{type: json-schema, schema: none.json}", &["1:31 E018 `schema`: file `none.json` not found"]),
        ("{type: json-schema, schema: ../../none.json}", &["1:31 E017 `schema`: `../../none.json` leaves the package"]),
        ("{type: json-schema, schema: '${{ S }}'}", &["1:31 E027 `schema` cannot contain `${{ S }}`"]),
    ]);
}

#[test]
fn mistakes_have_their_place_and_are_reported_once() {
    let table: &[(&str, &[&str])] = &[
        ("[]", &["1:1 E076 a schema must be a mapping, `true` or `false`, found an empty list"]),
        ("type: objekt", &["1:7 E076 `type` is `objekt`, which is not a JSON type"]),
        ("type: [string, string]", &["1:16 E076 `string` is named twice"]),
        ("requird: [a]", &["1:1 E076 unknown keyword `requird` in a schema"]),
        ("x-note: 1\nexample: 2\nnullable: true", &[]),
        ("properties:\n  a: {minimum: '0'}", &["2:16 E076 `minimum` must be a number, found text"]),
        ("properties:\n  a: {required: true}", &["2:17 E076 `required` must be a list of names, found a boolean"]),
        ("items: [{}]", &["1:8 E076 `items` must be a mapping, `true` or `false`, found a list"]),
        ("prefixItems: []", &["1:14 E076 `prefixItems` must be a list of at least one schema, found an empty list"]),
        ("maxLength: -1", &["1:12 E076 `maxLength` must be a whole number of at least 0, found -1"]),
        ("multipleOf: 0", &["1:13 E076 `multipleOf` must be a number above 0, found 0"]),
        ("multipleOf: 9007199254740991", &[]),
        (
            "multipleOf: 9007199254740993",
            &["1:13 E076 `multipleOf` is 9007199254740993, which the validator would round"],
        ),
        (
            "multipleOf: 18446744073709551617",
            &["1:13 E076 `multipleOf` is 18446744073709551617, which the validator would round"],
        ),
        (
            "pattern: '('",
            &["1:10 E076 the pattern does not compile: opening parenthesis without closing parenthesis at offset 0"],
        ),
        ("format: datetime", &["1:9 E076 unknown format `datetime`"]),
        ("format: int32", &[]),
        ("format: idn-hostname", &[]),
        ("$schema: 'http://json-schema.org/draft-06/schema#'\n$comment: a note", &[]),
        ("enum: []", &["1:7 E076 `enum` must be a list of at least one value, found an empty list"]),
        ("$schema: http://json-schema.org/draft-04/schema#", &["1:10 E076 `$schema` is not a known draft"]),
        (
            "$schema: http://json-schema.org/draft-07/schema#\nprefixItems: [{}]\nitems: [{}]",
            &["2:1 E076 `prefixItems` has no meaning in the draft of this schema"],
        ),
        ("properties: {a: {$id: other.json}}", &["1:23 E076 a schema inside the schema has an `$id` of its own"]),
        ("properties: {a: {}}\n$id: https://example.org/s", &[]),
        ("properties: {type: {type: text}}", &["1:27 E076 `type` is `text`, which is not a JSON type"]),
        ("const: {type: 5}\nenum: [{type: 5}]\ndefault: {minimum: a}", &[]),
    ];
    for (schema, expected) in table {
        assert_eq!(problems(schema), *expected, "problems of {schema}");
    }
    assert_eq!(problems_in("s.json", "{\n\"type\": }").len(), 1);
}

#[test]
fn references_lead_into_the_file() {
    let table: &[(&str, &[&str])] = &[
        ("properties: {a: {$ref: '#/$defs/b'}}\n$defs: {b: {}}", &[]),
        ("properties: {a: {$ref: '#/properties/x~1y%20z'}, x/y z: {}}", &[]),
        ("properties: {a: {$ref: '#'}}", &[]),
        ("properties: {a: {$ref: '#name'}}\n$defs: {b: {$anchor: name}}", &[]),
        ("$id: https://example.org/s\nproperties: {a: {$ref: 'https://example.org/s#/$defs/b'}}\n$defs: {b: {}}", &[]),
        ("items: {$ref: '#/$defs/b'}", &["1:15 E076 `#/$defs/b` does not refer to a schema in this file"]),
        ("items: {$ref: '#/type'}\ntype: array", &["1:15 E076 `#/type` does not refer to a schema in this file"]),
        ("items: {$ref: other.json}", &["1:15 E076 `other.json` refers outside the file, and nothing is fetched"]),
        (
            "items: {$ref: 'https://example.org/s.json#/a'}",
            &["1:15 E076 `https://example.org/s.json#/a` refers outside the file, and nothing is fetched"],
        ),
        ("$ref: '#'", &["1:7 E076 the schema refers to itself for the same value"]),
        (
            "$ref: '#/$defs/a'\n$defs: {a: {anyOf: [{type: string}, {$ref: '#/$defs/b'}]}, b: {not: {$ref: '#/$defs/a'}}}",
            &["2:76 E076 the schema refers to itself for the same value"],
        ),
    ];
    for (schema, expected) in table {
        assert_eq!(problems(schema), *expected, "problems of {schema}");
    }
}

/// Schemas that are fine, and schemas with one mistake that a validator sees, too.
#[test]
fn a_validator_agrees() {
    let good = [
        json!({"type": ["string", "null"], "pattern": r"^\d{4}-\d{2}$", "minLength": 7.0}),
        json!({"allOf": [true, {"if": {"const": 1}, "then": {"maximum": 2}, "else": false}]}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "number"}], "additionalItems": false}),
        json!({"$schema": "http://json-schema.org/draft-06/schema#", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "items": {"$recursiveRef": "#"}}),
        json!({"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}, "unevaluatedProperties": false}),
        json!({"dependentRequired": {"a": []}, "patternProperties": {"^x-": true}, "propertyNames": {"maxLength": 9}}),
    ];
    let bad = [
        json!({"type": "text"}),
        json!({"required": "a"}),
        json!({"properties": []}),
        json!({"anyOf": []}),
        json!({"maximum": "5"}),
        json!({"minItems": 1.5}),
        json!({"uniqueItems": 1}),
        json!({"items": 5}),
        json!({"pattern": "("}),
        json!({"$ref": "#/$defs/gone"}),
        json!({"properties": {"a": {"enum": 5}}}),
    ];
    for (schemas, is_good) in [(&good[..], true), (&bad[..], false)] {
        for schema in schemas {
            let ours = problems_in("s.json", &schema.to_string());
            let theirs = jsonschema::options().build(&schema.into());
            assert_eq!((ours.is_empty(), theirs.is_ok()), (is_good, is_good), "{schema}: {ours:?} {theirs:?}");
        }
    }
}
