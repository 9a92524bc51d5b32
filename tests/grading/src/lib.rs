//! Runs recorded grades and scores of AgentV through our loader and our runtime.
//!
//! A record contains an answer and AgentV's grade of it. If our grade differs, `docs/grading-differences.md` has to list
//! the rule, whose check in [`grader_rules`], [`scoring`], [`conversations`], [`trials`] or [`dependents`] has to hold for the record, and
//! `differing_records.txt` the record. Rules allow the same tests to run over records that we have not seen.

pub mod consistency;
pub mod conversations;
pub mod dependents;
pub mod documented_differences;
pub mod evidence;
pub mod field_rules;
pub mod grader_rules;
pub mod graders;
pub mod member_rules;
pub mod payload;
pub mod prompts;
pub mod replay;
pub mod scoring;
pub mod stub_judge;
pub mod trials;
