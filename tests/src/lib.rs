//! Support of the tests that look at evalsuite from outside.

pub mod throwaway;
