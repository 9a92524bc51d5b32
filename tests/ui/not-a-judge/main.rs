//! What the compiler says of judges that are none.

use evalsuite::{JudgeRequest, Trial};

async fn agent(_: &mut Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn no_result(_: JudgeRequest) -> String {
    String::new()
}

struct Strict;

mod text {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judges = { "strict" => "kind" });
}

mod returns_text {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judge = super::no_result);
}

mod no_trait {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judge = super::Strict);
}

fn main() {}
