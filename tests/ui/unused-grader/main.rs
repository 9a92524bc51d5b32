use evalsuite::{Evidence, Trial, include_eval_suite};

include_eval_suite!("./suite", agent = agent, deny_warnings, graders = [tone]);

async fn agent(_: &mut Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn tone(_: &Evidence<'_>) -> bool {
    true
}

fn main() {}
