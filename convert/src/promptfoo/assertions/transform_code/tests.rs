//! Methods of texts, called by `node` and done as steps.

use std::io::Write as _;
use std::process::{Command, Stdio};

use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, from_str, json};

use super::*;

const CODES: &[&str] = &[
    "output.replace('a', 'b')",
    "output.replace('a', '[$&$$$1$0]')",
    "output.replaceAll('a', '<$&>')",
    r"output.replace(/(\d+)-(\d+)/, '$2-$1')",
    r"output.replace(/(\d+)-(\d+)/g, '$2-$1$3$20')",
    r"output.replace(/\s+/g, ' ')",
    r"output.replace(/^\s+|\s+$/g, '')",
    r"output.replace(/^a|b$/, '')",
    r"output.replace(/```(?:json)?\n?/gi, '').trim()",
    r"output.replace(/^```(?:json)?\n?/gm, '').replace(/^```$/gm, '').trim()",
    r"output.replace(/^\s+/gm, '')",
    r"output.replace(/[a-z]+$/gm, '<$&>')",
    r"output.replace(/^a/m, '-')",
    r"output.replace(/json.*\n/gs, '')",
    r"output.replace(/one.+?line/s, '-')",
    r"output.replace(/^.$/gms, '-')",
    r"output.split(/^line /m)[1]",
    r"output.match(/^(line) t.*$/m)[0]",
    r"output.replace(/\bok\b/g, 'fine')",
    r"output.replace(/[/]a/, '!')",
    r"output.replace(/\/a/, '!')",
    r"output.replace(/x*/, '-')",
    r"output.replace(/(x)?a/, '<$1>')",
    r"output.replace(/A/i, '$&$&')",
    "output.split(',')[0]",
    "output.split(',')[1]",
    "output.split(', ')[2]",
    "output.split(',').pop()",
    "output.split(',').shift()",
    "output.split(',').at(-1)",
    "output.split(',').at(1)",
    "output.split('aa')[1]",
    "output.split('aa').pop()",
    r#"output.split("\n\n")[0].split("\n").pop().trim()"#,
    r"output.split(/\s*,\s*/)[1]",
    r"output.split(/[,;]/).pop()",
    "output.slice(3)",
    "output.slice(0, 4)",
    "output.slice(2, 4)",
    "output.slice(4, 2)",
    "output.slice(-3)",
    "output.slice(1, -1)",
    "output.slice(0, -20)",
    "output.substring(4, 2)",
    "output.substring(-1, 3)",
    "output.substring(2)",
    r"output.match(/\d+/)[0]",
    r"output.match(/(\d+)-(\d+)/)[2]",
    r"output.match(/```json\n([^`]*)```/)?.[1]",
    r"output.match(/a|b/)[0]",
    "`${output}`.trim().toUpperCase()",
];

const TEXTS: &[&str] = &[
    "",
    "a",
    "aaa",
    "aaaa",
    "  a, b,c ",
    ",",
    ",,;",
    "1-2 and 30-40",
    "ok, not okay, ok",
    "So:\n```json\n{\"a\": 1}\n```\nDone",
    "line one\n\nline two\nline three\n\n\nend",
    "/a$1",
    "xxa b A",
    "1, 2, 3, 4, 5, 6, 7, 8, 9",
    "a\r\nb\u{2028}line c\n\n",
];

#[test]
fn calls_and_paths_become_steps_and_other_code_does_not() {
    for (codes, expected) in [
        (vec!["output"], json!([])),
        (vec!["output.trim();"], json!(["trim"])),
        (vec!["String(output).trim()"], json!(["trim"])),
        (vec!["output?.trim().toLowerCase()"], json!(["trim", "lowercase"])),
        (vec!["JSON.parse(output)"], json!([{"json": ""}])),
        (vec!["JSON.parse(output.trim()).order.items[0]?.name"], json!(["trim", {"json": "order.items.0.name"}])),
        (vec!["JSON.parse(output)['a b']"], json!([{"json": "a b"}])),
        (vec!["JSON.parse(output)", "output.city"], json!([{"json": "city"}])),
        (vec!["JSON.parse(output).a", "output"], json!([{"json": "a"}])),
        (vec!["JSON.parse(output).name.trim()"], json!([{"json": "name"}, "trim"])),
        (
            vec!["JSON.parse(output)", "JSON.parse(output[0].arguments).city"],
            json!([{"json": "0.arguments"}, {"json": "city"}]),
        ),
        (vec!["JSON.parse(output.replaceAll('`', ''))"], json!([{"replace": "`", "with": ""}, {"json": ""}])),
        (vec!["output.city"], json!(null)),
        (vec!["JSON.parse(output).items.length"], json!(null)),
        (vec!["JSON.parse(output)", "output.trim()"], json!(null)),
        (vec!["JSON.parse(output)['a.b']"], json!(null)),
        (vec!["output.trim() + '!'"], json!(null)),
        (vec!["output.trim().length"], json!(null)),
        (vec!["outputs.trim()"], json!(null)),
        (vec!["JSON.parse(output.trim()"], json!(null)),
    ] {
        let codes: Vec<String> = codes.into_iter().map(str::to_owned).collect();
        assert_eq!(json!(steps(&codes).map(|steps| steps.steps)), expected, "{codes:?}");
    }
}

/// What steps make of a text.
fn applied(steps: &[AnswerStep], text: &str) -> String {
    steps.iter().fold(text.to_owned(), |text, step| match step {
        AnswerStep::Trim => text.trim().to_owned(),
        AnswerStep::Uppercase => text.to_uppercase(),
        AnswerStep::Replace { replace, with } => {
            fancy_regex::Regex::new(replace).unwrap().replace_all(&text, with).into_owned()
        }
        other => unreachable!("{other:?}"),
    })
}

#[needs(node)]
#[test]
fn methods_of_texts_do_what_they_do_in_javascript() {
    let script = "const { codes, texts } = JSON.parse(require('fs').readFileSync(0, 'utf8'));\
                  const of = (c) => texts.map((t) => { try { return new Function('output', 'return ' + c)(t) ?? ''; } catch { return ''; } });\
                  console.log(JSON.stringify(codes.map(of)));";
    let mut node =
        Command::new("node").args(["-e", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    node.stdin.take().unwrap().write_all(json!({"codes": CODES, "texts": TEXTS}).to_string().as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    let expected: Value = from_str(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
    for (code, expected) in CODES.iter().zip(expected.as_array().unwrap()) {
        let codes = [(*code).to_owned()];
        let made = steps(&codes).unwrap_or_else(|| panic!("`{code}` has no steps"));
        for (text, expected) in TEXTS.iter().zip(expected.as_array().unwrap()) {
            assert_eq!(json!(applied(&made.steps, text)), *expected, "{code} of {text:?} as {:?}", made.steps);
        }
    }
}

#[test]
fn methods_that_steps_cannot_do_have_none() {
    for code in [
        "output.replace(/x*/g, '-')",
        "output.replace(/(?=a)b*/g, '-')",
        "output.replace(/^/gm, '-')",
        "output.replace(/a/u, '-')",
        "output.replace(/a/g, (match) => match)",
        "output.replace('a', '$`')",
        "output.replace('a', `${x}`)",
        "output.replace('a', other)",
        "output.replace('', 'x')",
        "output.replace(/(?<n>a)/, '$<n>')",
        "output.split('')[0]",
        "output.split(',')",
        "output.split(',')[-1]",
        "output.split(/(,)/)[0]",
        "output.split(',').map((part) => part.trim())[0]",
        "output.slice(-3, 2)",
        "output.slice(0, 100000)",
        "output.slice(n)",
        "output.match(/a/g)[0]",
        "output.match(/a/)[1]",
        "output.match(/a/)",
        "output.match(/a/).index",
        "output.padStart(3)",
    ] {
        assert!(steps(&[code.to_owned()]).is_none(), "{code}");
    }
}

#[test]
fn what_counts_characters_or_ignores_case_is_different() {
    for (code, expected) in [
        ("output.slice(1)", "characters such as emoji count as one, not as two"),
        ("output.replace(/a.?b/, '')", "characters such as emoji count as one, not as two"),
        ("output.replace(/a/i, '')", "`ſ` and the Kelvin sign are `s` and `k` where case is ignored"),
        ("JSON.parse(output).a.trim()", "a value that is not text is not an error, but its JSON"),
    ] {
        assert_eq!(steps(&[code.to_owned()]).unwrap().differences, [expected], "{code}");
    }
}
