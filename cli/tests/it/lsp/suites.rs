//! Packages whose suites the tests open.

use crate::package::Package;

pub(crate) const EVAL: &str = "name: shop\nexecution: { timeout_seconds: 60 }\nassertions:\n  - include: politeness\n";

pub(crate) const REFUND: &str =
    "id: refund\ninput: I want my money back.\nassertions:\n  - { type: contains, value: refund }\n  - type: polite\n";

pub(crate) const REPLY: &str = "id: reply\ninput:\n  - role: user\n    content:\n      - { type: text, value: Read it. }\n      - { type: file, value: ./letter.txt }\ndepends_on: [refund]\ncriteria: Answers.\nassertions:\n  - type: llm-grader\n";

const TESTS: &str = "use evalsuite::{Evidence, Trial, include_eval_suite};\n\ninclude_eval_suite!(\"suites/shop\", agent = agent, graders = [polite]);\n\nasync fn agent(_: &mut Trial<'_>) -> Result<String, String> {\n    Ok(String::new())\n}\n\nfn polite(_: &Evidence<'_>) -> bool {\n    true\n}\n";

/// A suite of the cases layout, which a test file includes.
pub(crate) fn cases() -> Package {
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", EVAL),
        ("suites/shop/cases/refund/case.yaml", REFUND),
        ("suites/shop/cases/reply/case.yaml", REPLY),
        ("suites/shop/cases/reply/letter.txt", "Dear shop.\n"),
        ("suites/shop/.evalsuite/templates/politeness.yaml", "assertions:\n  - { type: icontains, value: please }\n"),
        ("tests/shop.rs", TESTS),
    ]);
    package.write("src/lib.rs", "");
    package
}

pub(crate) const TASK: &str = "{\n  \"id\": \"small\",\n  \"description\": \"Says hello.\",\n  \"graders\": [{ \"name\": \"contains\", \"config\": { \"value\": \"hello\" } }]\n}\n";

/// A suite of the tasks layout, which nothing includes.
pub(crate) fn tasks() -> Package {
    Package::new(&[("suites/card_agent/tasks/small.json", TASK)])
}
