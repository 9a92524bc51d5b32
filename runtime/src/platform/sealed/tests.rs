//! Programs that are sealed: what the kernel lets them do.
//!
//! Where the kernel has no Landlock, only the decision is tested, next to it.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use evalsuite_schema::{Network, SealMode, Sealing};
use tempfile::TempDir;

use super::SealedStart;
use super::decision::{SealDecision, decide};
use super::enforcement::{SealRules, SealSupport};
use super::opened_paths::OwnDirectories;
use crate::platform::seal_terms::SealedFiles;

/// A directory with a suite, its records and a workspace in them.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in ["suite/cases", "runs/trial/workspace", "runs/other"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for file in ["suite/cases/answer.txt", "suite/agent.sh", "runs/other/result.json", "notes.txt"] {
            fs::write(root.path().join(file), "secret\n").unwrap();
        }
        Self { root }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn files(&self) -> SealedFiles {
        SealedFiles {
            hidden: vec![self.path("suite"), self.path("runs")],
            own: vec![self.path("runs/trial/workspace")],
            ..SealedFiles::default()
        }
    }

    /// Runs a line of a shell; `None` on a kernel that cannot seal.
    fn run(&self, line: &str, sealing: &Sealing, files: SealedFiles) -> Option<Output> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.path("runs/trial/workspace")).env("ROOT", self.root.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start =
            SealedStart { rules: rules(sealing)?, files, directories: Arc::new(OwnDirectories::new().unwrap()) };
        Some(start.spawn(&mut command).unwrap().wait_with_output().unwrap())
    }

    /// Asserts that the line succeeds, or fails, sealed.
    fn assert(&self, line: &str, sealing: &Sealing, files: SealedFiles, succeeds: bool) {
        let Some(output) = self.run(line, sealing, files) else { return };
        let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.success(), succeeds, "{line}: {text}");
    }
}

fn rules(sealing: &Sealing) -> Option<SealRules> {
    match decide(SealMode::Auto, sealing).unwrap() {
        SealDecision::Sealed(_, rules) => Some(rules),
        SealDecision::Off | SealDecision::Unsealed(_) => {
            eprintln!("not sealed here: {:?}", SealSupport::of_system());
            None
        }
    }
}

fn network(network: Network) -> Sealing {
    Sealing { network: Some(network), ..Sealing::default() }
}

#[test]
fn files_outside_of_the_workspace_can_be_neither_read_nor_changed() {
    let place = Place::new();
    let sealing = Sealing::default();
    for line in [
        "cat $ROOT/suite/cases/answer.txt",
        "ls $ROOT/suite/cases",
        "cat $ROOT/runs/other/result.json",
        "cat $ROOT/notes.txt",
        "echo x >> $ROOT/runs/other/result.json",
        ": > $ROOT/notes.txt",
        "rm $ROOT/notes.txt",
        "touch $ROOT/new",
        "ln $ROOT/notes.txt linked",
        "ln -s $ROOT/notes.txt link; cat link",
        "cat /proc/$PPID/environ",
        "cat /proc/$PPID/cmdline",
    ] {
        place.assert(line, &sealing, place.files(), false);
    }
    assert_eq!(fs::read_to_string(place.path("notes.txt")).unwrap(), "secret\n");
    for line in [
        "echo x > file; cat file; mkdir -p d/e; mv file d/e; rm -r d",
        "echo x > /dev/null; head -c 4 /dev/urandom > /dev/null",
        "echo x > $TMPDIR/file; cat $TMPDIR/file; test $TMPDIR = $TMP",
        "cd; test -z \"$(ls -A)\"; touch $HOME/file",
        "ls /usr /etc > /dev/null; cat /proc/cpuinfo > /dev/null",
        "test -z \"$SSH_AUTH_SOCK$XDG_RUNTIME_DIR$DBUS_SESSION_BUS_ADDRESS\"",
    ] {
        place.assert(line, &sealing, place.files(), true);
    }
}

#[test]
fn what_the_settings_name_is_open() {
    let place = Place::new();
    let sealing = Sealing::default();
    let read = SealedFiles { read: vec![place.path("notes.txt")], ..place.files() };
    place.assert("cat $ROOT/notes.txt", &sealing, read.clone(), true);
    place.assert("echo x > $ROOT/notes.txt", &sealing, read, false);
    let write = SealedFiles { write: vec![place.path("notes.txt")], ..place.files() };
    place.assert("echo x > $ROOT/notes.txt", &sealing, write, true);
    let named = SealedFiles { named: vec![place.path("suite/agent.sh")], ..place.files() };
    place.assert("cat $ROOT/suite/agent.sh", &sealing, named.clone(), true);
    place.assert("cat $ROOT/suite/cases/answer.txt", &sealing, named, false);
    let around = SealedFiles { read: vec![place.root.path().to_owned()], ..place.files() };
    place.assert("cat $ROOT/notes.txt", &sealing, around.clone(), true);
    place.assert("cat $ROOT/suite/cases/answer.txt", &sealing, around, false);
}

#[test]
fn what_the_settings_name_has_to_be_there() {
    let place = Place::new();
    let Some(rules) = rules(&Sealing::default()) else { return };
    let directories = Arc::new(OwnDirectories::new().unwrap());
    for (path, expected) in [("gone", "gone: No such file"), ("suite", "is the directory of the suite")] {
        let files = SealedFiles { read: vec![place.path(path)], ..place.files() };
        let start = SealedStart { rules: rules.clone(), files, directories: Arc::clone(&directories) };
        let error = start.spawn(&mut Command::new("true")).unwrap_err().to_string();
        assert!(error.starts_with("it cannot be sealed: ") && error.contains(expected), "{error}");
    }
    // A kernel that restricts less than was measured is an error, too.
    let more = SealRules { landlock_abi: rules.landlock_abi + 1, ..rules };
    let start = SealedStart { rules: more, files: place.files(), directories };
    let error = start.spawn(&mut Command::new("true")).unwrap_err().to_string();
    assert!(error.contains("Landlock restricts less than before"), "{error}");
}

#[test]
fn paths_of_the_home_directory_are_in_the_own_one() {
    let directories = OwnDirectories::new().unwrap();
    let Some(home) = std::env::home_dir() else { return };
    directories.link([&home.join(".config/agent"), &Path::new("/etc").to_owned(), &home]).unwrap();
    assert_eq!(fs::read_link(directories.home().join(".config/agent")).unwrap(), home.join(".config/agent"));
    let root = directories.home().parent().unwrap().to_owned();
    drop(directories);
    assert!(!root.exists());
}

/// Whether a line of Python succeeds; `None` without Python or a kernel that can seal.
fn python(place: &Place, line: &str, sealing: &Sealing) -> Option<bool> {
    Command::new("python3").arg("--version").output().ok()?;
    let output = place.run(&format!("python3 -c '{line}'"), sealing, place.files())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || text.contains("PermissionError"), "{line}: {text}");
    Some(output.status.success())
}

#[test]
fn the_network_is_what_the_settings_say() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tcp = format!("import socket; socket.create_connection((\"127.0.0.1\", {port}))");
    let udp = format!("import socket; socket.socket(2, 2).sendto(b\"x\", (\"127.0.0.1\", {udp}))");
    let listen = "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen()";
    let multipath = format!("import socket; socket.socket(2, 1, 262).connect((\"127.0.0.1\", {port}))");
    let others = Network::Ports(vec![if port == 443 { 80 } else { 443 }]);
    for (wanted, tcp_works, udp_works, listens) in [
        (Network::All, true, true, true),
        (Network::None, false, false, false),
        (Network::Ports(vec![port]), true, true, false),
        (others, false, true, false),
    ] {
        let sealing = network(wanted);
        let Some(works) = python(&place, &tcp, &sealing) else { return };
        assert_eq!(works, tcp_works, "{sealing:?}");
        assert_eq!(python(&place, &udp, &sealing), Some(udp_works), "{sealing:?}");
        assert_eq!(python(&place, listen, &sealing), Some(listens), "{sealing:?}");
        if !matches!(sealing.network, Some(Network::All)) {
            assert_eq!(python(&place, &multipath, &sealing), Some(false), "{sealing:?}");
        }
    }
}

#[test]
fn unix_sockets_are_closed_unless_the_settings_open_them() {
    let place = Place::new();
    let socket = place.path("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let connect = format!("import socket; socket.socket(1).connect(\"{}\")", socket.display());
    let pair = "import socket; socket.socketpair()";
    let Some(closed) = python(&place, &connect, &Sealing::default()) else { return };
    assert!(!closed);
    assert_eq!(python(&place, pair, &Sealing::default()), Some(true));
    let open = Sealing { unix_sockets: true, ..Sealing::default() };
    assert_eq!(python(&place, &connect, &open), Some(true));
    assert_eq!(python(&place, &connect, &Sealing { network: Some(Network::None), ..open }), Some(true));
}

#[test]
fn a_process_outside_cannot_be_signalled() {
    let place = Place::new();
    let mut outside = Command::new("sleep").arg("30").spawn().unwrap();
    let line = format!("kill -0 {}", outside.id());
    let seals_signals = rules(&Sealing::default()).is_some_and(|rules| rules.landlock_abi >= 6);
    if seals_signals {
        place.assert(&line, &Sealing::default(), place.files(), false);
    }
    outside.kill().unwrap();
    outside.wait().unwrap();
}

#[test]
fn programs_of_developers_run() {
    let place = Place::new();
    let sealing = network(Network::None);
    let git = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline";
    let cargo = "mkdir -p c/src && printf '[package]\\nname = \"c\"\\nedition = \"2021\"\\n[workspace]\\n' > c/Cargo.toml && \
                 echo 'fn main() { println!(\"built\") }' > c/src/main.rs && cd c && cargo build -q --offline && ./target/debug/c";
    let node =
        "node -e 'require(\"fs\").writeFileSync(\"f\", \"x\"); require(\"child_process\").execFileSync(\"true\")'";
    let python =
        "python3 -c 'import json, tempfile, subprocess; tempfile.mkdtemp(); subprocess.run([\"true\"], check=True)'";
    for (program, line) in [("git", git), ("cargo", cargo), ("node", node), ("python3", python)] {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("NOT RUN: {program} is not installed");
            continue;
        }
        place.assert(line, &sealing, place.files(), true);
    }
}
