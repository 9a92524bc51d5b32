//! Probes: results of an agent that did no work, references and broken references, graded by the graders of each case. They show which
//! cases pass without work and which graders say nothing, before an agent is called.

mod advice;
mod case_probe;
mod empty_probes;
mod findings;
mod mutants;
mod reference;
pub(crate) mod suite_probe;
#[cfg(test)]
mod tests;
