use evalsuite::{JudgeRequest, Trial, include_eval_suite};

include_eval_suite! {
    "./suite",
    agent = agent,
    judges = { "strict" => judge },
    judge = ["strict", "kind"],
    deny_warnings,
}

async fn agent(_: &mut Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

async fn judge(_: JudgeRequest) -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn main() {}
