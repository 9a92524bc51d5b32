//! Results of earlier runs that stand in for calls of this one.

pub(crate) mod reuse;
