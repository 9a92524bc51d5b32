//! Oracles: each family of graders, and the rules that decide cases, written a second time from their description alone. They are slow and
//! share nothing with the product: trajectories try every assignment, scores are fractions, JSON and patterns have readers of their own.
//!
//! Every test compares random small inputs, `TEST_ORACLE_CASES` of them (500 by default), prints its seed, which
//! `TEST_ORACLE_SEED` sets, and shrinks an input whose grade differs. `.ci/release` runs 200,000 inputs of each family.

mod case_rules;
mod command_results;
mod compared;
mod decimal;
mod engines;
mod fields;
mod grader_tree;
mod json_grammar;
mod json_text;
mod metrics;
mod pattern_syntax;
mod patterns;
mod python;
mod similar;
mod skills;
mod suite_patterns;
mod text;
mod trajectories;
mod trials;
