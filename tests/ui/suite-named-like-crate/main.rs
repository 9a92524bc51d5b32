//! A path that starts with the name of the suite does not mean a crate.

evalsuite::include_eval_suite!("./suite", agent = suite::agent);

mod renamed {
    evalsuite::include_eval_suite!("./suite", agent = suite::agent, name = other);

    mod suite {
        pub(super) async fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::io::Error> {
            Ok(String::new())
        }
    }
}

fn in_a_function() {
    evalsuite::include_eval_suite!("./suite", agent = none, name = inner);
}

fn main() {}
