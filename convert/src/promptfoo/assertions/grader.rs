//! Graders of assertions, and how they are written into a case; assertions about time and cost.

use std::collections::BTreeSet;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::grader::{AnswerStep, GUARDS};
use evalsuite_schema::json::{Value as Json, json};

use super::Check;
use crate::yaml_writer::number;

/// A grader without the settings that all graders have.
#[derive(Debug, Clone)]
pub(in crate::promptfoo) struct Grader {
    /// `type` and the settings of the type.
    pub(in crate::promptfoo) entries: Vec<(String, Value)>,
    /// The lowest score that passes; 1 for a grader that passes or fails.
    pub(in crate::promptfoo) mark: f64,
    /// Whether the score can be between 0 and 1, so that the mark has to be written.
    pub(in crate::promptfoo) is_graded: bool,
    /// Whether it can fail a case at all.
    pub(in crate::promptfoo) can_fail: bool,
    /// Whether it can fail a case although it weighs nothing, as a set can.
    pub(in crate::promptfoo) is_set: bool,
    /// Whether it is a composite whose type states what passes.
    pub(in crate::promptfoo) has_own_threshold: bool,
    pub(in crate::promptfoo) weight: f64,
    pub(in crate::promptfoo) name: Option<String>,
    /// Comments of the assertion.
    pub(in crate::promptfoo) above: Vec<String>,
    pub(in crate::promptfoo) beside: Option<String>,
}

impl Grader {
    /// A grader that passes or fails.
    pub(in crate::promptfoo) fn new(settings: Json) -> Self {
        let entries = Value::from(settings).entries().to_vec();
        Self {
            entries,
            mark: 1.0,
            is_graded: false,
            can_fail: true,
            is_set: false,
            has_own_threshold: false,
            weight: 1.0,
            name: None,
            above: Vec::new(),
            beside: None,
        }
    }

    /// The weighted mean of graders.
    pub(in crate::promptfoo) fn composite(members: impl Into<Value>) -> Self {
        let mut grader = Self::new(json!({"type": "composite", "aggregator": {"type": "weighted_average"}}));
        grader.entries.push(("assertions".to_owned(), members.into()));
        grader
    }

    /// Adds a member to a composite.
    pub(in crate::promptfoo) fn add_member(&mut self, member: Value) {
        for (_, members) in self.entries.iter_mut().filter(|(key, _)| key == "assertions") {
            if let Data::List(members) = &mut members.data {
                members.push(member.clone());
            }
        }
    }

    /// The same with a score between 0 and 1 that passes from `mark` on.
    pub(in crate::promptfoo) fn graded(self, mark: f64) -> Self {
        Self { mark, is_graded: true, ..self }
    }

    /// Whether it may pass with a score below 1, or does not hold a case back at all.
    pub(in crate::promptfoo) fn passes_below_one(&self) -> bool {
        (self.weight > 0.0 || self.is_set) && (self.mark != 1.0 || !self.can_fail)
    }

    /// With steps that change the answer before.
    pub(in crate::promptfoo) fn transformed(mut self, steps: &[AnswerStep]) -> Self {
        if !steps.is_empty() {
            self.entries.push(("transform".to_owned(), Value::from(json!(steps))));
        }
        self
    }

    /// The result is inverted.
    pub(in crate::promptfoo) fn negated(mut self, negate: bool) -> Self {
        if negate {
            self.entries.push(("negate".to_owned(), Value::from(json!(true))));
        }
        self
    }
}

/// A grader that no answer passes, for a threshold above 1.
pub(in crate::promptfoo) fn never_passes() -> Value {
    let settings = json!({"type": "code-grader", "name": "threshold-above-1", "command": "exit 1", "required": true});
    Value::from(settings)
}

/// Low enough for any score but 0.
pub(in crate::promptfoo) const LOWEST_MARK: f64 = 0.001;

/// Gives graders of one list different names.
#[derive(Default)]
pub(in crate::promptfoo) struct Names {
    pub(super) taken: BTreeSet<String>,
    /// Members of a composite cannot have the same name; other graders get a number.
    pub(super) of_members: bool,
    /// The threshold of the mean of all graders, if that decides.
    pub(in crate::promptfoo) threshold: Option<f64>,
}

impl Names {
    /// The entry of a list of assertions. A required grader fails its case when it fails.
    pub(in crate::promptfoo) fn write(&mut self, grader: Grader, required: bool, with_mark: bool) -> Value {
        // The type, and the settings of the type.
        let mut entries = grader.entries;
        if let Some(name) = grader.name.filter(|name| !name.trim().is_empty()) {
            entries.insert(1, ("name".to_owned(), Value::text(self.free(&name, ' '))));
        } else if self.of_members {
            let kind = entries[0].1.as_text().unwrap_or_default();
            let name = self.free(kind, '-');
            if name != kind {
                entries.insert(1, ("name".to_owned(), Value::text(name)));
            }
        }
        if grader.weight != 1.0 {
            entries.push(("weight".to_owned(), Value::from(number(grader.weight))));
        }
        let is_required = required && grader.can_fail && (grader.weight > 0.0 || grader.is_set);
        if is_required {
            entries.push(("required".to_owned(), Value::from(json!(true))));
        }
        // Without a mark of its own, a guard or a member of a set would decide alone.
        let kind = entries[0].1.as_text().unwrap_or_default();
        let is_composite = kind == "composite" && !grader.has_own_threshold;
        let would_decide = !required && (is_composite || GUARDS.contains(&kind));
        if is_required && (with_mark || grader.is_graded) || !required && self.of_members && grader.is_graded {
            entries.push(("min_score".to_owned(), Value::from(number(grader.mark))));
        } else if would_decide {
            let mark = self.threshold.map_or(grader.mark, |threshold| threshold.clamp(LOWEST_MARK, 1.0));
            entries.push(("min_score".to_owned(), Value::from(number(mark))));
        }
        Value { above: grader.above, beside: grader.beside, ..Value::new(Data::Mapping(entries)) }
    }

    /// The name, or the first one with a number, that no other grader has.
    fn free(&mut self, name: &str, separator: char) -> String {
        let numbered = |number: usize| if number == 1 { name.to_owned() } else { format!("{name}{separator}{number}") };
        (1..).map(numbered).find(|name| self.taken.insert(name.clone())).expect("a number is free")
    }
}

pub(super) fn map(check: &Check<'_>) -> Result<Grader, String> {
    let threshold = check.threshold.ok_or("its threshold is not a number")?;
    if threshold < 0.0 {
        return Err("its threshold is below 0, so it never passes".to_owned());
    }
    let key = if check.kind == "latency" { "threshold" } else { "budget" };
    Ok(Grader::new(json!({"type": check.kind, key: number(threshold)})).negated(check.is_negated))
}
