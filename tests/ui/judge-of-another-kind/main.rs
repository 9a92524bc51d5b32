//! What is no judge, as far as the macro can tell.

use evalsuite::{JudgeRequest, Trial};

async fn agent(_: &mut Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

async fn judge(_: JudgeRequest) -> Result<String, std::io::Error> {
    Ok(String::new())
}

mod no_text {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judge = 5);
}

mod nobody {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judge = []);
}

mod blank {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judge = " ");
}

mod twice {
    evalsuite::include_eval_suite! {
        "./suite",
        agent = super::agent,
        judge = ["strict", "kind", "strict"],
        judges = { "strict" => super::judge, "kind" => super::judge, "kind" => super::judge },
    }
}

mod no_strings {
    evalsuite::include_eval_suite! {
        "./suite",
        agent = super::agent,
        judge = [super::judge],
        judges = { strict => super::judge, "kind" },
    }
}

mod no_map {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judges = [super::judge]);
}

mod odd {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judge = super::judge, judge_confirm = 3);
}

mod too_often {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, judge = super::judge, judge_confirm = "2");
}

mod misspelled {
    evalsuite::include_eval_suite!("./suite", agent = super::agent, juge = super::judge);
}

fn main() {}
