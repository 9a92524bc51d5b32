//! Suites that are as large as the limits of files allow, and that take as much work as possible.

/// A suite that is made to take time and memory.
#[derive(Debug)]
pub struct LargeSuite {
    /// What is large.
    pub name: &'static str,
    /// The files of the suite: paths and contents.
    pub files: fn() -> Vec<(String, String)>,
    /// The code of one of its problems; empty for a suite without an error.
    pub code: &'static str,
}

/// Nearly as many bytes as a file may have.
const ALMOST: usize = (16 << 20) - (1 << 18);

/// Repeats a text up to the limit of a file.
fn full(text: &str) -> String {
    text.repeat(ALMOST / text.len())
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|number| line(number) + "\n").collect()
}

fn eval(text: impl Into<String>) -> Vec<(String, String)> {
    vec![("EVAL.yaml".to_owned(), text.into())]
}

/// One case with an assertion per pattern.
fn patterns(count: usize, pattern: impl Fn(usize) -> String) -> Vec<(String, String)> {
    let assertions = lines(count, |number| format!("  - {{type: regex, value: '{}'}}", pattern(number)));
    eval(format!("tests:\n- id: a\n  input: b\n  assertions:\n{assertions}"))
}

/// One case with a schema.
fn schema(text: impl Into<String>) -> Vec<(String, String)> {
    let mut files = eval("tests:\n- {id: a, input: b, assertions: [{type: json-schema, schema: ./schema.json}]}\n");
    files.push(("schema.json".to_owned(), text.into()));
    files
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

fn case(keys: &str) -> Vec<(String, String)> {
    eval(format!("tests:\n- {{id: a, criteria: b, {keys}}}\n"))
}

fn with(mut files: Vec<(String, String)>, path: &str, text: impl Into<String>) -> Vec<(String, String)> {
    files.push((path.to_owned(), text.into()));
    files
}

fn suite_json(text: impl Into<String>) -> Vec<(String, String)> {
    vec![("suite.json".to_owned(), text.into()), ("tasks/a.json".to_owned(), "{}".to_owned())]
}

macro_rules! large_suites {
    ($($name:literal => $code:literal, $files:expr;)*) => {
        /// All of them.
        pub const LARGE_SUITES: &[LargeSuite] = &[$(LargeSuite { name: $name, files: || $files, code: $code },)*];
    };
}

large_suites! {
    "a literal pattern" => "E008", patterns(1, |_| full("a"));
    "a pattern of alternatives" => "E008", patterns(1, |_| full("ab|"));
    "a pattern of classes" => "E008", patterns(1, |_| full(r"\p{L}"));
    "a pattern of parentheses" => "E008", patterns(1, |_| full("("));
    "a pattern of backslashes" => "E008", patterns(1, |_| full("\\"));
    "nested repetitions" => "E053", patterns(1, |_| "((a{1000}){1000}){1000}".to_owned());
    "many patterns with nested repetitions" => "E053", patterns(15_000, |number| format!("((a{{1000}}){{1000}}){number}"));
    "many long patterns" => "E008", patterns(240, |number| format!("{number}{}", "a?".repeat(32_000)));
    "one long pattern many times" => "", patterns(240, |_| format!("b{}", "a?".repeat(16_000)));
    "many long patterns of classes" => "E008", patterns(240, |number| format!("{number}{}", r"\p{L}".repeat(12_000)));
    "many patterns of back references" => "E008", patterns(240, |number| format!("{number}(a){}", "\\1".repeat(30_000)));
    "many patterns that are compiled" => "E008", patterns(15_000, |number| format!(r"\p{{L}}{number}"));
    "a pattern of a schema" => "E008", schema(format!("{{\"pattern\": \"{}\"}}", full("a")));
    "a key of patternProperties" => "E008", schema(format!("{{\"patternProperties\": {{\"{}\": {{}}}}}}", full("a|")));
    "many keys of patternProperties" => "E008",
        schema(format!("{{\"patternProperties\": {{{}}}}}", list(40_000, |number| format!("\"\\\\p{{L}}{number}\": {{}}"))));
    "a chain of references" => "", schema(format!(
        "{{\"$ref\": \"#/$defs/d0\", \"$defs\": {{{}, \"d20000\": true}}}}",
        list(20_000, |number| format!("\"d{number}\": {{\"$ref\": \"#/$defs/d{}\"}}", number + 1))
    ));
    "references that multiply" => "", schema(format!(
        "{{\"$ref\": \"#/$defs/d0\", \"$defs\": {{{}, \"d60\": true}}}}",
        list(60, |number| format!("\"d{number}\": {{\"allOf\": [{0}, {0}]}}", format!("{{\"$ref\": \"#/$defs/d{}\"}}", number + 1)))
    ));
    "a cycle of references" => "", schema(format!(
        "{{\"$ref\": \"#/$defs/d0\", \"$defs\": {{{}}}}}",
        list(12_000, |number| format!("\"d{number}\": {{\"properties\": {{\"a\": {{\"$ref\": \"#/$defs/d{}\"}}}}}}", (number + 1) % 12_000))
    ));
    "references to a long name" => "", schema(format!(
        "{{\"$defs\": {{\"{0}\": {{}}}}, \"allOf\": [{1}]}}",
        "a".repeat(100_000),
        list(150, |_| format!("{{\"$ref\": \"#/$defs/{}\"}}", "a".repeat(100_000)))
    ));
    "unknown keywords" => "", schema(format!("{{{}}}", list(15_000, |number| format!("\"{}{number}\": 1", "propertie".repeat(100)))));
    "comments" => "E007", eval(full("# x\n"));
    "one comment" => "E007", eval(full("#"));
    "line breaks" => "E007", eval(full("\n"));
    "carriage returns" => "E007", eval(format!("x{}", full("\r")));
    "spaces" => "E007", eval(full(" "));
    "lists in lists" => "E008", eval(format!("a: {}", full("[")));
    "mappings in mappings" => "E008", eval(full("{a: "));
    "dashes" => "E008", eval(full("- "));
    "aliases" => "E008", eval(format!("a: &a x\nb:\n{}", full("- *a\n")));
    "aliases of aliases" => "E008", eval(format!("a0: &a0 [x]\n{}", lines(20, |number| format!("a{}: &a{} [{}]", number + 1, number + 1, list(9, |_| format!("*a{number}"))))));
    "aliases of a long text" => "E008", eval(format!("a: &a {}\nb:\n{}", "x".repeat(1 << 20), "- *a\n".repeat(1_000_000)));
    "anchors" => "E008", eval(format!("a:\n{}", lines(1_000_000, |number| format!("- &a{number} x"))));
    "merge keys" => "E008", eval(format!("a: &a {{{}}}\nb:\n{}", list(40_000, |number| format!("k{number}: 1")), "- {<<: *a}\n".repeat(1_000)));
    "a long name" => "E032", eval(format!("name: {}\ntests: [{{id: a, input: b, criteria: c}}]\n", full("x")));
    "a long text in several lines" => "E032", eval(format!("name: |\n{}tests: [{{id: a, input: b, criteria: c}}]\n", full("  x\n")));
    "a long input" => "", case(&format!("input: {}", full("x")));
    "a long id" => "", eval(format!("tests:\n- {{id: {}, input: b, criteria: c}}\n", full("x")));
    "a long key" => "E019", eval(format!("? {}\n: 1\ntests: [{{id: a, input: b, criteria: c}}]\n", full("x")));
    "a long gate" => "E080", eval(format!("gates: ['{}']\ntests: [{{id: a, input: b, criteria: c}}]\n", full("(")));
    "variables" => "", case(&format!("input: '{}'", full("${{ A }}")));
    "template variables" => "E008", eval(format!(
        "tests:\n- {{id: a, input: b, assertions: [{{type: llm-grader, prompt: '{}'}}]}}\n", full("{{ a }}")
    ));
    "a hundred thousand cases" => "E008", eval(format!("tests:\n{}", lines(100_000, |number| format!("- {{id: a{number}, input: b, criteria: c}}"))));
    "a hundred thousand lines" => "E008", with(eval("tests: ./c.jsonl\n"), "c.jsonl", lines(100_000, |number| format!("{{\"id\": \"a{number}\", \"input\": \"b\", \"criteria\": \"c\"}}")));
    "lines that are not JSON" => "E008", with(eval("tests: ./c.jsonl\n"), "c.jsonl", full("x\n"));
    "lines of lists in lists" => "E008", with(eval("tests: ./c.jsonl\n"), "c.jsonl", full(&format!("{}\n", "[".repeat(100))));
    "a million keys" => "E008", eval(lines(1_000_000, |number| format!("k{number}: 1")));
    "one key very often" => "E008", eval(full("name: x\n"));
    "one key often" => "E005", eval(lines(30_000, |_| "name: x".to_owned()));
    "many errors" => "E019", eval(format!("tests:\n{}", lines(6_000, |number| format!("- {{id: a{number}, inptu: b, critera: c}}"))));
    "many equal ids" => "E030", eval(format!("tests:\n{}", "- {id: a, input: b, criteria: c}\n".repeat(9_000)));
    "many unknown dependencies" => "E046", eval(format!("tests:\n{}", lines(7_000, |number| format!("- {{id: aaaaaaaaaaaaaaaa{number}, input: b, criteria: c, depends_on: [aaaaaaaaaaaaaaab{number}]}}"))));
    "many graders with long unknown names" => "", eval(format!("tests:\n- id: a\n  input: b\n  assertions:\n{}", lines(30_000, |number| format!("  - {{type: {}{number}}}", "contain".repeat(20)))));
    "a suite.json of numbers" => "E008", suite_json(format!("[{}1]", full("1,")));
    "a suite.json of mappings" => "E008", suite_json(full("{\"a\":"));
    "a suite.json of a long text" => "E007", suite_json(format!("\"{}\"", full("x")));
    "a suite.json of a long unknown word" => "E004", suite_json(format!("{{\"a\": {}", full("x")));
    "a task with a long description" => "E049", vec![
        ("suite.json".to_owned(), "{\"name\": \"a\", \"agent_name\": \"b\", \"kind\": \"capability\"}".to_owned()),
        ("tasks/a.json".to_owned(), format!("{{\"id\": \"a\", \"description\": \"{}\", \"graders\": []}}", full("x"))),
    ];
    "many patterns over many directories" => "E008", (0..3_000).fold(
        eval(format!("tests: [{}]\n", list(499, |number| format!("'file://**/*{number}.yaml'")))),
        |files, number| with(files, &format!("d{number}/x.yaml"), "- {id: a}\n"),
    );
    "a template of many files for many cases" => "", (0..1_000).fold(
        eval(format!("tests:\n{}", lines(7_000, |number| format!("- {{id: a{number}, input: b, criteria: c, workspace: {{template: ./t}}}}")))),
        |files, number| with(files, &format!("t/{number}"), "x"),
    );
}
