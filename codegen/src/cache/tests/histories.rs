//! Random histories of a suite: whatever happens to its files, the cache changes nothing that a user sees.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use super::{Read, read};
use crate::tests::{Call, Fixture, TASK, open_for_times, texts, wait_for_clock};

const SUITES: [&str; 3] = ["suites/card_agent", "suites/yaml", "suites/outside"];

const CASE: &str = "criteria: Polite.\ninput: Hi\nassertions:\n  - { type: contains, value: hi }\n";

/// Numbers that are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("small")
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }
}

fn suites() -> Fixture {
    let tasks: Vec<(String, String)> = ('b'..='e')
        .map(|id| (format!("suites/card_agent/tasks/{id}.json"), TASK.replace("\"a\"", &format!("\"{id}\""))))
        .collect();
    let cases: Vec<String> = (0..4).map(|number| format!("suites/yaml/cases/c{number}/case.yaml")).collect();
    let mut files = vec![
        ("suites/yaml/EVAL.yaml", "name: yaml\n"),
        ("suites/yaml/more.md", "Be strict."),
        (
            "suites/outside/EVAL.yaml",
            "name: outside\ntests:\n  - file://../../data/**/*.yaml\n  - file://../../data/*/cases.jsonl\n",
        ),
        ("data/a/cases.yaml", "- { id: a, criteria: Polite., input: Hi }\n"),
        ("suites/yaml/_shared/include.yaml", "- { type: contains, value: shared }\n"),
    ];
    files.extend(tasks.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    files.extend(cases.iter().map(|path| (path.as_str(), CASE)));
    Fixture::new(&files)
}

/// A case file, or one that is not there yet.
fn some_case(numbers: &mut Numbers) -> (PathBuf, bool) {
    if numbers.below(2) == 0 {
        (
            PathBuf::from(format!(
                "suites/card_agent/tasks/{}.json",
                numbers.one_of(&["a", "b", "c", "d", "e", "n/f"])
            )),
            true,
        )
    } else {
        (PathBuf::from(format!("suites/yaml/cases/c{}/case.yaml", numbers.below(5))), false)
    }
}

fn text(numbers: &mut Numbers, path: &Path, is_task: bool) -> String {
    let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let id = if numbers.below(12) == 0 { "a" } else { id };
    let value = numbers.one_of(&["hello", "hallo", "hi", "x\\u202ey", "\\\"#"]);
    if is_task {
        let grader =
            numbers.one_of(&["contains", "contains", "contains", "contains", "is_nice", "unreadable\": 1, \""]);
        return TASK.replace("\"a\"", &format!("\"{id}\"")).replace("hello", value).replace("contains", grader);
    }
    let more = numbers.one_of(&[
        "",
        "",
        "",
        "",
        "",
        "  - { type: equals, value: Hi }\n",
        "  - { type: is-nice }\n",
        "  - { type: llm-grader, prompt: more.md }\n",
        "  - include: ../../_shared/include.yaml\n",
        "  - { type: llm-grader, target: strict }\n",
        "metadata: { note: \"${{ NOTE }}\" }\n",
        "depends_on: [c1]\n",
        "matrix: { number: [1, 2] }\n",
        "matrix: { number: [1] }\n",
        "workspace: { template: ../../template }\n",
        "assert: []\n",
        "unknown: 1\n",
    ]);
    format!("criteria: Polite.\ninput: \"{value}\"\nassertions:\n  - {{ type: contains, value: \"{value}\" }}\n{more}")
}

/// Changes the files that patterns of a suite outside of it may find: files of cases in directories with and without others, directories,
/// links, and what no pattern finds.
fn change_outside(fixture: &Fixture, numbers: &mut Numbers) -> String {
    let directory =
        numbers.one_of(&["data", "data/a", "data/b", "data/b/c", "data/.hidden", "data/link", "data/late/d"]);
    let name = numbers.one_of(&["cases.yaml", "more.yaml", "cases.jsonl", "notes.txt"]);
    let path = fixture.path(directory).join(name);
    let id = numbers.one_of(&["a", "b", "c", "d"]);
    let text = match name {
        "cases.jsonl" => format!("{{\"id\": \"{id}\", \"criteria\": \"Polite.\", \"input\": \"Hi\"}}\n"),
        _ => format!("- {{ id: {id}, criteria: Polite., input: Hi }}\n"),
    };
    let kind = numbers.below(8);
    match kind {
        0 if path.exists() => fs::remove_file(&path).expect("deleted"),
        // The fixture keeps `data/a`, which a link may lead to.
        1 if directory != "data" && directory != "data/a" && path.parent().is_some_and(Path::is_dir) => {
            let parent = path.parent().expect("a directory");
            if parent.is_symlink() { fs::remove_file(parent) } else { fs::remove_dir_all(parent) }.expect("deleted");
        }
        2 if path.exists() => fs::rename(&path, path.with_file_name("renamed.yaml")).expect("renamed"),
        #[cfg(unix)]
        3 if fixture.path("data/link").symlink_metadata().is_err() => {
            std::os::unix::fs::symlink("a", fixture.path("data/link")).expect("linked");
        }
        #[cfg(unix)]
        4 if fixture.path("data/linked.yaml").symlink_metadata().is_err() => {
            std::os::unix::fs::symlink("a/cases.yaml", fixture.path("data/linked.yaml")).expect("linked");
        }
        5 => fs::create_dir_all(path.with_file_name("empty")).expect("created"),
        _ => {
            fs::create_dir_all(path.parent().expect("a directory")).expect("created");
            fs::write(&path, text).expect("written");
        }
    }
    format!("outside {kind} {directory}/{name} {id}")
}

/// Changes something, and returns what it was.
fn change(fixture: &Fixture, numbers: &mut Numbers) -> String {
    if numbers.below(4) == 0 {
        return change_outside(fixture, numbers);
    }
    let (path, is_task) = some_case(numbers);
    let whole = fixture.path(path.to_str().expect("UTF-8"));
    let written = text(numbers, &path, is_task);
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("written");
    };
    let kind = numbers.below(20);
    match kind {
        // As most editors save: another file takes the place of the old one, and something may be left next to it.
        0..=1 => {
            write(&whole.with_extension("new~"), &written);
            fs::rename(whole.with_extension("new~"), &whole).expect("renamed");
            if numbers.below(3) == 0 {
                write(&whole.with_file_name(".case.swp"), &written);
            }
        }
        2 if whole.exists() => fs::remove_file(&whole).expect("deleted"),
        3 if whole.exists() => {
            let to = if is_task { whole.with_file_name("z.json") } else { whole.with_file_name("case.yml") };
            fs::rename(&whole, to).expect("renamed");
        }
        // The same length and time: a clock that was set back, or a tool that keeps times. Windows has no other time.
        4 if whole.exists() && cfg!(unix) => {
            let time = fs::metadata(&whole).and_then(|metadata| metadata.modified()).expect("a time");
            let other: String =
                fs::read_to_string(&whole).expect("text").replace("ello", "olle").replace("Polite", "Direct");
            write(&whole, &other);
            set_time(&whole, time);
        }
        5 => write(&fixture.path("suites/yaml/more.md"), numbers.one_of(&["Be strict.", "Be kind."])),
        6 => write(
            &fixture.path("suites/yaml/_shared/include.yaml"),
            numbers.one_of(&["- { type: contains, value: a }\n", "- { type: b }\n"]),
        ),
        7 => write(&whole.with_file_name("more.md"), "Be near."),
        8 => write(
            &whole.with_file_name(numbers.one_of(&["data.yaml", "workspace/a.txt", "notes.txt", "case.yml"])),
            "a: 1\n",
        ),
        9 => write(
            &fixture.path("suites/yaml/EVAL.yaml"),
            numbers.one_of(&["name: yaml\n", "name: yaml\nexecution: { trials: 2 }\n", "names: x\n"]),
        ),
        10 => write(&fixture.path("suites/yaml/template/a.txt"), &written),
        11 => drop(fs::remove_file(whole.with_file_name("data.yaml"))),
        _ => write(&whole, &written),
    }
    if whole.exists() && kind != 4 && numbers.below(8) > 0 {
        // Clocks jump, in both directions.
        let jump = Duration::from_secs(60 + numbers.below(1_000_000) as u64);
        let now = SystemTime::now();
        set_time(&whole, if numbers.below(8) == 0 { now + jump } else { now - jump });
    }
    format!("{kind} {}", path.display())
}

fn set_time(path: &Path, time: SystemTime) {
    open_for_times(path).and_then(|file| file.set_modified(time)).expect("a time");
}

fn calls(fixture: &Fixture) -> [Call; 3] {
    SUITES.map(|suite| {
        let mut call = fixture.call(suite);
        call.graders(&["is_nice"]);
        call
    })
}

/// What rustc is told, with a cache and without.
fn outcome(fixture: &Fixture, cache: bool) -> Vec<String> {
    let mut told = Vec::new();
    for mut call in calls(fixture) {
        // Embedded files are one archive with a cache, and single files without.
        call.binding.embed = false;
        let expansion = if cache { call.expand() } else { call.expand_uncached() };
        told.push(expansion.tokens().to_string());
        told.extend(texts(&expansion, false));
        told.extend(expansion.recorded_warnings.iter().map(|(name, text)| format!("{name}: {text}")));
    }
    told
}

/// Number of histories in the gate.
const HISTORIES: u64 = 30;

/// Number of packages that change in turn: they wait for the clock together.
const PACKAGES: u64 = 20;

/// `TEST_CACHE_HISTORIES` is their number, `TEST_CACHE_SEED` the first of them.
#[test]
fn no_history_of_edits_renames_deletions_and_clock_jumps_is_seen_in_the_result() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let histories = number("TEST_CACHE_HISTORIES").unwrap_or(HISTORIES);
    let first = number("TEST_CACHE_SEED").unwrap_or(1);
    let seeds: Vec<u64> = (first..first + histories).collect();
    let (mut done, mut parts, mut changes) = (0, 0, 0);
    for seeds in seeds.chunks(usize::try_from(PACKAGES).expect("small")) {
        let mut all: Vec<History> = seeds.iter().map(|seed| History::new(*seed)).collect();
        for _ in 0..6 {
            all.iter_mut().for_each(History::change);
            wait_for_clock();
            all.iter_mut().for_each(History::compare);
        }
        parts += all.iter().map(|history| history.parts).sum::<usize>();
        changes += all.iter().map(|history| history.changes.len()).sum::<usize>();
        done += all.len();
        if done % 500 == 0 {
            eprintln!("{done} histories, {changes} changes, {parts} expansions that read single cases");
        }
    }
    assert!(parts * 4 > done, "only {parts} expansions of {done} histories read single cases");
}

/// A package, and what happened to its files.
struct History {
    seed: u64,
    numbers: Numbers,
    fixture: Fixture,
    changes: Vec<String>,
    /// Number of expansions that read single cases.
    parts: usize,
}

impl History {
    fn new(seed: u64) -> Self {
        let numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let fixture = suites();
        outcome(&fixture, true);
        Self { seed, numbers, fixture, changes: Vec::new(), parts: 0 }
    }

    fn change(&mut self) {
        for _ in 0..=self.numbers.below(2) {
            self.changes.push(change(&self.fixture, &mut self.numbers));
        }
    }

    /// Compares expansions with a cache and without.
    fn compare(&mut self) {
        let Self { seed, numbers, fixture, changes, parts } = self;
        if numbers.below(4) == 0 {
            // Two test programs at once, while a file changes.
            thread::scope(|scope| {
                let threads = [(); 2].map(|()| scope.spawn(|| outcome(fixture, true)));
                changes.push(change(fixture, numbers));
                threads.into_iter().for_each(|thread| drop(thread.join().expect("no panic")));
            });
        } else {
            let edited = |call: &Call| read(call) == Some(Read::EditedCases);
            *parts += calls(fixture).iter().filter(|call| edited(call)).count();
        }
        assert_eq!(outcome(fixture, true), outcome(fixture, false), "seed {seed}: {changes:?}");
    }
}
