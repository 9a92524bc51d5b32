//! Where a generated suite gets its decisions from.

use std::collections::BTreeMap;

/// A supply of decisions. Drawn from a list of numbers, so that proptest shrinks a suite by shrinking the list: a number
/// that is missing or 0 is the simplest choice.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    numbers: Vec<u32>,
    next: usize,
    /// Everything optional is there, and every alternative is taken in turn, starting at this one.
    full: Option<usize>,
    turns: BTreeMap<&'static str, usize>,
}

impl Choices {
    pub(crate) fn new(numbers: Vec<u32>) -> Self {
        Self { numbers, next: 0, full: None, turns: BTreeMap::new() }
    }

    /// The choices of a suite that has everything; `start` is the first alternative of each decision.
    pub(crate) fn full(start: usize) -> Self {
        Self { full: Some(start), ..Self::new(Vec::new()) }
    }

    /// One of `count` alternatives of the decision `what`.
    pub(crate) fn pick(&mut self, what: &'static str, count: usize) -> usize {
        if let Some(start) = self.full {
            let turn = self.turns.entry(what).or_insert(start);
            *turn += 1;
            return (*turn - 1) % count;
        }
        let number = self.numbers.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        number as usize % count
    }

    /// One of several values of the decision `what`.
    pub(crate) fn one<T: Copy>(&mut self, what: &'static str, values: &[T]) -> T {
        values[self.pick(what, values.len())]
    }

    /// Whether something optional is there.
    pub(crate) fn has(&mut self) -> bool {
        self.full.is_some() || self.pick("optional", 2) == 1
    }

    /// A decision of layout only: as random in a full suite as in any other, and rarely taken.
    pub(crate) fn rarely(&mut self, what: &'static str) -> bool {
        self.pick(what, 5) == 4
    }
}
