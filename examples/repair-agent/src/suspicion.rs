use std::collections::BTreeMap;

use crate::{
    diagnosis::{CompilerError, TestRun},
    lexer::Kind,
    program::Program,
};

/// How likely each line is to blame, from 1 to 3; lines that are not here are beyond suspicion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Suspicion(BTreeMap<usize, u8>);

/// A line where a test panicked, or an error stands.
const THERE: u8 = 3;
/// A function a failing test calls.
const CALLED: u8 = 2;
/// A function one of these calls.
const BEHIND: u8 = 1;

impl Suspicion {
    /// From failing tests: where they panic, what they call, and what that calls.
    pub(crate) fn of_tests(program: &Program, tests: &Program, file: &str, run: &TestRun) -> Self {
        let mut suspicion = Self::default();
        let mut called = Vec::new();
        for failure in &run.failed {
            let name = failure.test.rsplit("::").next().unwrap_or(&failure.test);
            // Tests may stand in a file of their own or in the program.
            for source in [tests, program] {
                for function in reached(source, name) {
                    called.extend(calls(source, source.functions()[function].body.clone(), program));
                }
            }
            if let Some((place, line)) = &failure.place
                && place.replace('\\', "/").ends_with(&format!("/{file}"))
            {
                suspicion.raise(*line, THERE);
            }
        }
        for index in 0..program.functions().len() {
            if called.contains(&index) {
                suspicion.raise_function(program, index, CALLED);
                for behind in calls(program, program.functions()[index].body.clone(), program) {
                    suspicion.raise_function(program, behind, BEHIND);
                }
            }
        }
        suspicion
    }

    /// Where nothing is known.
    pub(crate) fn of_all(program: &Program) -> Self {
        let mut suspicion = Self::default();
        for index in 0..program.functions().len() {
            suspicion.raise_function(program, index, CALLED);
        }
        suspicion
    }

    /// From errors of the compiler.
    pub(crate) fn of_errors(errors: &[CompilerError]) -> Self {
        let mut suspicion = Self::default();
        for error in errors {
            suspicion.raise(error.line, THERE);
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

/// Functions of a source called `name`, and those of the same source they call: tests have functions to help them.
fn reached(source: &Program, name: &str) -> Vec<usize> {
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

/// Functions of `program` whose names stand in a range of tokens of `source`.
fn calls(source: &Program, tokens: std::ops::Range<usize>, program: &Program) -> Vec<usize> {
    let mut found = Vec::new();
    for token in tokens {
        if source.kind(token) != Some(Kind::Word) {
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
    fn what_failing_tests_call_is_suspicious_and_the_rest_is_not() {
        let program = Program::new("fn a() {\n    b();\n}\nfn b() {}\nfn c() {}\n");
        let tests = Program::new("#[test]\nfn fails() { a(); }\n#[test]\nfn passes() { c(); }\n");
        let failure =
            Failure { test: "tests::fails".into(), place: Some(("/x/program.rs".into(), 2)), message: String::new() };
        let run = TestRun { passed: vec!["tests::passes".into()], failed: vec![failure], success: false };
        let suspicion = Suspicion::of_tests(&program, &tests, "program.rs", &run);
        let levels: Vec<Option<u8>> = (1..=5).map(|line| suspicion.at(line)).collect();
        assert_eq!(levels, [Some(2), Some(3), Some(2), Some(1), None]);
    }
}
