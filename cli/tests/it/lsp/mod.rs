//! `cargo evalsuite lsp`, driven by a client over standard input and output.

mod client;
mod editing;
mod hostile;
mod large;
mod lenses;
mod suites;
mod transcripts;
mod unsaved;
