use evalsuite::{Trial, UserRequest, include_eval_suite};

include_eval_suite! {
    "./suite",
    agent = agent,
    users = [angry_customer],
}

async fn agent(_: &mut Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn angry_customer(_: UserRequest) -> Result<&'static str, std::io::Error> {
    Ok("A refund!")
}

fn main() {}
