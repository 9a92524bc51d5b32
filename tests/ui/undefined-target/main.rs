evalsuite::include_eval_suite!("./suite", agent = "cli", deny_warnings);

fn main() {}
