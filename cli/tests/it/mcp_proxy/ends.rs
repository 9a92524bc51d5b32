//! When agent, proxy or server ends, the other two end as well.

use std::io::Read as _;

use evalsuite_needs::needs;

use super::*;

/// Waits until a process has ended.
#[cfg(unix)]
fn wait_for_end(id: &str) {
    let end = Instant::now() + LIMIT;
    let stat = format!("/proc/{}/stat", id.trim());
    // A zombie has ended.
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < end, "the server still runs");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A server that has started, and its process id.
fn started(session: &Session, arguments: &[&str]) -> (Client, String) {
    let (path, pid) = (server(), session.path().join("pid"));
    let mut proxy = session.proxy(&[&["python3", path.to_str().unwrap()], arguments].concat());
    let mut client = Client::start(proxy.env("PID_FILE", &pid));
    assert_eq!(client.text(1, "echo", &json!({"text": "here"})), "here");
    (client, fs::read_to_string(pid).unwrap())
}

#[needs(python)]
#[test]
fn a_server_that_dies_ends_the_proxy_with_its_status() {
    let session = Session::new(&json!({}));
    let mut client = session.test_server(&[]);
    client.call(1, "die", &json!({}));
    let (rest, status) = client.end();
    assert_eq!((rest.len(), status.code()), (0, Some(3)));
    let last = session.trace().pop().unwrap();
    assert_eq!(last, ("ended".to_owned(), json!("exit status: 3")));
}

/// As one that dies right after its answer, while the agent waits for its model.
#[cfg(unix)]
#[test]
fn an_agent_that_is_slow_to_read_gets_all_that_a_server_wrote_before_its_end() {
    let session = Session::new(&json!({}));
    // More than two pipes and the buffer between them hold.
    let mut proxy = session.proxy(&["sh", "-c", "head -c 180000 /dev/zero | tr '\\0' x; exit 3"]);
    let mut proxy = proxy.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input = proxy.stdin.take();
    // Longer than the output of a server that has ended is waited for.
    thread::sleep(Duration::from_millis(2500));
    let mut read = Vec::new();
    proxy.stdout.take().unwrap().read_to_end(&mut read).unwrap();
    drop(input);
    assert_eq!((read.len(), proxy.wait().unwrap().code()), (180_000, Some(3)));
}

/// The proxy waited for an agent that had closed the input, and read nothing more.
#[cfg(unix)]
#[test]
fn an_agent_that_has_left_without_reading_everything_does_not_keep_the_proxy() {
    let session = Session::new(&json!({}));
    let mut proxy = session.proxy(&["sh", "-c", "head -c 180000 /dev/zero | tr '\\0' x; exit 3"]);
    let mut proxy = proxy.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(proxy.stdin.take());
    assert_eq!(end_of(&mut proxy).code(), Some(3));
}

#[test]
fn a_server_that_cannot_be_started_is_an_error() {
    let session = Session::new(&json!({}));
    let output = session.proxy(&["no-such-server-program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let problem = String::from_utf8(output.stderr).unwrap();
    assert!(problem.contains("the MCP server cannot be started: no-such-server-program"), "{problem}");
    assert_eq!(session.trace().pop().unwrap().0, "ended");
}

#[test]
fn a_session_of_another_version_is_refused() {
    let session = Session::new(&json!({"schema": "evalsuite.mcp_session/9"}));
    let output = session.proxy(&["true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let problem = String::from_utf8(output.stderr).unwrap();
    assert!(problem.contains("`schema` is evalsuite.mcp_session/9, not evalsuite.mcp_session/1"), "{problem}");
}

#[cfg(target_os = "linux")]
#[needs(python)]
#[test]
fn a_client_that_leaves_or_asks_ends_the_server() {
    for asks in [false, true] {
        let session = Session::new(&json!({}));
        let (client, pid) = started(&session, &[]);
        if asks {
            let id = client.process.id().to_string();
            assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
            client.end();
        } else {
            assert!(client.leave().1.success());
        }
        wait_for_end(&pid);
        assert!(session.trace().iter().all(|(kind, _)| kind != "ended"), "the end was expected");
    }
}

#[cfg(target_os = "linux")]
#[needs(python)]
#[test]
fn a_server_that_does_not_end_when_asked_is_killed() {
    let session = Session::new(&json!({}));
    let (client, pid) = started(&session, &["--stubborn"]);
    let id = client.process.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    let (_, status) = client.end();
    assert_eq!(status.code(), Some(128 + 9));
    wait_for_end(&pid);
}

#[cfg(target_os = "linux")]
#[needs(python)]
#[test]
fn a_proxy_that_is_killed_leaves_its_records_and_no_server() {
    let session = Session::new(&json!({}));
    let (mut client, pid) = started(&session, &[]);
    client.call(2, "sleep", &json!({"seconds": 600}));
    let end = Instant::now() + LIMIT;
    while session.sent("client").len() < 2 {
        assert!(Instant::now() < end, "the call is not recorded");
        thread::sleep(Duration::from_millis(5));
    }
    client.process.kill().unwrap();
    client.end();
    wait_for_end(&pid);
    assert!(session.sent("client")[1].contains("sleep"));
}
