//! One `#[test]` per case, in one module per folder, one that measures judges, and one that grades examples.

use evalsuite_loader::LoadedSuite;

use crate::rust_literals::push_number;

/// Adds the test functions, each a call with an index: nothing is compiled per case but that call.
pub(crate) fn push(out: &mut String, suite: &LoadedSuite) {
    let mut tests: Vec<(&[String], &String, usize)> = suite
        .tests
        .iter()
        .enumerate()
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
        out.push_str("#[test]\nfn ");
        out.push_str(function);
        out.push_str("() {\n");
        for _ in folders {
            out.push_str("super::");
        }
        out.push_str("__run(");
        push_number(out, index);
        out.push_str(")\n}\n");
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
    for _ in common..open.len() {
        out.push_str("}\n");
    }
    for (depth, name) in wanted.iter().enumerate().skip(common) {
        if depth == 0 {
            out.push_str("#[cfg(test)]\n");
        }
        out.push_str("mod ");
        out.push_str(name);
        out.push_str(" {\n");
    }
}
