//! Random schedules of what programs do with spans while agents run: in which order a program makes, enters, passes on and drops spans,
//! waits, spawns, and sets subscribers, no span of it is lost, none is in the transcript of another trial, and nothing panics.
//!
//! A process has one subscriber for all threads, so a few trials share a process, one of which sets it at a random point. As many
//! schedules as `TEST_SPAN_SCHEDULES` says are tried, else 300.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{env, thread};

use tracing::{Id, Instrument, Span, Subscriber, info, info_span};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

use crate::agents::spans::{Trace, capture_layer};
use crate::platform::time_limit::Cancel;

const TEST: &str = "agents::spans::tests::schedules::no_schedule_panics_or_loses_or_mixes_up_spans";
const SEED: &str = "TEST_SPAN_SCHEDULE";
const TRIALS: u64 = 20;
const AT_A_TIME: u64 = 4;
const STEPS: u64 = 12;

/// The layer of the program: counts the ends of its spans that are named by `key`.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<BTreeMap<String, usize>>>);

struct Key(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Output {
    fn on_new_span(&self, attributes: &tracing::span::Attributes<'_>, id: &Id, context: Context<'_, S>) {
        struct Read(Option<String>);
        impl tracing::field::Visit for Read {
            fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
                if field.name() == "gen_ai.tool.name" || field.name() == "key" {
                    self.0 = Some(value.to_owned());
                }
            }
            fn record_debug(&mut self, _: &tracing::field::Field, _: &dyn std::fmt::Debug) {}
        }
        let mut read = Read(None);
        attributes.record(&mut read);
        if let (Some(span), Some(key)) = (context.span(id), read.0) {
            span.extensions_mut().insert(Key(key));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).expect("a span that is closed is known");
        if let Some(Key(key)) = span.extensions().get::<Key>() {
            *self.0.lock().unwrap().entry(key.clone()).or_default() += 1;
        }
    }
}

/// What a process shares.
#[derive(Clone)]
struct Program {
    output: Output,
    /// When the subscriber is set: in this trial, before this step.
    set_at: (u64, u64),
    is_set: Arc<AtomicBool>,
    /// Spans that were made when the subscriber was set, and that therefore have to end in it.
    owed: Arc<Mutex<Vec<String>>>,
}

impl Program {
    fn set(&self) {
        let subscriber = tracing_subscriber::registry().with(self.output.clone()).with(capture_layer());
        subscriber.try_init().expect("no subscriber is set yet");
        self.is_set.store(true, Ordering::SeqCst);
        tracing_subscriber::registry().try_init().expect_err("a second one cannot be set");
    }
}

/// The work of a trial.
struct Work {
    program: Program,
    trial: u64,
    random: u64,
    made: u64,
    /// In a task or thread of its own.
    is_elsewhere: bool,
    /// Names of the tool calls that have to be in the transcript.
    tools: Arc<Mutex<Vec<String>>>,
    held: Vec<Span>,
}

impl Work {
    fn below(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % end
    }

    fn key(&mut self) -> String {
        self.made += 1;
        let is_set = self.program.is_set.load(Ordering::SeqCst);
        let thread = if self.is_elsewhere { "elsewhere" } else { "in call" };
        let key = format!("{}-{} {thread}{}", self.trial, self.made, if is_set { ", set" } else { "" });
        if is_set {
            self.program.owed.lock().unwrap().push(key.clone());
        }
        key
    }

    fn tool(&mut self) -> Span {
        let key = self.key();
        self.tools.lock().unwrap().push(key.clone());
        info_span!("execute_tool", gen_ai.tool.name = key.as_str(), gen_ai.tool.call.result = tracing::field::Empty)
    }

    fn other(&mut self) -> Span {
        info_span!("work", key = self.key().as_str())
    }

    fn any_held(&mut self) -> Option<Span> {
        let number = self.below(self.held.len().max(1) as u64);
        self.held.get(usize::try_from(number).unwrap()).cloned()
    }

    /// Work that needs no waiting.
    fn step(&mut self, depth: u32) {
        match self.below(12) {
            0 => {
                let span = self.tool();
                self.held.push(span);
            }
            1 => {
                let span = self.other();
                self.held.push(span);
            }
            2 => {
                let key = self.key();
                if let Some(parent) = self.any_held() {
                    self.held.push(info_span!(parent: &parent, "child", key = key.as_str()));
                } else if self.is_elsewhere {
                    self.held.push(info_span!("around", key = key.as_str()));
                } else {
                    // On the thread of the call, the trial of a span without parent is known.
                    self.held.push(info_span!(parent: None, "root", key = key.as_str()));
                }
            }
            3 if depth < 3 => {
                let span = self.any_held().unwrap_or_else(|| self.other());
                span.in_scope(|| self.step(depth + 1));
            }
            4 if depth < 3 => {
                let entered = self.tool().entered();
                self.step(depth + 1);
                self.step(depth + 1);
                drop(entered);
            }
            5 => self.held.extend(self.held.last().cloned()),
            6 if !self.held.is_empty() => {
                let number = self.below(self.held.len() as u64);
                drop(self.held.swap_remove(usize::try_from(number).unwrap()));
            }
            7 => {
                let (first, second) = (self.any_held(), self.any_held());
                if let (Some(first), Some(second)) = (first, second) {
                    first.follows_from(&second);
                    first.record("gen_ai.tool.call.result", "found");
                }
            }
            8 => info!(key = self.trial, "an event"),
            // A subscriber for this thread, for a while.
            9 => {
                let theirs = tracing_subscriber::registry().with(Output::default());
                tracing::subscriber::with_default(theirs, || {
                    let outer = info_span!("theirs", key = "theirs").entered();
                    info_span!("theirs", key = "theirs").in_scope(|| info!("theirs"));
                    drop(outer);
                });
            }
            10 => self.held.push(Span::current()),
            _ => {
                let (span, current) = (self.other(), Span::current());
                self.held.push(span.or_current());
                self.held.push(current);
            }
        }
    }

    async fn run(mut self) {
        for step in 0..STEPS {
            if self.program.set_at == (self.trial, step) {
                self.program.set();
            }
            match self.below(8) {
                0 => tokio::task::yield_now().await,
                1 => {
                    let span = self.tool();
                    tokio::task::yield_now().instrument(span).await;
                }
                2 => {
                    let task = self.child();
                    tokio::spawn(task.in_current_span()).await.unwrap();
                }
                3 => {
                    let (task, span) = (self.child(), self.other());
                    let task = tokio::spawn(task.instrument(span));
                    self.step(0);
                    task.await.unwrap();
                }
                // Other threads have no subscriber but the program's.
                4 if self.program.is_set.load(Ordering::SeqCst) => {
                    let (span, held, mut child) = (self.tool(), self.any_held(), self.child_work());
                    let thread = thread::spawn(move || {
                        span.in_scope(|| (0..3).for_each(|_| child.step(0)));
                        drop((held, child));
                    });
                    thread.join().unwrap();
                }
                5 => {
                    let theirs = tracing_subscriber::registry();
                    let guard = tracing::subscriber::set_default(theirs);
                    tokio::task::yield_now().await;
                    drop(guard);
                }
                _ => self.step(0),
            }
        }
    }

    /// Work of this trial elsewhere. It holds no spans of before.
    fn child_work(&mut self) -> Self {
        let random = self.below(u64::MAX >> 33);
        self.made += 1000;
        let made = self.made * 1000;
        Self {
            program: self.program.clone(),
            is_elsewhere: true,
            random,
            made,
            tools: Arc::clone(&self.tools),
            held: Vec::new(),
            ..*self
        }
    }

    fn child(&mut self) -> impl Future<Output = ()> + Send + 'static {
        let mut child = self.child_work();
        async move {
            child.step(0);
            tokio::task::yield_now().await;
            child.step(0);
        }
    }
}

/// The tool calls of a trial, and those in its transcript.
fn trial(program: &Program, random: u64, number: u64) -> (Vec<String>, Vec<String>) {
    let tools = Arc::default();
    let work = Work {
        program: program.clone(),
        trial: number,
        random,
        made: 0,
        is_elsewhere: false,
        tools: Arc::clone(&tools),
        held: vec![],
    };
    let trace = Trace::new("case", 0);
    let polled = trace.clone();
    let cancel = Cancel::default().before_each_poll(move || polled.before_poll());
    trace.within(|| assert!(cancel.block_on(work.run()).unwrap().is_some()));
    let captured = trace.take();
    let missing = captured.missing;
    let messages = captured.messages.unwrap_or_default();
    let mut seen: Vec<_> =
        messages.iter().flat_map(|message| &message.tool_calls).map(|call| call.tool.clone()).collect();
    let mut made = tools.lock().unwrap().clone();
    made.sort();
    seen.sort();
    let lost: Vec<_> = made.iter().filter(|key| !seen.contains(key)).collect();
    assert_eq!((&missing, &lost), (&None, &vec![]), "trial {number} of {made:?}");
    (made, seen)
}

/// A process with some trials.
fn process(seed: u64) {
    let panics = Arc::new(AtomicUsize::new(0));
    let (count, hook) = (Arc::clone(&panics), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        count.fetch_add(1, Ordering::SeqCst);
        hook(info);
    }));
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 33
    };
    let set_at = (next() % (TRIALS + 2), next() % STEPS);
    let (output, is_set) = (Output::default(), Arc::default());
    let program = Program { output: output.clone(), set_at, is_set, owed: Arc::default() };
    if set_at.0 == TRIALS {
        program.set();
    }
    for first in (0..TRIALS).step_by(usize::try_from(AT_A_TIME).unwrap()) {
        let threads: Vec<_> = (first..first + AT_A_TIME)
            .map(|number| {
                let (program, random) = (program.clone(), next());
                thread::spawn(move || trial(&program, random, number))
            })
            .collect();
        for thread in threads {
            let (made, seen) = thread.join().unwrap();
            assert_eq!(made, seen, "the tool calls of a trial, and those in its transcript");
        }
    }
    let ended = output.0.lock().unwrap();
    for key in &*program.owed.lock().unwrap() {
        assert_eq!(ended.get(key), Some(&1), "ends of span {key} in the program's subscriber, set at {set_at:?}");
    }
    assert!(!ended.contains_key("theirs"));
    assert_eq!(panics.load(Ordering::SeqCst), 0, "panics");
}

#[test]
fn no_schedule_panics_or_loses_or_mixes_up_spans() {
    if let Ok(seed) = env::var(SEED) {
        return process(seed.parse().unwrap());
    }
    let schedules = env::var("TEST_SPAN_SCHEDULES").map_or(300, |number| number.parse().unwrap());
    for seed in 0..schedules / TRIALS {
        let mut command = Command::new(env::current_exe().unwrap());
        let output = command.args(["--exact", TEST, "--nocapture"]).env(SEED, seed.to_string()).output().unwrap();
        let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(
            output.status.success() && printed[0].contains("1 passed"),
            "seed {seed}: {}\n{}",
            printed[0],
            printed[1]
        );
    }
}
