//! Suites that were made to do harm: each ends in diagnostics, in bounded time and memory.

mod amounts;
mod calibrations;
mod encodings;
#[cfg(unix)]
mod links;
mod names;
mod patterns;
#[cfg(unix)]
mod special_files;
mod structure;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use evalsuite_loader::{Request, load};
#[cfg(unix)]
use evalsuite_loader::{find_targets_file, load_targets};
use evalsuite_schema::diagnostics::{Code, Diagnostics, render};
use tempfile::TempDir;

/// Far more than any of these takes. What it tells is whether a load ends at all.
const LIMIT: Duration = Duration::from_secs(300);

/// Most memory that this process may ever have taken, in KiB.
const MEMORY: u64 = 2 << 20;

/// A package with one suite in the directory `suite`.
struct Package {
    directory: TempDir,
}

/// What a load said.
struct Said {
    /// Code, file and line, 0 for a file as a whole.
    problems: Vec<(Code, String, u32)>,
    /// The first few, as people see them.
    text: String,
    cases: Option<usize>,
}

impl Package {
    fn new() -> Self {
        let package = Self { directory: tempfile::tempdir().unwrap() };
        package.write("Cargo.toml", "[package]\nname = \"agent\"\n");
        package
    }

    /// A package with an eval file.
    fn with_eval_file(text: impl AsRef<[u8]>) -> Self {
        let package = Self::new();
        package.write("suite/EVAL.yaml", text);
        package
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Loads the directory `suite`.
    fn load(&self) -> Said {
        self.load_entry("suite")
    }

    fn load_entry(&self, entry: &str) -> Said {
        let mut request = Request::new(entry, self.directory.path());
        request.workspace_root = self.directory.path().to_path_buf();
        load_within_limits(request)
    }

    /// Loads the targets file nearest to the directory `suite`.
    #[cfg(unix)]
    fn load_targets(&self, suite: &str) -> Said {
        let mut request = Request::new("", self.directory.path());
        request.workspace_root = self.directory.path().to_path_buf();
        let file = find_targets_file(&self.path(suite), self.directory.path()).unwrap();
        within_limits("targets file", move || {
            let loaded = load_targets(&file, &request);
            Said::new(&loaded.problems_of(loaded.names()), None)
        })
    }
}

fn load_within_limits(request: Request) -> Said {
    let entry = request.entry.clone();
    within_limits(&entry, move || {
        let loaded = load(&request);
        Said::new(&loaded.diagnostics, loaded.suite.map(|suite| suite.cases.len()))
    })
}

fn within_limits(entry: &str, read: impl FnOnce() -> Said + Send + 'static) -> Said {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        // The receiver is gone if this took too long.
        let _ = sender.send(read());
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(said) => {
            thread.join().unwrap();
            assert_harmless(&said.text);
            assert_memory();
            said
        }
        Err(mpsc::RecvTimeoutError::Timeout) => {
            panic!("loading `{}` did not end within {LIMIT:?}", entry.escape_debug())
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("the thread sends before it ends"),
        },
    }
}

/// Nothing that a terminal would obey, and no more than a screen or two.
fn assert_harmless(text: &str) {
    let is_bad = |character: &char| {
        character.is_control() && *character != '\n'
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(text.chars().find(is_bad), None, "{}", text.escape_debug());
    assert!(text.len() < 200_000, "{} bytes for a few problems", text.len());
}

/// The most memory this process ever took, where the system says so.
fn assert_memory() {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok());
    if let Some(peak) = peak {
        assert!(peak < MEMORY, "{} MiB of memory were taken", peak >> 10);
    }
}

impl Said {
    fn new(diagnostics: &Diagnostics, cases: Option<usize>) -> Self {
        let problems = diagnostics.iter().map(|diagnostic| {
            let place = diagnostic.place.as_ref().expect("problems of files have a place");
            (diagnostic.code, place.file.clone(), place.start().map_or(0, |start| start.line))
        });
        let shown = diagnostics.iter().take(5);
        let text: Vec<String> = shown.map(|diagnostic| render::text(diagnostic, render::Style::Plain)).collect();
        Self { problems: problems.collect(), text: text.join("\n"), cases }
    }

    #[track_caller]
    fn has(&self, code: Code, file: &str) -> &Self {
        let is_it = |(found, at, _): &&(Code, String, u32)| *found == code && at == file;
        assert!(
            self.problems.iter().any(|problem| is_it(&problem)),
            "{code} in {file} is not among {:?}",
            self.first()
        );
        self
    }

    #[track_caller]
    fn has_at(&self, code: Code, file: &str, line: u32) -> &Self {
        let problem = (code, file.to_owned(), line);
        assert!(self.problems.contains(&problem), "{problem:?} is not among {:?}", self.first());
        self
    }

    /// Nothing but these, each in some file.
    #[track_caller]
    fn only(&self, codes: &[Code]) -> &Self {
        // Most of these cases have criteria that nobody judges.
        let found = self.problems.iter().map(|(code, ..)| *code).filter(|code| *code != Code::UnjudgedCriteria);
        let found: Vec<Code> = found.collect();
        assert_eq!(found, codes, "{:?}", self.first());
        self
    }

    #[track_caller]
    fn is_valid(&self, cases: usize) -> &Self {
        assert_eq!(self.cases, Some(cases), "{:?}", self.first());
        self
    }

    #[track_caller]
    fn is_refused(&self) -> &Self {
        assert_eq!(self.cases, None);
        assert!(!self.problems.is_empty());
        self
    }

    fn first(&self) -> &[(Code, String, u32)] {
        &self.problems[..self.problems.len().min(10)]
    }
}

/// A case that is right.
const CASE: &str = "criteria: Answers\ninput: Hello\n";

/// Makes a file of a size that takes no space.
fn write_sparse(path: &Path, size: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().set_len(size).unwrap();
}
