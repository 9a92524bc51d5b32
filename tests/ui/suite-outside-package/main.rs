evalsuite::include_eval_suite!("./../../../suites/greetings", agent = none, deny_warnings);

fn main() {}
