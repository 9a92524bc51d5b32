//! What tests of several modules share.

pub(crate) mod fixture;
