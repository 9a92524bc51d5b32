//! Code generator of [evalsuite](https://docs.rs/evalsuite): a suite and what it is bound to, as Rust code. The macro and
//! `evalsuite_build::generate` share it.
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. Only what `evalsuite` exports by name is a
//! stable API.

extern crate proc_macro;

// In the order of their imports: a module imports only from those above it. Blank lines keep rustfmt from sorting them.

#[doc(hidden)]
pub mod cargo_environment;

mod suite_location;

mod rust_literals;

#[doc(hidden)]
pub mod replaced_file;

mod embed;

mod statics;

mod suite_facts;

mod cache;

#[doc(hidden)]
pub mod binding;

#[doc(hidden)]
pub mod macro_arguments;

#[doc(hidden)]
pub mod skill_bindings;

#[doc(hidden)]
pub mod expansion;

#[cfg(test)]
mod tests;
