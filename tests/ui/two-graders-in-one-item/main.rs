evalsuite::include_eval_suite!("./suite", agent = none);

fn main() {}
