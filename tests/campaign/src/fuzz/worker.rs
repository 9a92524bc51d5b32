//! The process that executes a target.

use std::any::Any;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;
use std::{fs, io, panic};

use cpu_time::ProcessTime;
use fastrand::Rng;
use peak_alloc::PeakAlloc;

use super::targets::{Input, Target};
use super::{Job, finding_directory, targets};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Most processor time that an execution may take. In debug builds, the engine of patterns is not optimised either: it takes most of the
/// 11 to 14 s of the longest one.
const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 30 } else { 1 });
/// Most memory that an execution may take, in bytes.
const LARGEST: usize = 256 << 20;
/// Findings that are written; all are counted.
const WRITTEN: usize = 20;

/// The first panic of an execution, on whatever thread.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Numbers of a worker, which its watchdog reads while it runs and after its death.
pub(super) struct State(File);

/// Their order in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// The execution that runs, or the one after the last.
    pub(super) index: u64,
    pub(super) longest_us: u64,
    pub(super) largest: u64,
}

impl State {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        File::options().create(true).truncate(false).read(true).write(true).open(path).map(Self)
    }

    pub(super) fn write(&self, numbers: Numbers) -> io::Result<()> {
        let mut bytes = [0; 24];
        for (slot, number) in bytes.chunks_exact_mut(8).zip([numbers.index, numbers.longest_us, numbers.largest]) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        self.0.write_all_at(&bytes, 0)
    }

    pub(super) fn read(&self) -> io::Result<Numbers> {
        let mut bytes = [0; 24];
        self.0.read_exact_at(&mut bytes, 0)?;
        let number = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        Ok(Numbers { index: number(0), longest_us: number(8), largest: number(16) })
    }
}

/// Executes a job, and prints one line per finding. `state` is a file with the numbers of the watchdog.
///
/// # Errors
///
/// If a file cannot be written.
pub fn work(job: &Job, state: &Path) -> io::Result<ExitCode> {
    let state = State::create(state)?;
    let scratch = scratch()?;
    let mut target = targets::open(&job.target, scratch.path())?;
    panic::set_hook(Box::new(|info| {
        let mut slot = PANIC.lock().unwrap_or_else(|error| error.into_inner());
        let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        slot.get_or_insert_with(|| format!("panic{place}: {}", payload(info.payload())));
    }));
    let mut numbers = Numbers::default();
    let mut found = 0;
    for index in job.from..job.to {
        numbers.index = index;
        state.write(numbers)?;
        let input = input_of(&*target, job.seed, index);
        target.prepare(&input)?;
        MEMORY.reset_peak_usage();
        let (before, clock) = (MEMORY.current_usage(), ProcessTime::now());
        let caught = catch_unwind(AssertUnwindSafe(|| target.run(&input)));
        let (took, memory) = (clock.elapsed(), MEMORY.peak_usage().saturating_sub(before));
        numbers.longest_us = numbers.longest_us.max(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        numbers.largest = numbers.largest.max(u64::try_from(memory).unwrap_or(u64::MAX));
        let panicked = PANIC.lock().unwrap_or_else(|error| error.into_inner()).take();
        let problem = match (panicked, caught) {
            (Some(panic), _) => Some(panic),
            (None, Err(_)) => Some("panic without a message".to_owned()),
            (None, Ok(Err(problem))) => Some(problem),
            (None, Ok(Ok(()))) if took > LONGEST => Some(format!("took {took:?} of processor time")),
            (None, Ok(Ok(()))) if memory > LARGEST => Some(format!("took {} MiB of memory", memory >> 20)),
            (None, Ok(Ok(()))) => None,
        };
        if let Some(problem) = problem {
            found += 1;
            if found <= WRITTEN {
                write_finding(job, index, &problem, &input, &*target)?;
            }
            println!("{}", line(job, index, &problem));
        }
    }
    numbers.index = job.to;
    state.write(numbers)?;
    Ok(ExitCode::SUCCESS)
}

/// Executes one input again, `TARGET:SEED:NUMBER`, and keeps it with the findings.
///
/// # Errors
///
/// If there is no such input, or it cannot be written.
pub fn replay(execution: &str, findings: &Path) -> io::Result<ExitCode> {
    let parts: Vec<&str> = execution.split(':').collect();
    let [target, seed, index] = parts.as_slice() else { return Err(io::Error::other("not TARGET:SEED:NUMBER")) };
    let number = |text: &str| text.parse::<u64>().map_err(io::Error::other);
    let (seed, index) = (number(seed)?, number(index)?);
    let job = Job { target: (*target).to_owned(), seed, from: index, to: index + 1, findings: findings.to_owned() };
    println!("{}", write_fatal(&job, index, "replayed")?);
    work(&job, &findings.join("state"))
}

/// In memory, where there is such a place.
fn scratch() -> io::Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
}

/// The input of an execution.
fn input_of(target: &dyn Target, seed: u64, index: u64) -> Input {
    if let Some(input) = target.made(index) {
        return input;
    }
    // Neighbours must not have similar numbers.
    let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index.wrapping_mul(0xd134_2543_de82_ef95));
    Input::random(target, &mut rng)
}

/// One line about a finding.
fn line(job: &Job, index: u64, problem: &str) -> String {
    let problem = problem.lines().next().unwrap_or_default();
    format!("{} (--replay {}:{}:{index}): {problem}", job.target, job.target, job.seed)
}

/// Writes the input of an execution, and what it did.
pub(super) fn write_finding(
    job: &Job,
    index: u64,
    problem: &str,
    input: &Input,
    target: &dyn Target,
) -> io::Result<()> {
    let directory = finding_directory(&job.findings, &job.target, job.seed, index);
    fs::create_dir_all(&directory)?;
    let seed = &target.seeds()[input.seed];
    for (number, file) in seed.files.iter().enumerate() {
        let bytes = if number == input.file { &input.bytes } else { &file.bytes };
        let path = directory.join("input").join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(&directory))?;
        fs::write(path, bytes)?;
    }
    let changed = seed.files.get(input.file).map_or("", |file| file.path.as_str());
    fs::write(
        directory.join("finding.txt"),
        format!("{}\nchanged file: {changed}\n{problem}\n", line(job, index, problem)),
    )
}

/// Writes the input of an execution that ended the process, or did not end.
pub(super) fn write_fatal(job: &Job, index: u64, problem: &str) -> io::Result<String> {
    let scratch = scratch()?;
    let target = targets::open(&job.target, scratch.path())?;
    write_finding(job, index, problem, &input_of(&*target, job.seed, index), &*target)?;
    Ok(line(job, index, problem))
}

/// The text of a panic.
fn payload(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("?")
}
