//! One `#[test]` per case, in one module per folder, one that measures judges, and one that grades examples.

use evalsuite_loader::LoadedSuite;

/// Adds the test functions, each a call with an index: nothing is compiled per case but that call.
pub(crate) fn push(out: &mut String, suite: &LoadedSuite) {
    let tests = suite.tests.iter().enumerate();
    let mut tests: Vec<(&[String], &String, usize)> = tests
        .filter_map(|(index, test)| test.path.split_last().map(|(function, folders)| (folders, function, index)))
        .collect();
    // Stable: within a folder tests stay in the order of the suite.
    tests.sort_by(|a, b| a.0.cmp(b.0));
    let mut open: &[String] = &[];
    for (folders, function, index) in tests {
        if folders != open {
            open_modules(out, open, folders);
            open = folders;
        }
        let root = "super::".repeat(folders.len());
        out.push_str(&format!("#[test]\nfn {function}() {{\n{root}__run({index})\n}}\n"));
    }
    open_modules(out, open, &[]);
    if suite.calibration.is_some() {
        out.push_str("#[test]\nfn judge_calibration() {\n__evalsuite::__private::judge_calibration(evals)\n}\n");
    }
    if suite.cases.iter().any(|loaded| loaded.case.has_examples()) {
        out.push_str("#[test]\nfn grader_examples() {\n__evalsuite::__private::grader_examples(evals)\n}\n");
    }
}

/// Closes modules of `open` and opens those of `wanted` until the latter are open.
fn open_modules(out: &mut String, open: &[String], wanted: &[String]) {
    let common = open.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    out.push_str(&"}\n".repeat(open.len() - common));
    for (depth, name) in wanted.iter().enumerate().skip(common) {
        if depth == 0 {
            out.push_str("#[cfg(test)]\n");
        }
        out.push_str(&format!("mod {name} {{\n"));
    }
}
