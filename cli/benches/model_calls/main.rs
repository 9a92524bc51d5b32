//! How long a call of a model takes: sent to a service on loopback, recorded, and replayed.
//!
//! `cargo bench -p cargo-evalsuite --bench model_calls` runs a package whose agent makes 200 calls, each on a connection of its own, and
//! prints the median of their times. `docs/recording.md` quotes it.

use std::fs;
use std::path::Path;

use evalsuite_tests::http_service;
use evalsuite_tests::throwaway::{Call, Package, suites};

/// An agent that writes the time of each call to `TIMES`, in microseconds.
const AGENT: &str = r#"
use std::env::var;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

pub fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, Box<dyn Error>> {
    let url = var("OPENAI_BASE_URL")?;
    let (address, path) = url.strip_prefix("http://").ok_or("http")?.split_once('/').unwrap_or_default();
    let mut times = String::new();
    for call in 0..200 {
        let body = format!("{{\"call\":{call},\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}", "word ".repeat(800));
        let start = Instant::now();
        let mut stream = TcpStream::connect(address)?;
        let head = format!("POST /{path}/chat/completions HTTP/1.0\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes())?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        times += &format!("{}\n", start.elapsed().as_micros());
        if !response.contains(" 200 ") {
            return Err(response.into());
        }
    }
    std::fs::write(var("TIMES")?, times)?;
    Ok("hello".to_owned())
}
"#;

fn main() {
    let package = Package::new("times_model_calls");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", AGENT)
        .write("tests/evals.rs", "use times_model_calls::agent;\nevalsuite::include_eval_suite!(\"suites/shop\");\n")
        .write("suites/shop/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/shop/cases/a/case.yaml", &suites::case("hello", "hello"));
    let url = http_service::serve(|_| "data: {\"delta\":\"hello\"}\n\n".repeat(100));
    let times = package.root().join("times");
    for (name, arguments) in [("sent", &[][..]), ("recorded", &["--record"]), ("replayed", &["--replay"])] {
        let call = Call::program(Path::new(env!("CARGO_BIN_EXE_cargo-evalsuite")), &package);
        let call = call.args(["evalsuite", "run"]).args(arguments.iter().copied()).with_cargo();
        call.env("TIMES", times.as_os_str()).env("OPENAI_BASE_URL", &url).run().succeeds("every call has an answer");
        println!("{name:>8}: {:>6.3} ms (median of 200 calls)", median(&times));
    }
}

/// The median of the times in a file, in milliseconds.
fn median(file: &Path) -> f64 {
    let text = fs::read_to_string(file).expect("the agent writes it");
    let mut times: Vec<f64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2] / 1000.0
}
