evalsuite::include_eval_suite!("./suite", agent = none, deny_warnings);

fn main() {}
