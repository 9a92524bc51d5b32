//! Support for the tests that look at evalsuite from outside.

pub mod browser;
pub mod closed_schema;
pub mod document_walk;
pub mod http_service;
pub mod large_suites;
pub mod source;
pub mod synthetic_probe;
pub mod synthetic_run;
pub mod throwaway;
