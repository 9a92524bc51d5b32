//! Files that are built to take time or memory, and the reading time of large files. That of a typical case is measured by benches/compile.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::{good, json, list, yaml};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::Files;

/// Generous limits: without bounds, hostile files take hours, or all memory.
const BOUND: Duration = Duration::from_secs(20);

#[track_caller]
fn only_problem(start: Instant, problems: &[Diagnostic]) -> String {
    assert!(start.elapsed() < BOUND, "took {:?}", start.elapsed());
    let [problem] = list(problems).try_into().expect("one problem");
    problem
}

#[test]
fn alias_bombs_stop_early() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", ")));
    }
    let start = Instant::now();
    let (root, problems) = yaml(&text);
    assert_eq!(only_problem(start, &problems), "5:45-5:48 E008 more than 100000 values, with aliases expanded");
    assert_eq!(root, None);
}

#[test]
fn aliases_of_large_text_stop_early() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(50_000));
    let start = Instant::now();
    let (_, problems) = yaml(&text);
    assert_eq!(only_problem(start, &problems), "2:69-2:71 E008 anchors and aliases copy more than 16 MiB of text");
}

#[test]
fn anchors_in_anchors_stop_early() {
    let open: String = (0..60).map(|level| format!("&a{level} [")).collect();
    let text = format!("{open}{}{}", "x".repeat(1 << 20), "]".repeat(60));
    let start = Instant::now();
    assert!(only_problem(start, &yaml(&text).1).ends_with("E008 anchors and aliases copy more than 16 MiB of text"));
}

#[test]
fn merge_bombs_stop_early() {
    let mut text = String::from("a0: &a0 {x: 1}\n");
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} {{k{level}: {{<<: [{}]}}}}\n", [alias.as_str(); 40].join(", ")));
    }
    let start = Instant::now();
    let (_, problems) = yaml(&text);
    assert!(start.elapsed() < BOUND);
    assert!(problems.iter().all(|problem| problem.code == Code::LimitExceeded), "{problems:?}");
}

#[test]
fn deep_nesting_is_refused_at_the_first_value_that_is_too_deep() {
    let deep = 10_000;
    let block_mapping: String = (0..deep).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    for (text, expected) in [
        (block_mapping, "65:65-65:66"),
        ("- ".repeat(deep), "1:129-1:130"),
        ("[".repeat(deep), "1:65-1:66"),
        (format!("{}{}", "[".repeat(200), "]".repeat(200)), "1:65-1:66"),
        ("{a: ".repeat(deep), "1:257-1:258"),
        (format!("ä: {}", "[ ".repeat(deep)), "1:130-1:131"),
    ] {
        let start = Instant::now();
        let (root, problems) = yaml(&text);
        assert_eq!(only_problem(start, &problems), format!("{expected} E008 nesting deeper than 64"));
        assert_eq!(root, None);
    }
    for (text, expected) in [("[".repeat(deep), "1:65-1:66"), ("{\"a\":".repeat(deep), "1:321-1:322")] {
        let start = Instant::now();
        assert_eq!(only_problem(start, &json(&text).1), format!("{expected} E008 nesting deeper than 64"));
    }
}

#[test]
fn nesting_to_the_limit_is_fine() {
    let text = format!("{}{}", "[".repeat(64), "]".repeat(64));
    good(&text, yaml(&text));
    good(&text, json(&text));
    let half = format!("a: &a {}{}\nb: ", "[".repeat(32), "]".repeat(32));
    let text = format!("{half}{}*a{}\n", "[".repeat(31), "]".repeat(31));
    good(&text, yaml(&text));
    let text = format!("{half}{}*a{}\n", "[".repeat(32), "]".repeat(32));
    assert_eq!(list(&yaml(&text).1), ["2:36-2:38 E008 nesting deeper than 64"]);
}

#[test]
fn many_values_are_refused() {
    let start = Instant::now();
    for text in
        ["- x\n".repeat(200_000), format!("[{}]", "x, ".repeat(2_000_000)), format!("a: [{}", "{}, ".repeat(2_000_000))]
    {
        let problem = only_problem(start, &yaml(&text).1);
        assert!(problem.contains("E008 more than 100000 values"), "{problem}");
    }
    let text = format!("[{}0]", "0, ".repeat(200_000));
    assert!(only_problem(start, &json(&text).1).ends_with("E008 more than 100000 values"));
    let mut diagnostics = Diagnostics::new();
    crate::read::parse_jsonl(super::file(), &"{\"a\": 1}\n".repeat(200_000), &mut diagnostics);
    let problems: Vec<_> = diagnostics.into_iter().collect();
    assert_eq!(only_problem(start, &problems), "33334:2-33334:2 E008 more than 100000 values");
}

#[test]
fn long_text_within_the_limits_is_read() {
    let start = Instant::now();
    let text = format!("a: '{}'\nb: |\n{}", "[x, y] ".repeat(20_000), "  {x}, [y],\n".repeat(20_000));
    good("long text", yaml(&text));
    assert!(start.elapsed() < BOUND);
}

#[test]
fn equal_keys_do_not_take_quadratic_time() {
    let start = Instant::now();
    let (_, problems) = yaml(&"a: 1\n".repeat(40_000));
    assert_eq!(problems.len(), Diagnostics::MAX_ERRORS, "the others are counted");
    assert!(start.elapsed() < BOUND);
}

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("evalsuite-read-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory for the test");
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("a file for the test");
        path
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        let start = Instant::now();
        let files = Files::new(&self.0);
        let mut diagnostics = Diagnostics::new();
        let read = crate::read::read_text(path, &files, &mut diagnostics);
        assert!(start.elapsed() < BOUND);
        match read {
            Some((_, text)) => Ok(text.to_string()),
            None => {
                let problem = diagnostics.iter().next().expect("a reason");
                let shown = files.get(problem.place.expect("a file").file).shown;
                Err(format!("{shown}: {} {}", problem.code.as_str(), problem.message))
            }
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_read_as_utf8_without_their_byte_order_mark() {
    let directory = Directory::new("utf8");
    let path = directory.file("bom.yaml", b"\xEF\xBB\xBFa: 1\r\n");
    assert_eq!(directory.read(&path), Ok("a: 1\r\n".to_owned()));
    let files = Files::new(&directory.0);
    let (id, _) = crate::read::read_text(&path, &files, &mut Diagnostics::new()).expect("it is readable");
    let digest = files.get(id).digest.expect("a digest of the file");
    assert_eq!(digest, hmac_sha256::Hash::hash(b"\xEF\xBB\xBFa: 1\n"), "as in a checkout with other line breaks");
    let path = directory.file("latin1.yaml", b"\xEF\xBB\xBFa: caf\xE9\n");
    assert_eq!(directory.read(&path), Err("latin1.yaml: E002 invalid UTF-8 at byte 9".to_owned()));
    let path = directory.file("utf16.yaml", b"\xFF\xFEa\0");
    assert_eq!(directory.read(&path), Err("utf16.yaml: E002 invalid UTF-8 at byte 0".to_owned()));
}

#[test]
fn files_that_are_too_large_are_not_read() {
    let directory = Directory::new("large");
    let path = directory.file("large.yaml", b"a: ");
    let file = fs::OpenOptions::new().write(true).open(&path).expect("it was written");
    file.set_len(100 << 20).expect("a sparse file takes no room");
    assert_eq!(directory.read(&path), Err("large.yaml: E008 larger than 16 MiB".to_owned()));
    file.set_len(16 << 20).expect("shorter again");
    assert!(directory.read(&path).is_ok());
}

#[test]
fn what_is_not_a_file_is_not_opened() {
    let directory = Directory::new("kinds");
    fs::create_dir(directory.0.join("case.yaml")).expect("a directory with the name of a file");
    assert_eq!(
        directory.read(&directory.0.join("case.yaml")),
        Err("case.yaml: E001 expected a file, found a directory".to_owned())
    );
    assert_eq!(directory.read(&directory.0.join("none")), Err("none: E001 no such file".to_owned()));
    let name = directory.read(&directory.0.join("a\0b")).expect_err("no file has such a name");
    assert!(name.contains("E001 cannot be read"), "{name}");
}

#[cfg(unix)]
#[test]
fn special_files_and_names_that_are_not_text_are_refused() {
    use std::os::unix::ffi::OsStrExt;

    let directory = Directory::new("special");
    let fifo = directory.0.join("fifo.yaml");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is there on every Unix");
    assert_eq!(directory.read(&fifo), Err("fifo.yaml: E001 expected a file, found a named pipe".to_owned()));
    let _socket = std::os::unix::net::UnixListener::bind(directory.0.join("socket")).expect("a socket");
    assert_eq!(
        directory.read(&directory.0.join("socket")),
        Err("socket: E001 expected a file, found a socket".to_owned())
    );
    let device = directory.read(Path::new("/dev/zero"));
    assert_eq!(device, Err("/dev/zero: E001 expected a file, found a device".to_owned()));
    let name = directory.0.join(std::ffi::OsStr::from_bytes(b"\xFF.yaml"));
    let problem = directory.read(&name).expect_err("not UTF-8");
    assert!(problem.ends_with("E001 the name is not UTF-8"), "{problem}");
    std::os::unix::fs::symlink("loop", directory.0.join("loop")).expect("a link to itself");
    let problem = directory.read(&directory.0.join("loop")).expect_err("a loop of links");
    assert!(problem.starts_with("loop: E001 cannot be read"), "{problem}");
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_named() {
    use std::os::unix::fs::PermissionsExt;

    let directory = Directory::new("unreadable");
    let path = directory.file("secret.yaml", b"a: 1\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("it is our file");
    if fs::File::open(&path).is_ok() {
        println!("skipped: this user may read files without permission (root)");
        return;
    }
    assert_eq!(directory.read(&path), Err("secret.yaml: E001 permission denied".to_owned()));
}

/// Nothing looks back to the start: 64 times the text would take 4096 times as long. Other programs slow down a thread, and do not count as its
/// processor time; the bound leaves room for what they do to caches.
#[test]
fn time_grows_with_the_text_and_not_faster() {
    let yaml_text = |count: usize| {
        (0..count).fold(String::from("cases: ["), |mut text, index| {
            write!(text, "{{id: 'é-{index}', 'a': \"\\u00e9\"}}, ").expect("strings take everything");
            text
        }) + "]"
    };
    let json_text = |count: usize| yaml(&yaml_text(count)).0.expect("it is YAML").to_json().to_string();
    let time = |text: &str, read: fn(&str) -> bool| {
        (0..3)
            .map(|_| {
                let start = ThreadTime::now();
                assert!(read(text));
                start.elapsed()
            })
            .min()
            .expect("three rounds")
    };
    let as_yaml = |text: &str| yaml(text).0.is_some();
    let as_json = |text: &str| json(text).0.is_some();
    for (name, few, many) in [
        ("YAML", time(&yaml_text(200), as_yaml), time(&yaml_text(12_800), as_yaml)),
        ("JSON", time(&json_text(200), as_json), time(&json_text(12_800), as_json)),
    ] {
        assert!(many < few * 1_000, "{name}: 64 times the text took {few:?} before, {many:?} after");
    }
}
