//! Support for the tests that look at evalsuite from outside.

pub mod source;
pub mod throwaway;
