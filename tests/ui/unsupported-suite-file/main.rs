evalsuite::include_eval_suite!("./suite/evals.json", agent = none);

fn main() {}
