//! The suite, run against a program.

evalsuite::include_eval_suite!("suites/notes", agent = "cli");
