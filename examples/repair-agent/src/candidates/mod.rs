//! Changes that may repair a program.

mod arithmetic;
mod empty_guards;
mod error_propagation;
mod match_arms;
mod method_names;
mod operators;
mod slices;

use std::ops::Range;

use crate::diagnosis::{CompilerError, TestRun};
use crate::program::{Edit, Program};
use crate::suspicion::Suspicion;

/// A change and its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) edits: Vec<Edit>,
    /// Description, such as `` `<` becomes `<=` ``.
    pub(crate) what: String,
    /// Line of the first edit, from 1.
    pub(crate) line: usize,
    /// The larger the change, the higher the cost; the lowest is tried first.
    cost: u8,
}

/// Collects candidates at suspicious lines.
pub(crate) struct Collector<'a> {
    pub(crate) program: &'a Program,
    suspicion: &'a Suspicion,
    candidates: Vec<Candidate>,
}

/// Additional cost per level by which a line is less suspicious.
const SUSPICION_COST: u8 = 2;

impl<'a> Collector<'a> {
    fn new(program: &'a Program, suspicion: &'a Suspicion) -> Self {
        Self { program, suspicion, candidates: Vec::new() }
    }

    /// Indices of tokens in suspicious lines.
    fn suspicious(&self) -> Vec<usize> {
        (0..self.program.len()).filter(|index| self.suspicion.at(self.program.line(*index)).is_some()).collect()
    }

    /// Adds a change; it is dropped if the line of its first edit is not suspicious.
    fn add(&mut self, edits: Vec<Edit>, what: impl Into<String>, cost: u8) {
        let Some(first) = edits.iter().map(|edit| edit.range.start).min() else { return };
        let line = self.program.line_at(first);
        if let Some(suspicion) = self.suspicion.at(line) {
            self.candidates.push(Candidate {
                edits,
                what: what.into(),
                line,
                cost: cost + SUSPICION_COST * (3 - suspicion),
            });
        }
    }

    /// Adds a change for an error at `line`, whatever the line of the change itself.
    fn add_anywhere(&mut self, edit: Edit, what: String, line: usize, cost: u8) {
        self.candidates.push(Candidate { edits: vec![edit], what, line, cost });
    }

    /// Replaces a range of tokens.
    fn replace(&mut self, tokens: Range<usize>, text: impl Into<String>, cost: u8) {
        let range = self.program.range(tokens.start).start..self.program.range(tokens.end - 1).end;
        let text = text.into();
        let what = format!("`{}` becomes `{text}`", shown(self.program.between(tokens)));
        self.add(vec![Edit { range, text }], what, cost);
    }

    /// The candidates, most likely first, without duplicates.
    fn finish(self) -> Vec<Candidate> {
        let Self { program, mut candidates, .. } = self;
        candidates.sort_by_key(|candidate| candidate.cost);
        let mut seen = Vec::new();
        candidates.retain(|candidate| match program.with(&candidate.edits) {
            Some(text) if text != program.text() && !seen.contains(&text) => {
                seen.push(text);
                true
            }
            _ => false,
        });
        candidates
    }
}

/// Source on a single line, for descriptions.
fn shown(source: &str) -> String {
    source.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Candidates for a program whose tests fail.
pub(crate) fn for_failures(program: &Program, suspicion: &Suspicion, run: &TestRun) -> Vec<Candidate> {
    let mut collector = Collector::new(program, suspicion);
    let says =
        |words: &[&str]| run.failed.iter().any(|failure| words.iter().any(|word| failure.message.contains(word)));
    if says(&["with overflow"]) {
        arithmetic::collect(&mut collector);
    }
    if says(&["char boundary", "out of bounds of", "byte index"]) {
        slices::collect(&mut collector);
    }
    if says(&["called `Result::unwrap()`", "called `Option::unwrap()`"]) {
        error_propagation::collect(&mut collector);
    }
    if says(&["divide by zero", "divisor of zero", "len is 0", "subtract with overflow", "NaN", "`Option::unwrap()`"]) {
        empty_guards::collect(&mut collector);
    }
    operators::collect(&mut collector);
    method_names::collect(&mut collector);
    collector.finish()
}

/// Candidates for a program that does not compile.
pub(crate) fn for_errors(program: &Program, tests: &Program, errors: &[CompilerError]) -> Vec<Candidate> {
    let suspicion = Suspicion::of_errors(errors);
    let mut collector = Collector::new(program, &suspicion);
    // A suggestion may be far from its error, in a line that is not suspicious.
    let mut suggested = Vec::new();
    for error in errors {
        for suggestion in &error.suggestions {
            let edits: Vec<Edit> = suggestion
                .replacements
                .iter()
                .map(|(range, text)| Edit { range: range.clone(), text: text.clone() })
                .collect();
            let Some(first) = edits.iter().map(|edit| edit.range.start).min() else { continue };
            suggested.push(Candidate {
                edits,
                what: format!("the compiler's advice: {}", suggestion.message),
                line: program.line_at(first),
                cost: u8::from(!suggestion.is_machine_applicable),
            });
        }
    }
    collector.candidates.append(&mut suggested);
    match_arms::collect(&mut collector, tests, errors);
    collector.finish()
}
