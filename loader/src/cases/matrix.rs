//! `matrix` of a case in a list: one case for each combination of its values.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields;
use crate::fields::paths::Scope;
use crate::read::node::{Data, Entry, Node};

/// The key.
pub(crate) const KEY: &str = "matrix";

/// Most cases of one matrix: as many as a suite can have.
const MAX_CASES: usize = 10_000;

/// The cases that an element of a list stands for, without `matrix`: each has the values of one combination among its `vars`, and is named
/// by them.
pub(crate) fn expand(mut case: Node, scope: Scope<'_>, d: &mut Diagnostics) -> Vec<Node> {
    let Some(key) = case.entry(KEY).map(|entry| entry.key_span) else { return vec![case] };
    let matrix = case.take_entry(key).expect("it is there");
    let Some(combinations) = combinations(&matrix, &case, d) else { return vec![case] };
    if !scope.shared.may_copy(case.size() * combinations.len(), matrix.key_span, d) {
        return Vec::new();
    }
    combinations.into_iter().map(|combination| with_values(&case, &matrix, combination)).collect()
}

/// The combinations, the last name varying fastest. `None`: a problem was reported, or there is no matrix.
fn combinations<'n>(matrix: &'n Entry, case: &Node, d: &mut Diagnostics) -> Option<Vec<Vec<(&'n Entry, &'n Node)>>> {
    if matrix.value.is_null() {
        return None;
    }
    let Some(axes) = matrix.value.as_mapping() else {
        return fields::wrong_type(&matrix.value, "`matrix`", "a mapping from names to lists of values", d);
    };
    let mut all = vec![Vec::new()];
    for axis in axes {
        let what = format!("`{}` in `matrix`", axis.key);
        let values = fields::list(&axis.value, &what, d)?;
        if values.is_empty() {
            return fields::reject(
                Code::BlankValue,
                axis.value.span,
                format!("{what} is an empty list"),
                "add a value",
                d,
            );
        }
        if let Some(first) = case.entry("vars").and_then(|vars| vars.value.entry(&axis.key)) {
            d.push(
                Diagnostic::new(Code::ConflictingKeys, format!("`{}` is a name in `vars` and in `matrix`", axis.key))
                    .at(axis.key_span)
                    .related(first.key_span, "in `vars`")
                    .help("rename one"),
            );
            return None;
        }
        if all.len() * values.len() > MAX_CASES {
            let message = format!("`matrix` has more than {MAX_CASES} combinations");
            return fields::reject(Code::LimitExceeded, matrix.key_span, message, "remove values", d);
        }
        let extended = |combination: &Vec<_>| {
            values.iter().map(|value| [combination.as_slice(), &[(axis, value)]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extended).collect();
    }
    Some(all)
}

fn with_values(case: &Node, matrix: &Entry, combination: Vec<(&Entry, &Node)>) -> Node {
    let mut case = case.clone();
    let Data::Mapping(entries) = &mut case.data else { return case };
    let text = |value: &Node| value.as_str().map_or_else(|| value.to_json().to_string(), str::to_owned);
    let names: String = combination.iter().map(|(_, value)| format!("-{}", text(value))).collect();
    // An id of another type is reported as such.
    if let Some(Entry { value: Node { data: Data::String(id), .. }, .. }) =
        entries.iter_mut().find(|entry| entry.key == "id")
    {
        id.push_str(&names);
    }
    let values = combination.into_iter().map(|(axis, value)| Entry { value: value.clone(), ..axis.clone() });
    match entries.iter_mut().find(|entry| entry.key == "vars").map(|vars| &mut vars.value.data) {
        Some(Data::Mapping(vars)) => vars.extend(values),
        Some(Data::Null) | None => {
            entries.retain(|entry| entry.key != "vars");
            let value = Node { span: matrix.value.span, data: Data::Mapping(values.collect()) };
            entries.push(Entry { key: "vars".to_owned(), key_span: matrix.key_span, value });
        }
        // It is reported as what it is.
        Some(_) => {}
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_package::Package;

    fn expanded(case: &str) -> (Vec<String>, Vec<String>) {
        let package = Package::new(&[]);
        let mut d = Diagnostics::new();
        let cases = expand(package.node(case), package.scope(), &mut d);
        (cases.iter().map(|case| case.to_json().to_string()).collect(), package.lines(&d))
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
    fn a_broken_matrix_is_an_error_and_leaves_one_case() {
        for (matrix, problem) in [
            ("[1]", "1:17 E020 `matrix` must be a mapping from names to lists of values, found a list"),
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
        let ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
        let (_, problems) =
            expanded(&format!("{{id: a, matrix: {{a: {ten}, b: {ten}, c: {ten}, d: {ten}, e: [1, 2]}}}}"));
        assert_eq!(problems, ["1:9 E008 `matrix` has more than 10000 combinations"]);
    }
}
