//! Runs measured records of other implementations, and real suites, through the loader.
//!
//! A record says what AgentV made of some files. Where ours differs, the difference has to be one that
//! `docs/compatibility.md` lists, and what the list says has to be true of the record: [`rules`] checks that for values,
//! [`claim`] for every diagnostic, by reading the place it points at with another YAML reader and with tables written
//! from the format's description.

pub mod check;
pub mod claim;
pub mod complaint;
pub mod corpus;
pub mod difference;
pub mod documented;
pub mod folders;
pub mod grader_record;
pub mod place;
pub mod record;
pub mod reference_form;
pub mod rules;
