use evalsuite::{Evidence, Trial, include_eval_suite};

include_eval_suite!("./suite", agent = agent, graders = [card_completion]);

async fn agent(_: &mut Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn card_completion(_: &Evidence<'_>) -> bool {
    true
}

fn main() {}
