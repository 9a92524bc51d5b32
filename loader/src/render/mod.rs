//! Showing diagnostics to people and programs.
