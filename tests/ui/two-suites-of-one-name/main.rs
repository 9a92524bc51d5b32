evalsuite::include_eval_suite!("./one/greet");
evalsuite::include_eval_suite!("./two/greet");

async fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::io::Error> {
    Ok(String::new())
}

fn main() {}
