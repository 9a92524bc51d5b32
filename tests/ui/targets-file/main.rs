evalsuite::include_eval_suite!("./suite", agent = "cli");

fn main() {}
