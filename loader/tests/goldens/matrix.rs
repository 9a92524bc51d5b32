//! Cases that a `matrix` makes.

use super::{Package, shows};

#[test]
fn a_matrix_makes_a_case_of_each_combination() {
    let case = "matrix: {lang: [en, de], days: [1, 14]}\n  input: Refund after {{ days }} days, in {{ lang }}\n  criteria: Refunds\n";
    let eval = format!("tests:\n- id: refund\n  {case}- file://more.yaml\n");
    let more = "- {id: greet, matrix: {name: [Ada]}, input: 'I am {{ name }}', criteria: Greets}\n";
    let loaded = Package::new(&[("suite/EVAL.yaml", eval.as_str()), ("suite/more.yaml", more)]).load();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let suite = loaded.suite.unwrap();
    let tests: Vec<&str> = suite.cases.iter().map(|case| case.function.as_str()).collect();
    assert_eq!(tests, ["refund_en_1", "refund_en_14", "refund_de_1", "refund_de_14", "greet_Ada"]);
    let inputs = suite.cases.iter().map(|case| format!("{:?}", case.case.input)).collect::<String>();
    assert!(inputs.contains("Refund after 14 days, in de") && inputs.contains("I am Ada"), "{inputs}");

    let own = case.replace("\n  ", "\n");
    let named = format!("{own}id: shop refund\n");
    let loaded = Package::new(&[("suite/refund/case.yaml", &own), ("suite/b/case.yml", &named)]).load();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let suite = loaded.suite.unwrap();
    let cases = suite.cases.iter().map(|case| (case.case.id.as_str(), case.function.as_str(), case.source.as_str()));
    let expected =
        ["en-1", "en-14", "de-1", "de-14"].map(|values| (format!("shop refund-{values}"), format!("b-{values}")));
    let expected = expected.iter().map(|(id, name)| (id.clone(), name.replace('-', "_"), "b/case.yml"));
    let of_refund = ["en-1", "en-14", "de-1", "de-14"].map(|values| format!("refund-{values}"));
    let expected = expected.chain(of_refund.map(|id| (id.clone(), id.replace('-', "_"), "refund/case.yaml")));
    let expected: Vec<_> = expected.collect();
    let expected = expected.iter().map(|(id, function, source)| (id.as_str(), function.as_str(), *source));
    assert_eq!(cases.collect::<Vec<_>>(), expected.collect::<Vec<_>>());

    let broken = "tests:\n- {id: a, matrix: {n: [1], m: {}}, input: Hello, criteria: Greets}\n\
                  - {id: b, matrix: {n: [1, 1]}, input: Hello, criteria: Greets}\n\
                  - {id: c, vars: {n: 1}, matrix: {n: [1]}, input: Hello, criteria: Greets}\n";
    shows("matrix", &Package::new(&[("suite/EVAL.yaml", broken)]).report());
    let twice = "matrix: {n: [1, 1], m: ['a b', a-b]}\ninput: Hello\ncriteria: Greets\n";
    let collides = ("suite/refund-1-a_b/case.yaml", "input: Hello\ncriteria: Greets\n");
    let broken = "matrix: {n: [1, 2]}\ninputs: Hello {{ m }}\ncriteria: Greets\n";
    let package = Package::new(&[("suite/refund/case.yaml", twice), collides, ("suite/broken/case.yaml", broken)]);
    shows("matrix-of-a-directory", &package.report());
}
