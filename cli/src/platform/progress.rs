//! Progress of work that takes long, on a terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{env, io, thread};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work takes before its progress is shown.
const DELAY: Duration = Duration::from_secs(1);
/// Time between two steps of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// Whether progress is shown: standard error is a terminal that can move its cursor.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The progress of some work, on standard error until it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The thread that shows the bar after a delay, and what ends the thread when it is dropped.
    delayed: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins work, named by what is done: `copying files`.
    pub(crate) fn start(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_message(what);
        bar.set_style(style("{spinner} {msg} ({elapsed})"));
        if !is_live() {
            return Self { bar, delayed: None };
        }
        let (end, ended) = channel();
        let shown = bar.clone();
        let thread = thread::spawn(move || {
            if ended.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, delayed: Some((end, thread)) }
    }

    /// Begins a part of the work that takes this number of steps.
    pub(crate) fn set_steps(&self, what: &'static str, steps: usize) {
        self.bar.set_message(what);
        self.bar.set_length(u64::try_from(steps).unwrap_or(u64::MAX));
        self.bar.set_style(style("{spinner} {msg} {pos}/{len} ({elapsed})"));
    }

    /// A step is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.delayed.take() {
            drop(end);
            // A thread that panicked shows nothing.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of this file is valid")
}
