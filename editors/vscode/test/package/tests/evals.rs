evalsuite::include_eval_suite!("suites/shop");
