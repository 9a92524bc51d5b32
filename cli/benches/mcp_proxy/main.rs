//! How long a call of a tool takes: by an MCP server itself, and with the proxy in front of it.
//!
//! `cargo bench --profile dev -p cargo-evalsuite --bench mcp_proxy` makes 2,000 calls each way, one after another, and prints the medians.
//! `docs/mcp.md` quotes them. The server is the one of the tests.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

const CALLS: u64 = 2_000;

fn main() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py");
    let session = env::temp_dir().join(format!("evalsuite-bench-mcp-{}", std::process::id()));
    for directory in ["traces", "claims"] {
        fs::create_dir_all(session.join(directory)).expect("a directory for the session");
    }
    let direct = || {
        let mut command = Command::new("python3");
        command.arg(&server).arg("--serial");
        command
    };
    let proxied = |faults: &str| {
        let file = format!("{{\"schema\":\"evalsuite.mcp_session/1\",\"replay\":false,\"faults\":[{faults}]}}");
        fs::write(session.join("session.json"), file).expect("the session is written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evalsuite"));
        command.arg("mcp-proxy").arg("--session").arg(&session).args(["--", "python3"]).arg(&server).arg("--serial");
        command
    };
    // Twice, because the machine may have other work.
    for _ in 0..2 {
        println!("   server: {:>6.3} ms", median(&mut direct()));
        println!("    proxy: {:>6.3} ms", median(&mut proxied("")));
        println!(
            "   faults: {:>6.3} ms",
            median(&mut proxied("{\"tool\":\"other\",\"fault\":\"error\",\"calls\":[]}"))
        );
    }
    fs::remove_dir_all(&session).expect("the session can be removed");
}

/// The median time of a call with an argument of 1 KB.
fn median(command: &mut Command) -> f64 {
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
    let mut input = process.stdin.take().expect("its input");
    let mut output = BufReader::new(process.stdout.take().expect("its output"));
    let (mut times, mut answer) = (Vec::new(), String::new());
    let text = "word ".repeat(200);
    for id in 0..CALLS {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"{text}\"}}}}}}\n"
        );
        let start = Instant::now();
        input.write_all(call.as_bytes()).expect("the server reads");
        answer.clear();
        output.read_line(&mut answer).expect("the server answers");
        times.push(start.elapsed());
        assert!(answer.contains(&text), "{answer}");
    }
    drop(input);
    assert!(process.wait().expect("the server ends").success());
    times.sort_unstable();
    let median: Duration = times[times.len() / 2];
    median.as_secs_f64() * 1000.0
}
