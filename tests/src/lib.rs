//! Tests of evalsuite across its crates
