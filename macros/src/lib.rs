//! The include_eval_suite! macro of evalsuite
