//! `examples`: results by which a case or a grader is tested.

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Example, Examples, Object, Value};

use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::{PathKind, Scope};
use crate::read::node::{Data, Entry, Node};

/// Reads `examples` of a case or a grader.
pub(crate) fn read(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Examples {
    let mut examples = Examples::default();
    let Some(mut fields) = Fields::new(&entry.value, Examples::TABLE, d) else { return examples };
    let (pass, fail) = (fields.get("pass"), fields.get("fail"));
    if pass.is_none() && fail.is_none() && !fields.misspells(&["pass", "fail"]) {
        let message = "`examples` has neither `pass` nor `fail`";
        let help = "add a list of results that pass, or one of results that fail";
        d.report(Code::MissingKey, entry.value.span, message, help);
    }
    examples.pass = pass.map(|entry| list(entry, scope, d)).unwrap_or_default();
    examples.fail = fail.map(|entry| list(entry, scope, d)).unwrap_or_default();
    fields.finish(d);
    examples
}

fn list(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Example> {
    let label = fields::label(entry);
    let Some(items) = fields::list(&entry.value, &label, d) else { return Vec::new() };
    if items.is_empty() {
        let message = format!("{label} is an empty list");
        d.report(Code::BlankValue, entry.value.span, message, "add a result, or delete the key");
    }
    items.iter().filter_map(|item| example(item, scope, d)).collect()
}

fn example(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Example> {
    let location = scope.files.location(node.span);
    match &node.data {
        Data::String(text) => return Some(Example::new(location, text.clone())),
        Data::Mapping(_) => {}
        _ => return fields::wrong_type(node, "an example", "text, or a mapping with `answer`", d),
    }
    let mut fields = Fields::new(node, Example::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    let (answer, file) = (fields.get_renamed("answer", d), fields.get("file"));
    fields::either(answer, file, d);
    let files = fields.get("files").map(|entry| files(entry, d));
    fields.finish(d);
    let answer = match (answer, file) {
        (Some(entry), _) => answer_text(&entry.value, d)?,
        (None, Some(entry)) => {
            let found = scope.find(&entry.value, "`file`", PathKind::File, d)?;
            scope.shared.text(&found.path, scope.files, d)?.1.to_string()
        }
        (None, None) => String::new(),
    };
    let mut example = Example::new(location, answer);
    example.tool_calls = parts.take("tool_calls").unwrap_or_default();
    example.files = files.unwrap_or_default();
    example.removed_files = parts.take("removed_files").unwrap_or_default();
    Some(example)
}

/// The answer as the agent would have given it: data is JSON.
fn answer_text(node: &Node, d: &mut Diagnostics) -> Option<String> {
    match &node.data {
        Data::String(text) => Some(text.clone()),
        Data::Mapping(_) | Data::Sequence(_) => Some(node.to_json().to_string()),
        _ => fields::wrong_type(node, "`answer`", "text, a mapping or a list", d),
    }
}

fn files(entry: &Entry, d: &mut Diagnostics) -> Object {
    let mut files = Object::new();
    let Some(entries) = entry.value.as_mapping() else {
        fields::wrong_type::<()>(&entry.value, "`files`", "a mapping of paths to texts", d);
        return files;
    };
    for file in entries {
        if let Some(text) = fields::string(&file.value, &fields::label(file), d) {
            files.insert(file.key.clone(), Value::String(text));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Package;

    fn read_yaml(package: &Package, yaml: &str) -> (Examples, Vec<String>) {
        let mut d = Diagnostics::new();
        let node = package.node(yaml);
        let examples = read(&node.as_mapping().expect("a mapping")[0], package.scope(), &mut d);
        (examples, package.lines(&d))
    }

    #[test]
    fn a_result_is_a_text_or_a_mapping() {
        let package = Package::new(&[("answer.txt", "from a file\n")]);
        let yaml = "examples:\n  pass:\n  - plain\n  - {answer: {total: 1}, tool_calls: [{tool: save}]}\n  - file: answer.txt\n  \
                    fail:\n  - {output: done, files: {a/b.txt: new}, removed_files: [c.txt]}\n";
        let (examples, problems) = read_yaml(&package, yaml);
        assert_eq!(problems, Vec::<String>::new());
        let answers: Vec<&str> = examples.pass.iter().map(|example| example.answer.as_str()).collect();
        assert_eq!(answers, ["plain", r#"{"total":1}"#, "from a file\n"]);
        assert_eq!(examples.pass[1].tool_calls[0].tool, "save");
        let fail = &examples.fail[0];
        assert_eq!((fail.answer.as_str(), fail.removed_files.as_slice()), ("done", ["c.txt".to_owned()].as_slice()));
        assert_eq!(fail.files.get("a/b.txt").and_then(Value::as_str), Some("new"));
        assert_eq!(examples.pass[0].location.line, 3);
    }

    #[test]
    fn what_is_not_a_result_is_reported() {
        let package = Package::new(&[("answer.txt", "x")]);
        let problems = |yaml: &str| read_yaml(&package, yaml).1.join(" | ");
        assert!(problems("examples: {}").contains("neither `pass` nor `fail`"));
        assert!(problems("examples: {pass: []}").contains("`pass` is an empty list"));
        assert!(
            problems("examples: {pass: [1]}").contains("an example must be text"),
            "{}",
            problems("examples: {pass: [1]}")
        );
        assert!(problems("examples: {pass: [{answer: a, file: answer.txt}]}").contains("one setting"));
        assert!(problems("examples: {pass: [{answre: a}]}").contains("unknown key `answre`"));
        assert!(problems("examples: {fail: [{files: [a]}]}").contains("`files` must be"));
    }
}
