//! `matrix` of a case: one case for each combination of its values, or for each row of a file.

use std::mem;

use evalsuite_schema::diagnostics::counted;

use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields::paths::{PathKind, Scope};
use crate::read::node::{Data, Entry, Node};
use crate::{fields, read};

/// The key.
pub(crate) const KEY: &str = "matrix";

/// Most cases of one matrix: as many as a suite can have.
const MAX_CASES: usize = 10_000;

/// One of the cases that a written case becomes.
pub(crate) struct Expanded {
    /// The case without `matrix`, with the values of one combination among its `vars`.
    pub(crate) node: Node,
    /// What its values add to its id and to the name of its test; empty without a matrix.
    pub(crate) suffix: String,
}

/// The cases that a written case becomes, each named by its values. Where these cannot be read, it is the case as it is written, unless it
/// refers to them: without their values, that would be another mistake. `directory`: the name of its directory, which is its id unless it has
/// one.
pub(crate) fn expand(mut case: Node, directory: Option<&str>, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Expanded> {
    let alone = |node| vec![Expanded { node, suffix: String::new() }];
    let Some(key) = case.entry(KEY).map(|entry| entry.key_span) else { return alone(case) };
    let matrix = case.take_entry(key).expect("it is there");
    let found = match &matrix.value.data {
        Data::Null => return alone(case),
        Data::String(_) => rows(&matrix.value, scope, d),
        _ => combinations(&matrix, d),
    };
    let Some(combinations) = found.filter(|all| all.iter().all(|values| are_new(values, &case, d))) else {
        return if case.to_json().to_string().contains("{{") { Vec::new() } else { alone(case) };
    };
    if !scope.shared.may_copy(case.size() * combinations.len(), matrix.key_span, d) {
        return Vec::new();
    }
    combinations.into_iter().map(|combination| with_values(&case, directory, &matrix, combination)).collect()
}

/// Values of `vars`.
type Combination = Vec<Entry>;

/// The combinations, the last name varying fastest. `None`: a problem was reported.
fn combinations(matrix: &Entry, d: &mut Diagnostics) -> Option<Vec<Combination>> {
    let Some(axes) = matrix.value.as_mapping() else {
        let expected = "a mapping from names to lists of values, or the path of a `.csv` or `.jsonl` file";
        return fields::wrong_type(&matrix.value, "`matrix`", expected, d);
    };
    let mut all = vec![Vec::new()];
    for axis in axes {
        let what = format!("`{}` in `matrix`", axis.key);
        let values = fields::list(&axis.value, &what, d)?;
        if values.is_empty() {
            let message = format!("{what} is an empty list");
            return fields::reject(Code::BlankValue, axis.value.span, message, "add a value", d);
        }
        if all.len() * values.len() > MAX_CASES {
            let message = format!("`matrix` has more than {MAX_CASES} combinations");
            return fields::reject(Code::LimitExceeded, matrix.key_span, message, "remove values", d);
        }
        let extended = |combination: &Combination| {
            let with =
                |value: &Node| [combination.as_slice(), &[Entry { value: value.clone(), ..axis.clone() }]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extended).collect();
    }
    Some(all)
}

/// The rows of the file that `node` names: objects of a JSONL file, or lines of a CSV file with a header. `None`: a problem was reported.
fn rows(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Vec<Combination>> {
    let path = fields::literal_text(node, "`matrix`", d)?;
    let found = scope.find_text(&path, node, "`matrix`", (Code::MissingPath, PathKind::File), d)?;
    let ending = found.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let invalid = |message: String, help: &str, d: &mut Diagnostics| {
        fields::reject(Code::InvalidExternalFile, node.span, format!("`{path}`: {message}"), help, d)
    };
    if !matches!(ending.as_str(), "csv" | "jsonl") {
        return invalid("a matrix is read from `.csv` and `.jsonl` files".to_owned(), "name such a file", d);
    }
    let (file, text) = read::read_text(&found.path, scope.files, d)?;
    let mut all: Vec<Combination> = Vec::new();
    if ending == "jsonl" {
        let before = d.len();
        for row in read::parse_jsonl(file, &text, d) {
            match row.data {
                Data::Mapping(entries) => all.push(entries),
                _ => return fields::wrong_type(&row, "a line of a matrix", "an object", d),
            }
        }
        if d.len() > before {
            return None;
        }
    } else {
        let lines = match csv_rows(&text) {
            Ok(lines) => lines,
            Err(CsvError { line, message, help }) => return invalid(format!("line {line}: {message}"), help, d),
        };
        let mut lines = lines.into_iter();
        // Blanks after commas are for the reader.
        let header = lines.next().map(|row| row.values).unwrap_or_default();
        let header: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        if let Some((_, twice)) = header.iter().enumerate().find(|(index, name)| header[..*index].contains(name)) {
            return invalid(format!("two columns are named `{twice}`"), "rename one", d);
        }
        for CsvRow { line, values } in lines {
            if values.len() != header.len() {
                let values = counted(values.len(), "value");
                let message = format!("line {line} has {values}, and the header has {}", header.len());
                return invalid(message, "write a value for each column, and one with a comma in `\"`", d);
            }
            let value = |text| Node { span: node.span, data: Data::String(text) };
            let pairs = header.iter().cloned().zip(values);
            all.push(pairs.map(|(key, text)| Entry { key, key_span: node.span, value: value(text) }).collect());
        }
    }
    match all.len() {
        0 => invalid("no values".to_owned(), "add a row", d),
        count if count > MAX_CASES => invalid(format!("more than {MAX_CASES} rows"), "remove rows", d),
        _ => Some(all),
    }
}

/// A row of comma-separated values.
struct CsvRow {
    /// The line on which it begins, from 1.
    line: usize,
    values: Vec<String>,
}

/// Why a text has no such rows.
struct CsvError {
    line: usize,
    message: &'static str,
    help: &'static str,
}

/// How far a value of a row was read.
#[derive(Clone, Copy, PartialEq)]
enum CsvValue {
    /// Only blanks, or text without quotes around it.
    Plain,
    /// Within quotes, which began on this line.
    Quoted(usize),
    /// Its closing quote was read.
    Closed,
}

/// The rows of comma-separated values, quoted as in RFC 4180; a quote within a value without quotes around it is a part of it. Blank lines,
/// and those with commas alone, are left out. Every user would compile the crate `csv`.
fn csv_rows(text: &str) -> Result<Vec<CsvRow>, CsvError> {
    let (mut rows, mut values, mut field, mut state) = (Vec::new(), Vec::new(), String::new(), CsvValue::Plain);
    let (mut line, mut first_line, mut is_blank) = (1, 1, true);
    let mut letters = text.chars().chain(['\n']).peekable();
    while let Some(letter) = letters.next() {
        match (letter, state) {
            ('"', CsvValue::Quoted(_)) if letters.peek() == Some(&'"') => field.extend(letters.next()),
            ('"', CsvValue::Quoted(_)) => state = CsvValue::Closed,
            (_, CsvValue::Quoted(_)) => field.push(letter),
            ('\r', _) if letters.peek() == Some(&'\n') => {}
            ('"', CsvValue::Plain) if field.trim().is_empty() => (state, is_blank) = (CsvValue::Quoted(line), false),
            (',' | '\n' | '\r', _) => {
                is_blank &= field.is_empty();
                values.push(mem::take(&mut field));
                state = CsvValue::Plain;
                if letter != ',' {
                    let values = mem::take(&mut values);
                    if !is_blank {
                        rows.push(CsvRow { line: first_line, values });
                    }
                    (first_line, is_blank) = (line + 1, true);
                }
            }
            (_, CsvValue::Closed) if !letter.is_whitespace() => {
                let (message, help) = ("there is text after a closing quote", "write `\"\"` for a quote in a value");
                return Err(CsvError { line, message, help });
            }
            _ => field.push(letter),
        }
        line += usize::from(letter == '\n' || letter == '\r' && letters.peek() != Some(&'\n'));
    }
    match state {
        CsvValue::Quoted(line) => {
            let (message, help) =
                ("a quoted value has no closing quote", "add `\"` after it, and write `\"\"` for a quote");
            Err(CsvError { line, message, help })
        }
        _ => Ok(rows),
    }
}

/// Whether the names of the values are not in `vars`, too.
fn are_new(values: &Combination, case: &Node, d: &mut Diagnostics) -> bool {
    let Some(vars) = case.entry("vars") else { return true };
    let Some((first, second)) = values.iter().find_map(|value| Some((vars.value.entry(&value.key)?, value))) else {
        return true;
    };
    let message = format!("`{}` is a name in `vars` and in `matrix`", second.key);
    let place = (second.key_span, message);
    report_both(Code::ConflictingKeys, place, (first.key_span, "in `vars`"), "rename one", d);
    false
}

fn with_values(case: &Node, directory: Option<&str>, matrix: &Entry, values: Combination) -> Expanded {
    let mut node = case.clone();
    let text = |value: &Node| {
        value.as_str().map_or_else(|| value.to_json().to_string(), |text| text.replace(char::is_control, " "))
    };
    let suffix: String = values.iter().map(|entry| format!("-{}", text(&entry.value))).collect();
    let Data::Mapping(entries) = &mut node.data else { return Expanded { node, suffix } };
    match (entries.iter_mut().find(|entry| entry.key == "id" && !entry.value.is_null()), directory) {
        (Some(Entry { value: Node { data: Data::String(id), .. }, .. }), _) => id.push_str(&suffix),
        (None, Some(name)) => {
            let value = Node { span: case.span, data: Data::String(format!("{name}{suffix}")) };
            entries.retain(|entry| entry.key != "id");
            entries.push(Entry { key: "id".to_owned(), key_span: case.span, value });
        }
        // An id of another type, or none, is reported as such.
        _ => {}
    }
    match entries.iter_mut().find(|entry| entry.key == "vars").map(|vars| &mut vars.value.data) {
        Some(Data::Mapping(vars)) => vars.extend(values),
        Some(Data::Null) | None => {
            entries.retain(|entry| entry.key != "vars");
            let value = Node { span: matrix.value.span, data: Data::Mapping(values) };
            entries.push(Entry { key: "vars".to_owned(), key_span: matrix.key_span, value });
        }
        // It is reported as what it is.
        Some(_) => {}
    }
    Expanded { node, suffix }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Package;

    fn expanded(case: &str) -> (Vec<String>, Vec<String>) {
        expanded_in(&Package::new(&[]), None, case)
    }

    fn expanded_in(package: &Package, directory: Option<&str>, case: &str) -> (Vec<String>, Vec<String>) {
        let mut d = Diagnostics::new();
        let cases = expand(package.node(case), directory, package.scope(), &mut d);
        (cases.iter().map(|case| case.node.to_json().to_string()).collect(), package.lines(&d))
    }

    #[test]
    fn there_is_a_case_for_every_combination() {
        let (cases, problems) =
            expanded("{id: a, input: '{{ lang }}', vars: {x: 1}, matrix: {lang: [en, de], size: [2, {s: 3}]}}");
        assert_eq!(problems, [""; 0]);
        let case = |id: &str, vars: &str| {
            format!("{{\"id\":\"a-{id}\",\"input\":\"{{{{ lang }}}}\",\"vars\":{{\"x\":1,{vars}}}}}")
        };
        let expected = [
            case("en-2", "\"lang\":\"en\",\"size\":2"),
            case("en-{\\\"s\\\":3}", "\"lang\":\"en\",\"size\":{\"s\":3}"),
            case("de-2", "\"lang\":\"de\",\"size\":2"),
            case("de-{\\\"s\\\":3}", "\"lang\":\"de\",\"size\":{\"s\":3}"),
        ];
        assert_eq!(cases, expected);
    }

    #[test]
    fn a_case_without_vars_gets_them_and_one_without_a_matrix_stays() {
        assert_eq!(expanded("{id: a, matrix: {n: [1]}}").0, ["{\"id\":\"a-1\",\"vars\":{\"n\":1}}"]);
        assert_eq!(expanded("{id: a, input: x}").0, ["{\"id\":\"a\",\"input\":\"x\"}"]);
        assert_eq!(expanded("{id: a, matrix: null}").0, ["{\"id\":\"a\"}"]);
    }

    #[test]
    fn a_directory_names_its_cases_unless_they_have_an_id() {
        let in_directory = |case: &str| expanded_in(&Package::new(&[]), Some("refund"), case).0;
        assert_eq!(in_directory("{matrix: {n: [1]}}"), ["{\"id\":\"refund-1\",\"vars\":{\"n\":1}}"]);
        assert_eq!(in_directory("{id: null, matrix: {n: [1]}}"), ["{\"id\":\"refund-1\",\"vars\":{\"n\":1}}"]);
        assert_eq!(in_directory("{id: a, matrix: {n: [1]}}"), ["{\"id\":\"a-1\",\"vars\":{\"n\":1}}"]);
        assert_eq!(in_directory("{input: x}"), ["{\"input\":\"x\"}"]);
    }

    #[test]
    fn there_is_a_case_for_every_row_of_a_file() {
        let csv = "order,text\r\n1182,\"broken, \"\"twice\"\"\"\r\n\r\n1183,\"two\nlines\"\n";
        let files = [
            ("suite/a.csv", csv),
            ("suite/b.jsonl", "{\"n\": 1}\n\n{\"n\": [2]}\n"),
            ("suite/c.csv", "a,b\n\"1\n\",2\n1\n"),
            ("suite/d.csv", "a\n"),
            ("suite/f.csv", "a,b\n1,\"2\n3,4\n"),
            ("suite/g.csv", "a, b,b\n1,2,3\n"),
            ("suite/h.csv", "\u{feff}order, Order ID\n1,2\n"),
            ("suite/i.csv", "q,a\nsay \"hi\",5\" disk\n,\n\"\",\"\"\n \"a, b\" ,c\rd,e"),
            ("suite/j.csv", "q\n\"say \"hi\" to\"\n"),
        ];
        let package = Package::new(&files);
        let expanded = |case: &str| expanded_in(&package, None, case);
        let (cases, problems) = expanded("{id: a, matrix: ./a.csv}");
        assert_eq!(problems, [""; 0]);
        assert_eq!(
            cases,
            [
                "{\"id\":\"a-1182-broken, \\\"twice\\\"\",\"vars\":{\"order\":\"1182\",\"text\":\"broken, \\\"twice\\\"\"}}",
                "{\"id\":\"a-1183-two lines\",\"vars\":{\"order\":\"1183\",\"text\":\"two\\nlines\"}}",
            ]
        );
        let (cases, _) = expanded("{id: a, matrix: b.jsonl}");
        assert_eq!(cases, ["{\"id\":\"a-1\",\"vars\":{\"n\":1}}", "{\"id\":\"a-[2]\",\"vars\":{\"n\":[2]}}"]);
        let problem = |file: &str| expanded(&format!("{{id: a, matrix: {file}}}")).1.remove(0);
        assert_eq!(problem("c.csv"), "1:17 E043 `c.csv`: line 4 has 1 value, and the header has 2");
        assert_eq!(problem("d.csv"), "1:17 E043 `d.csv`: no values");
        assert_eq!(problem("f.csv"), "1:17 E043 `f.csv`: line 2: a quoted value has no closing quote");
        assert_eq!(problem("g.csv"), "1:17 E043 `g.csv`: two columns are named `b`");
        assert_eq!(
            expanded("{id: a, matrix: h.csv}").0,
            ["{\"id\":\"a-1-2\",\"vars\":{\"order\":\"1\",\"Order ID\":\"2\"}}"]
        );
        let (cases, problems) = expanded("{matrix: i.csv}");
        assert_eq!(problems, [""; 0]);
        let expected = [r#"say \"hi\"","a":"5\" disk"#, r#"","a":""#, r#" a, b ","a":"c"#, r#"d","a":"e"#];
        assert_eq!(cases, expected.map(|values| format!("{{\"vars\":{{\"q\":\"{values}\"}}}}")));
        assert_eq!(problem("j.csv"), "1:17 E043 `j.csv`: line 2: there is text after a closing quote");
        assert!(problem("e.csv").contains("E018"), "{}", problem("e.csv"));
    }

    #[test]
    fn a_broken_matrix_is_an_error_and_leaves_one_case() {
        for (matrix, problem) in [
            (
                "[1]",
                "1:17 E020 `matrix` must be a mapping from names to lists of values, or the path of a `.csv` or `.jsonl` file, found a list",
            ),
            ("{n: 1}", "1:21 E020 `n` in `matrix` must be a list, found a number"),
            ("{n: []}", "1:21 E022 `n` in `matrix` is an empty list"),
        ] {
            let (cases, problems) = expanded(&format!("{{id: a, matrix: {matrix}}}"));
            assert_eq!((cases, problems), (vec!["{\"id\":\"a\"}".to_owned()], vec![problem.to_owned()]));
        }
        let (cases, problems) = expanded("{id: a, vars: {n: 1}, matrix: {n: [1]}}");
        assert_eq!(
            (cases.len(), problems.as_slice()),
            (1, ["1:32 E025 `n` is a name in `vars` and in `matrix`".to_owned()].as_slice())
        );
        for matrix in ["gone.csv", "{n: 1}", "{m: []}"] {
            let (cases, problems) = expanded(&format!("{{id: a, matrix: {matrix}, input: 'Hello {{{{ m }}}}'}}"));
            assert_eq!((cases.len(), problems.len()), (0, 1), "{matrix}: {problems:?}");
        }
        let ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
        let (_, problems) =
            expanded(&format!("{{id: a, matrix: {{a: {ten}, b: {ten}, c: {ten}, d: {ten}, e: [1, 2]}}}}"));
        assert_eq!(problems, ["1:9 E008 `matrix` has more than 10000 combinations"]);
    }
}
