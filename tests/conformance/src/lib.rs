//! Runs records of AgentV, and real suites, through the loader.
//!
//! A record contains files and what AgentV loaded from them. If our result differs, `docs/compatibility.md` has to list
//! the difference, and the listed rule has to hold for the record: [`rules`] checks that for values, [`claim`] for every
//! diagnostic, by reading the text it points at with a second YAML reader and with tables written from the description
//! of the format.

pub mod claim;
pub mod comparison;
pub mod complaint;
pub mod corpus;
pub mod difference;
pub mod documented_rules;
pub mod grader_record;
pub mod record;
pub mod reference_form;
pub mod rules;
pub mod schemas;
pub mod source_excerpt;
pub mod test_data;
