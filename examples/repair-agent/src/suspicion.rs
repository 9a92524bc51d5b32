//! How likely each line is to be the cause of a failure.

use std::collections::BTreeMap;

use crate::diagnosis::{CompilerError, TestRun};
use crate::lexer::TokenKind;
use crate::program::Program;

/// The suspicion level of each line, from 1 to 3; other lines are not suspicious.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Suspicion(BTreeMap<usize, u8>);

/// A line with a panic or a compiler error.
const FAILURE_LINE: u8 = 3;
/// A function that a failing test calls.
const CALLED_BY_TEST: u8 = 2;
/// A function that one of these calls.
const CALLED_INDIRECTLY: u8 = 1;

impl Suspicion {
    /// For failing tests: the lines of their panics, the functions they call, and the functions those call.
    pub(crate) fn of_tests(program: &Program, tests: &Program, file: &str, run: &TestRun) -> Self {
        let mut suspicion = Self::default();
        let mut called = Vec::new();
        for failure in &run.failed {
            let name = failure.test.rsplit("::").next().unwrap_or(&failure.test);
            // Tests may be in their own file or in the program.
            for source in [tests, program] {
                for function in reachable(source, name) {
                    called.extend(calls(source, source.functions()[function].body.clone(), program));
                }
            }
            if let Some((path, line)) = &failure.location
                && path.replace('\\', "/").ends_with(&format!("/{file}"))
            {
                suspicion.raise(*line, FAILURE_LINE);
            }
        }
        for index in 0..program.functions().len() {
            if called.contains(&index) {
                suspicion.raise_function(program, index, CALLED_BY_TEST);
                for callee in calls(program, program.functions()[index].body.clone(), program) {
                    suspicion.raise_function(program, callee, CALLED_INDIRECTLY);
                }
            }
        }
        suspicion
    }

    /// For unknown failures: all functions.
    pub(crate) fn of_all(program: &Program) -> Self {
        let mut suspicion = Self::default();
        for index in 0..program.functions().len() {
            suspicion.raise_function(program, index, CALLED_BY_TEST);
        }
        suspicion
    }

    /// For compiler errors: their lines.
    pub(crate) fn of_errors(errors: &[CompilerError]) -> Self {
        let mut suspicion = Self::default();
        for error in errors {
            suspicion.raise(error.line, FAILURE_LINE);
        }
        suspicion
    }

    pub(crate) fn at(&self, line: usize) -> Option<u8> {
        self.0.get(&line).copied()
    }

    fn raise(&mut self, line: usize, to: u8) {
        let level = self.0.entry(line).or_default();
        *level = (*level).max(to);
    }

    fn raise_function(&mut self, program: &Program, index: usize, to: u8) {
        let function = &program.functions()[index];
        let (first, last) = (program.line(function.signature.start), program.line(function.body.end - 1));
        for line in first..=last {
            self.raise(line, to);
        }
    }
}

/// Functions named `name`, and those of the same source that they call, since tests may have helper functions.
fn reachable(source: &Program, name: &str) -> Vec<usize> {
    let mut reached: Vec<usize> =
        (0..source.functions().len()).filter(|index| source.functions()[*index].name == name).collect();
    let mut next = 0;
    while let Some(function) = reached.get(next) {
        for called in calls(source, source.functions()[*function].body.clone(), source) {
            if !reached.contains(&called) {
                reached.push(called);
            }
        }
        next += 1;
    }
    reached
}

/// Functions of `program` whose names occur in a token range of `source`.
fn calls(source: &Program, tokens: std::ops::Range<usize>, program: &Program) -> Vec<usize> {
    let mut found = Vec::new();
    for token in tokens {
        if source.kind(token) != Some(TokenKind::Word) {
            continue;
        }
        let name = source.token(token);
        found.extend(
            program
                .functions()
                .iter()
                .enumerate()
                .filter(|(_, function)| function.name == name)
                .map(|(index, _)| index),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::Failure;

    #[test]
    fn only_functions_that_failing_tests_reach_are_suspicious() {
        let program = Program::new("fn a() {\n    b();\n}\nfn b() {}\nfn c() {}\n");
        let tests = Program::new("#[test]\nfn fails() { a(); }\n#[test]\nfn passes() { c(); }\n");
        let failure = Failure {
            test: "tests::fails".into(),
            location: Some(("/x/program.rs".into(), 2)),
            message: String::new(),
        };
        let run = TestRun { passed: vec!["tests::passes".into()], failed: vec![failure], success: false };
        let suspicion = Suspicion::of_tests(&program, &tests, "program.rs", &run);
        let levels: Vec<Option<u8>> = (1..=5).map(|line| suspicion.at(line)).collect();
        assert_eq!(levels, [Some(2), Some(3), Some(2), Some(1), None]);
    }
}
