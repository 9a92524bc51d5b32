//! Tests with real programs.

use super::*;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn input_output_and_status_pass_through() {
    let finished =
        run(shell("cat; echo problem >&2; exit 3"), b"hello".to_vec(), Duration::from_secs(10), Echo::Off).unwrap();
    assert_eq!((finished.stdout.text().as_str(), finished.stderr.text().as_str()), ("hello", "problem\n"));
    assert_eq!((finished.status.code(), finished.timed_out), (Some(3), false));
}

#[test]
fn a_program_past_its_limit_ends_with_all_it_started() {
    let started = Instant::now();
    let finished =
        run(shell("echo before; sleep 60 & sleep 60"), Vec::new(), Duration::from_millis(200), Echo::Off).unwrap();
    assert!(finished.timed_out);
    assert_eq!(finished.stdout.text(), "before\n");
    assert!(started.elapsed() < Duration::from_secs(10), "took {:?}", started.elapsed());
}

#[test]
fn the_beginning_of_a_secret_at_the_end_of_a_stream_that_is_cut_is_not_kept() {
    let _ = crate::platform::redaction::Redactor::default().and_values(["Tq9\"wZ/streamed-secret".to_owned()]);
    let printed = |end: &str, limit| {
        let script = format!("printf 'key: Tq9\\\\\"wZ/stre'; printf 'key: Tq9%%22wZ%%2' >&2; {end}");
        let finished = run(shell(&script), Vec::new(), Duration::from_millis(limit), Echo::Off).unwrap();
        (finished.stdout.text(), finished.stderr.text())
    };
    let cut = ("key: ".to_owned(), "key: ".to_owned());
    assert_eq!(printed("sleep 60", 1_000), cut, "by the time limit");
    assert_eq!(printed("kill -9 $$", 60_000), cut, "by a signal");
    assert_eq!(printed("exit 137", 60_000), cut, "by a signal to a program of the shell");
    let (stdout, stderr) = printed("sh -c 'kill -9 $$'; exit $?", 60_000);
    assert_eq!((stdout.as_str(), stderr.strip_suffix("Killed\n").unwrap_or(&stderr)), ("key: ", "key: "));
    let whole = ("key: Tq9\\\"wZ/stre".to_owned(), "key: Tq9%22wZ%2".to_owned());
    assert_eq!(printed("exit 1", 60_000), whole);
}

#[test]
fn a_program_that_leaves_others_behind_does_not_hold_up_the_trial() {
    let started = Instant::now();
    let finished = run(shell("sleep 60 & echo done"), Vec::new(), Duration::from_secs(50), Echo::Off).unwrap();
    assert_eq!((finished.stdout.text().as_str(), finished.timed_out), ("done\n", false));
    assert!(started.elapsed() < Duration::from_secs(10), "took {:?}", started.elapsed());
}

#[test]
fn a_program_below_a_shell_has_the_whole_grace_to_end() {
    let directory = tempfile::tempdir().unwrap();
    let ended = directory.path().join("ended");
    let program = "trap 'sleep 0.5; echo > ended; exit' TERM; echo > ready; while :; do sleep 0.05; done";
    let mut command = shell(&format!("sh -c \"{program}\" & wait"));
    command.current_dir(directory.path());
    let finished = run(command, Vec::new(), Duration::from_millis(700), Echo::Off).unwrap();
    assert!(finished.timed_out && directory.path().join("ready").exists(), "the program has set its trap");
    assert!(ended.exists(), "the program ends before it is killed");
}

/// Starts a program that leaves its group and session; its id.
#[cfg(target_os = "linux")]
fn detach(detached: Detached, end: &str) -> rustix::process::Pid {
    let directory = tempfile::tempdir().unwrap();
    let line = format!("setsid sh -c 'echo $$ > id; exec sleep 60' & while ! [ -s id ]; do sleep 0.01; done; {end}");
    let mut command = shell(&line);
    command.current_dir(directory.path());
    run_watched(command, Vec::new(), Duration::from_secs(3), Echo::Off, Some(detached), None).unwrap();
    let id = std::fs::read_to_string(directory.path().join("id")).unwrap();
    rustix::process::Pid::from_raw(id.trim().parse().unwrap()).unwrap()
}

/// Whether it runs; a zombie does not.
#[cfg(target_os = "linux")]
fn runs(id: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[cfg(target_os = "linux")]
fn wait_for_end(id: rustix::process::Pid) {
    let limit = Instant::now() + Duration::from_secs(20);
    while runs(id) {
        assert!(Instant::now() < limit, "the detached program has to end");
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_left_its_group_and_session_ends_with_the_program() {
    wait_for_end(detach(Detached::End, "exit 0"));
    wait_for_end(detach(Detached::End, "sleep 60"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_hook_may_leave_a_detached_server_behind() {
    let server = detach(Detached::Keep, "exit 0");
    assert!(runs(server));
    rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_flood_of_output_is_cut() {
    let finished = run(shell("head -c 12000000 /dev/zero"), Vec::new(), Duration::from_secs(30), Echo::Off).unwrap();
    assert_eq!((finished.stdout.bytes.len(), finished.stdout.truncated), (CAPTURE_LIMIT, true));
}

#[test]
fn unread_input_is_not_an_error() {
    let finished = run(shell("exit 0"), vec![b'x'; 1_000_000], Duration::from_secs(10), Echo::Off).unwrap();
    assert!(finished.status.success());
}
