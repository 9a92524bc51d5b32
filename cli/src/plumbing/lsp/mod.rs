//! `cargo evalsuite lsp`: the language server for editors.

mod actions;
mod case_run;
mod completion;
mod definition;
mod diagnostics;
mod documents;
mod features;
mod file_tree;
mod file_uri;
mod framing;
mod hover;
mod key_types;
mod lens;
mod messages;
mod open_suite;
mod rename;
mod server;
mod session;
mod syntax;
mod text_lines;
mod workspace;

pub(crate) use server::run;
