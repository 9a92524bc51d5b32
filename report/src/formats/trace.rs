//! The run in time, as Chrome's trace events, which Perfetto shows and queries.

use std::io::{self, Write};

use evalsuite_records::record::Status;
use evalsuite_schema::json::{Value, json};

use super::ids::{suites_and_targets, trial_path};
use super::steps::steps;
use super::timeline::{Interval, Timeline};
use crate::run_data::{CaseData, Problem, RunData, TrialData, TrialFiles};

/// Writes the run as Chrome trace JSON, which <https://ui.perfetto.dev> opens: a process per suite and target, a thread for each trial
/// that ran at the same time as others, and in it trials, their phases, calls of tools, graders and judges as nested slices. Times are
/// microseconds since the first trial started. Trials that did not start are left out. Returns the files of the run that could not
/// be read.
pub(super) fn trace(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let groups = suites_and_targets(run).into_iter();
    let groups = groups.map(|(suite, target, cases)| (format!("{suite} @ {target}"), slices(&cases)));
    let groups: Vec<(String, Vec<Slice<'_>>)> = groups.collect();
    let first = groups.iter().filter_map(|(_, trials)| trials.first()).map(|trial| trial.interval.start).min();
    let first = first.unwrap_or_default();
    write!(out, "{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[", json!({ "run": run.run_id }))?;
    let mut separator = "\n";
    let mut add = |event: Value, out: &mut dyn Write| {
        let written = write!(out, "{separator}{event}");
        separator = ",\n";
        written
    };
    for (process, (name, trials)) in groups.iter().enumerate() {
        let process = process + 1;
        add(json!({ "ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": { "name": name } }), out)?;
        let workers = trials.iter().map(|trial| trial.worker).max().map_or(0, |last| last + 1);
        for worker in 1..=workers {
            let name = format!("worker {worker}");
            add(
                json!({ "ph": "M", "name": "thread_name", "pid": process, "tid": worker, "args": { "name": name } }),
                out,
            )?;
        }
        for trial in trials {
            for (category, name, interval, args) in parts(run, trial, &mut problems) {
                let (start, duration) = (interval.start.saturating_sub(first), interval.end - interval.start);
                let event = json!({
                    "ph": "X", "cat": category, "name": name, "pid": process, "tid": trial.worker + 1,
                    "ts": start, "dur": duration, "args": args,
                });
                add(event, out)?;
            }
        }
    }
    out.write_all(b"\n]}\n")?;
    Ok(problems)
}

/// A trial that started, and the thread on which it is shown.
struct Slice<'a> {
    trial: &'a TrialData,
    interval: Interval,
    worker: usize,
}

/// The trials of these cases in the order in which they started, each on the first thread that is free.
fn slices<'a>(cases: &[&'a CaseData]) -> Vec<Slice<'a>> {
    let trials = cases.iter().flat_map(|case| &case.trials).filter(|trial| !trial.record.started_at.is_empty());
    let mut slices: Vec<Slice<'a>> =
        trials.map(|trial| Slice { trial, interval: Timeline::new(&trial.record, &[]).trial, worker: 0 }).collect();
    slices.sort_by_key(|slice| (slice.interval.start, trial_path(slice.trial)));
    let mut free_from: Vec<u64> = Vec::new();
    for slice in &mut slices {
        slice.worker = free_from.iter().position(|free| *free <= slice.interval.start).unwrap_or(free_from.len());
        free_from.resize(free_from.len().max(slice.worker + 1), 0);
        free_from[slice.worker] = slice.interval.end;
    }
    slices
}

type Part = (&'static str, String, Interval, Value);

/// The trial and its parts, each after what contains it.
fn parts(run: &RunData, slice: &Slice<'_>, problems: &mut Vec<Problem>) -> Vec<Part> {
    let record = &slice.trial.record;
    let files = TrialFiles::read_without_texts(run, slice.trial, problems);
    let steps = files.trajectory.as_ref().map(steps).unwrap_or_default();
    let timeline = Timeline::new(record, &steps);
    let name = match record.trials_planned {
        0 | 1 => record.case_id.clone(),
        _ => format!("{} #{}", record.case_id, record.trial + 1),
    };
    let reason = record.reason.as_ref().filter(|_| record.outcome != Status::Passed);
    let args = json!({
        "outcome": record.outcome,
        "score": record.score,
        "reason": reason.map(|reason| &reason.message),
        "model": record.model,
        "tokens": record.usage.map(|usage| usage.input + usage.cached + usage.output),
        "cost_usd": record.cost_usd,
        "location": record.location.to_string(),
        "record": trial_path(slice.trial),
    });
    let mut parts = vec![("trial", name, timeline.trial, args)];
    parts.extend(timeline.phases.iter().map(|(name, phase)| ("phase", (*name).to_owned(), *phase, json!({}))));
    for (step, (_, intervals)) in steps.iter().zip(&timeline.steps) {
        for (call, interval) in step.calls.iter().zip(intervals) {
            let args = json!({ "arguments": call.arguments, "is_error": call.is_error });
            parts.push(("tool", call.tool.to_owned(), *interval, args));
        }
    }
    for (grader, interval) in record.graders.iter().zip(&timeline.graders) {
        let (state, verdict, value) = (grader.state, grader.verdict, grader.value);
        let args =
            json!({ "state": state, "verdict": verdict, "value": value, "location": grader.location.to_string() });
        parts.push(("grader", grader.name.clone(), *interval, args));
        if let Some(judge) = &grader.judge {
            let args = json!({ "model": judge.model, "calls": judge.attempts, "cost_usd": judge.cost_usd });
            parts.push(("judge", judge.name.clone(), *interval, args));
        }
    }
    parts
}
