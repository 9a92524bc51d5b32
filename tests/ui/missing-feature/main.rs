evalsuite::include_eval_suite!("./suite", agent = agent);

async fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn main() {}
