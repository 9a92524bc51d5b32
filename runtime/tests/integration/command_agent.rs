//! A suite whose agents, hook and grader are commands, as the macro makes its tests.

evalsuite::include_eval_suite!("tests/command_agent", agent = "cli");
