//! What `watch` knows: suites, programs, results, and what is under way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::Sender;
use std::thread;

use evalsuite_schema::diagnostics::counted;

use super::file_watcher::is_of_build;
use super::programs::{BuildProblems, Built, Program, TestBuild};
use super::suites::{Suites, Touched};
use super::test_process;
use super::verdicts::{Event, Verdict, Verdicts};
use crate::platform::exit_status::Result;

pub(super) struct WatchState {
    pub(super) suites: Suites,
    pub(super) verdicts: Verdicts,
    pub(super) build_problems: BuildProblems,
    pub(super) filters: Vec<String>,
    /// The signal that asked `watch` to end.
    pub(super) end_signal: Option<i32>,
    programs: Vec<Program>,
    /// The files that the compiler read in the last build that succeeded.
    sources: BTreeSet<PathBuf>,
    activity: Activity,
    /// Cases that run as soon as nothing else is under way.
    wanted: BTreeSet<Touched>,
    /// Cases that run after those.
    wanted_later: BTreeSet<Touched>,
    /// Whether other files than those in Rust have changed since the last build began.
    is_changed: bool,
    /// Whether a Rust file has changed since the last build that succeeded began.
    is_edited: bool,
    /// Whether there is something to build as soon as nothing else is under way.
    is_outdated: bool,
    build: TestBuild,
    events: Sender<Event>,
}

/// What is under way.
enum Activity {
    Nothing,
    Build,
    /// Test processes by their indices.
    Tests(BTreeMap<usize, Child>),
}

impl WatchState {
    pub(super) fn new(suites: Suites, build: TestBuild, filters: Vec<String>, events: Sender<Event>) -> Self {
        Self {
            suites,
            verdicts: Verdicts::default(),
            build_problems: BuildProblems::default(),
            filters,
            end_signal: None,
            programs: Vec::new(),
            sources: BTreeSet::new(),
            activity: Activity::Nothing,
            wanted: BTreeSet::new(),
            wanted_later: BTreeSet::new(),
            is_changed: false,
            is_edited: false,
            is_outdated: true,
            build,
            events,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(self.activity, Activity::Nothing)
    }

    /// What is under way, in a word or two.
    pub(super) fn activity(&self) -> &'static str {
        match self.activity {
            Activity::Nothing => "waiting for changes",
            Activity::Build => "building",
            Activity::Tests(_) => "running",
        }
    }

    /// `2 passed, 1 FAILED, 0 skipped; 3 problems`.
    pub(super) fn summary(&self) -> String {
        let of = |verdict: Verdict| format!("{} {}", self.verdicts.count(verdict), verdict.word());
        let problems = self.suites.diagnostics().len() + self.build_problems.lines.len();
        let counts = [Verdict::Passed, Verdict::Failed, Verdict::Skipped].map(of).join(", ");
        let outdated = match self.verdicts.count(Verdict::Outdated) {
            0 => String::new(),
            outdated => format!(", {outdated} outdated"),
        };
        format!("{counts}{outdated}; {}", counted(problems, "problem"))
    }

    /// Checks what files changed; returns whether one of them is a file of a suite or of the build.
    pub(super) fn change(&mut self, files: &BTreeSet<PathBuf>) -> Result<bool> {
        // What is read of suites is read again by the programs.
        let needs_build =
            |file: &PathBuf| is_of_build(file) || self.sources.contains(file) && !self.suites.read_again(file);
        let (built, others): (Vec<&PathBuf>, Vec<&PathBuf>) = files.iter().partition(|file| needs_build(file));
        if !built.is_empty() {
            self.is_outdated = true;
            self.is_edited = true;
            self.verdicts.outdate();
            // The suites that the sources include are found while the compiler works.
            self.start()?;
            self.suites = Suites::find()?;
        }
        self.is_changed |= !others.is_empty();
        let touched = self.suites.change(files);
        let is_ours = !built.is_empty() || !touched.is_empty() || files.iter().any(|file| self.suites.contain(file));
        self.wanted.extend(touched);
        if !self.suites.have_errors() {
            let existing = self.suites.all();
            self.verdicts.retain(|case| existing.contains(case));
        }
        Ok(is_ours)
    }

    /// Runs every case.
    pub(super) fn want_all(&mut self) {
        self.wanted.extend(self.suites.all());
    }

    /// Runs the cases again that failed.
    pub(super) fn want_failures(&mut self) {
        self.wanted.extend(self.verdicts.failed().cloned());
    }

    /// Starts what there is to do, if nothing is under way: first a build, then tests.
    pub(super) fn start(&mut self) -> Result<()> {
        if !self.is_idle() {
            return Ok(());
        }
        if self.is_outdated {
            // With an error in a suite, nothing can be built, and the programs are not those of the sources: cases wait for the build.
            if self.suites.have_errors() {
                return Ok(());
            }
            self.is_outdated = false;
            self.is_changed = false;
            self.activity = Activity::Build;
            let (build, known, events) = (self.build.clone(), self.programs.clone(), self.events.clone());
            thread::spawn(move || {
                // The receiver is gone when the program ends.
                let _ = events.send(Event::Built(build.run(&known)));
            });
            return Ok(());
        }
        // The programs are not those of the sources. The cases run after the next build.
        if !self.build_problems.text.is_empty() {
            return Ok(());
        }
        let first = std::mem::take(&mut self.wanted);
        self.wanted_later.retain(|case| !first.contains(case));
        self.run_tests(&first)?;
        if self.is_idle() {
            let later = std::mem::take(&mut self.wanted_later);
            self.run_tests(&later)?;
        }
        Ok(())
    }

    /// Runs cases in the programs, also those that are new since the build.
    fn run_tests(&mut self, wanted: &BTreeSet<Touched>) -> Result<()> {
        let mut children = BTreeMap::new();
        let included = self.suites.included();
        let is_new = |case: &&Touched| included.contains(*case) && self.suites.is_named(case, &self.filters);
        let wanted_new: BTreeSet<Touched> = wanted.iter().filter(is_new).cloned().collect();
        for program in &self.programs {
            let (tests, new) = (program.tests(wanted, &self.filters), program.new_tests(&wanted_new));
            let commands = [
                (&tests, test_process::existing_tests(program, &tests, self.is_changed)),
                (&new.tests, test_process::new_tests(program, &new, &self.suites)),
            ];
            for (tests, command) in commands.into_iter().filter(|(tests, _)| !tests.is_empty()) {
                let index = children.len();
                self.verdicts.start(program, tests);
                children.insert(index, test_process::start(command, program, index, &self.events)?);
            }
        }
        if !children.is_empty() {
            self.activity = Activity::Tests(children);
        }
        Ok(())
    }

    pub(super) fn built(&mut self, built: Result<Result<Built, BuildProblems>>) -> Result<()> {
        self.activity = Activity::Nothing;
        match built? {
            Ok(Built { programs, sources }) => {
                self.build_problems = BuildProblems::default();
                self.sources = sources;
                if !self.is_outdated && std::mem::take(&mut self.is_edited) {
                    self.want_cases_of_edit(&programs);
                }
                // An edit while it was built needs another build. That one is compared with the programs whose results are known, or what
                // this one has changed would count as unchanged.
                if !self.is_outdated || self.programs.is_empty() {
                    self.programs = programs;
                }
            }
            Err(problems) => {
                self.build_problems = problems;
                // The build began before the errors were known.
                self.is_outdated |= self.suites.have_errors();
            }
        }
        Ok(())
    }

    /// Runs the cases of programs that an edit changed: first those that failed or are new, then the others.
    fn want_cases_of_edit(&mut self, programs: &[Program]) {
        for program in programs {
            if self.programs.iter().any(|known| known.is_same_build(program)) {
                self.verdicts.confirm(program);
                continue;
            }
            for (test, case) in program.tests_of_cases() {
                match self.verdicts.last_of(program, &test.test) {
                    None | Some(Verdict::Failed) => self.wanted.insert(case),
                    Some(_) => self.wanted_later.insert(case),
                };
            }
        }
    }

    pub(super) fn program_ended(&mut self, index: usize) -> Result<()> {
        let Activity::Tests(children) = &mut self.activity else { return Ok(()) };
        if let Some(mut child) = children.remove(&index) {
            child.wait()?;
        }
        if children.is_empty() {
            self.activity = Activity::Nothing;
            self.verdicts.end_all();
        }
        Ok(())
    }

    /// Ends the test programs that run.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.build.stop();
        if let Activity::Tests(children) = &mut self.activity {
            for child in children.values_mut() {
                child.kill()?;
                child.wait()?;
            }
        }
        Ok(())
    }
}
