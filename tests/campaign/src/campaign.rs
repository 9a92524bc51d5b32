//! The whole campaign, and the table of what it did.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;
use std::{fs, io, thread};

use evalsuite_tests::large_suites::LARGE_SUITES;

use crate::findings::Findings;
use crate::fuzz::{Job, LARGE, TARGETS};
use crate::{attacks, faults, fuzz, kills, reruns, runs};

/// How much of everything is done.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Executions of the loader with mutated suites; the other targets have their share.
    pub loads: u64,
    /// Test processes that are killed.
    pub kills: usize,
    /// Test processes that run again with one run id.
    pub reruns: usize,
    /// Calls that fail.
    pub faults: usize,
    /// One of how many attacks is run.
    pub every_attack: usize,
    /// One of how many attacks on run directories is run.
    pub every_run: usize,
}

/// What is done in CI.
pub const SHORT: Extent = Extent { loads: 4_000, kills: 25, reruns: 24, faults: 19, every_attack: 6, every_run: 11 };
/// What one command does.
pub const LONG: Extent =
    Extent { loads: 10_000_000, kills: 1_200, reruns: 20_000, faults: 400, every_attack: 1, every_run: 1 };

/// The parts of the campaign.
pub const PARTS: [&str; 6] = ["fuzz", "kills", "reruns", "faults", "attacks", "runs"];

/// Names of the targets of the part `fuzz`, which can be run as parts of their own.
pub fn fuzz_targets() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|(target, _)| *target)
}

/// What the campaign did: a table in Markdown, and the findings.
#[derive(Debug)]
pub struct Table {
    /// The table.
    pub text: String,
    /// One line each.
    pub findings: Vec<String>,
}

/// Runs parts of the campaign with `program`, this program. Files of findings go to the directory `kept`.
///
/// # Errors
///
/// If a process cannot be started, or there is no C compiler.
pub fn run(program: &Path, parts: &[&str], extent: Extent, seed: u64, kept: &Path) -> io::Result<Table> {
    let mut table = Table { text: String::new(), findings: Vec::new() };
    let is_wanted = |part: &str| parts.contains(&part);
    table.line("| what | number | findings | longest | most memory | time |");
    table.line("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (target, share) in TARGETS.iter().filter(|(target, _)| is_wanted("fuzz") || is_wanted(target)) {
        let began = Instant::now();
        let to = match *target {
            // One in so many of those that are made, as of attacks.
            LARGE => LARGE_SUITES.len().div_ceil(extent.every_attack) as u64,
            _ => (extent.loads * share).div_ceil(1_000),
        };
        let job = Job { target: (*target).to_owned(), seed, from: 0, to, findings: kept.to_owned() };
        let measured = fuzz::run(program, &job)?;
        let longest = format!("{:.1} ms CPU", as_number(measured.longest_us) / 1_000.0);
        let largest = format!("{:.1} MiB", as_number(measured.largest) / as_number(1 << 20));
        let words = target.replace('-', " ");
        let what = if *target == LARGE { words } else { format!("mutated {words}") };
        let executions = usize::try_from(measured.executions).unwrap_or(usize::MAX);
        table.row(&what, executions, &measured.findings, [&longest, &largest], began);
    }
    if is_wanted("kills") {
        let (began, mut findings) = (Instant::now(), Findings::new(kept));
        let (killed, runs) = kills::run(program, extent.kills, seed, &mut findings)?;
        table.row(&format!("kills, in {runs} runs"), killed, &findings.lines, ["", ""], began);
    }
    if is_wanted("reruns") {
        let (began, mut findings) = (Instant::now(), Findings::new(kept));
        let started = reruns::run(program, extent.reruns, seed, &mut findings)?;
        table.row("processes that run again", started, &findings.lines, ["", ""], began);
    }
    if is_wanted("faults") {
        let (began, mut findings) = (Instant::now(), Findings::new(kept));
        let faults = faults::run(program, extent.faults, seed, &mut findings)?;
        table.row("calls that fail", faults, &findings.lines, ["", ""], began);
    }
    if is_wanted("attacks") {
        let (began, mut findings) = (Instant::now(), Findings::new(kept));
        let attacked = attacks::run(program, extent.every_attack, &mut findings)?;
        let longest = format!("{:.1} s", attacked.longest.as_secs_f64());
        let largest = format!("{} MiB", attacked.largest >> 10);
        table.row("hostile agents", attacked.attacks, &findings.lines, [&longest, &largest], began);
    }
    if is_wanted("runs") {
        let (began, mut findings) = (Instant::now(), Findings::new(kept));
        let attacked = runs::run(program, extent.every_run, &mut findings)?;
        let longest = format!("{:.1} s", attacked.longest.as_secs_f64());
        let largest = format!("{} MiB", attacked.largest >> 10);
        table.row("hostile run directories", attacked.attacks, &findings.lines, [&longest, &largest], began);
    }
    table.line(&format!("\nSeed {seed}, on {}.", machine()));
    Ok(table)
}

impl Table {
    fn row(&mut self, what: &str, number: usize, findings: &[String], [longest, largest]: [&str; 2], began: Instant) {
        let (count, time) = (findings.len(), began.elapsed().as_secs());
        let number = grouped(number);
        self.line(&format!("| {what} | {number} | {count} | {longest} | {largest} | {time} s |"));
        for finding in findings {
            eprintln!("finding: {finding}");
        }
        self.findings.extend_from_slice(findings);
    }

    /// Adds a line, which is shown at once: the campaign takes long.
    fn line(&mut self, line: &str) {
        eprintln!("{line}");
        // Writing to a text cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}

/// A number with commas between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[allow(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
fn as_number(value: u64) -> f64 {
    value as f64
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) { "a debug build" } else { "a release build" };
    format!("{} × {}, Linux {}, {build}", threads, model.trim_start_matches([' ', '\t', ':']), system.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 12, 123, 1_234, 10_000_000].map(grouped), ["0", "12", "123", "1,234", "10,000,000"]);
    }
}
