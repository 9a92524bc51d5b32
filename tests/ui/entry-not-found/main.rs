evalsuite::include_eval_suite!("./suit", agent = none);

fn main() {}
