//! `latency`, `cost`, `token-usage` and `execution-metrics`.

use evalsuite_schema::grader::{Cost, ExecutionMetrics, Latency, TokenUsage};

use super::require;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::{Fields, label};

pub(super) fn latency(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<Latency> {
    let entry = require(fields, "threshold", d)?;
    fields::not_negative(&entry.value, "`threshold`", d).map(|threshold| Latency { threshold })
}

pub(super) fn cost(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<Cost> {
    let entry = require(fields, "budget", d)?;
    fields::not_negative(&entry.value, "`budget`", d).map(|budget| Cost { budget })
}

pub(super) fn token_usage(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<TokenUsage> {
    let mut limits = Limits::new(fields, d);
    let usage = TokenUsage {
        max_total: limits.read("max_total"),
        max_input: limits.read("max_input"),
        max_output: limits.read("max_output"),
    };
    limits.finish("`max_total`, `max_input` or `max_output`")?;
    Some(usage)
}

pub(super) fn execution_metrics(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Option<ExecutionMetrics> {
    let mut limits = Limits::new(fields, d);
    let mut metrics = ExecutionMetrics {
        min_tool_calls: limits.read("min_tool_calls"),
        max_tool_calls: limits.read("max_tool_calls"),
        min_llm_calls: limits.read("min_llm_calls"),
        max_llm_calls: limits.read("max_llm_calls"),
        max_tokens: limits.read("max_tokens"),
        max_cost_usd: limits.read("max_cost_usd"),
        max_duration_ms: limits.read("max_duration_ms"),
        target_exploration_ratio: limits.read_with("target_exploration_ratio", fields::fraction),
        exploration_tolerance: None,
    };
    // A tolerance alone checks nothing.
    let written = limits.written;
    metrics.exploration_tolerance = limits.read("exploration_tolerance");
    limits.written = written;
    limits.finish("a limit such as `max_tool_calls`, or `target_exploration_ratio`")?;
    Some(metrics)
}

/// Reads limits, of which at least one must be there.
struct Limits<'f, 'n, 'd> {
    fields: &'f mut Fields<'n>,
    d: &'d mut Diagnostics,
    /// How many are there, right or wrong.
    written: usize,
    is_valid: bool,
}

impl<'f, 'n, 'd> Limits<'f, 'n, 'd> {
    fn new(fields: &'f mut Fields<'n>, d: &'d mut Diagnostics) -> Self {
        Self { fields, d, written: 0, is_valid: true }
    }

    fn read(&mut self, key: &'static str) -> Option<f64> {
        self.read_with(key, fields::not_negative)
    }

    fn read_with(
        &mut self,
        key: &'static str,
        number: fn(&crate::read::node::Node, &str, &mut Diagnostics) -> Option<f64>,
    ) -> Option<f64> {
        let entry = self.fields.get_renamed(key, self.d)?;
        self.written += 1;
        let value = number(&entry.value, &label(entry), self.d);
        self.is_valid &= value.is_some();
        value
    }

    fn finish(self, needed: &str) -> Option<()> {
        if self.written == 0 {
            let message = "the grader has nothing to check";
            self.d.report(Code::MissingGraderSetting, self.fields.node.span, message, format!("add {needed}"));
            return None;
        }
        self.is_valid.then_some(())
    }
}
