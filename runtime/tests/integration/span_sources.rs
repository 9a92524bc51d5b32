//! Spans from wherever an agent makes them: threads and runtimes of its own, tasks, and programs with a subscriber of their own.
//! A process has one subscriber for all threads, so each test has a process.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evalsuite::{CaseReport, Evals, IntoAgent, Report, RunOptions, Status, Trial};
use evalsuite_schema::json::json;
use tokio::runtime::{Builder, Runtime};
use tracing::{Instrument, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

use crate::common::{case_json, grader, in_own_process, run_with, suite};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn tool(name: &str) {
    info_span!("execute_tool", gen_ai.operation.name = "execute_tool", gen_ai.tool.name = name).in_scope(|| ());
}

async fn search_and_book() {
    tool("search");
    tokio::task::yield_now().await;
    tool("book");
}

static OWN: LazyLock<Runtime> = LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).build().unwrap());

/// An agent whose work is done elsewhere, where nobody passes the current span on.
async fn elsewhere(_: &mut Trial<'_>) -> Result<&'static str, BoxError> {
    OWN.spawn(async { tool("search") }).await?;
    std::thread::spawn(|| tool("book")).join().map_err(|_| "the thread panicked")?;
    Ok("done")
}

async fn spawning(_: &mut Trial<'_>) -> Result<&'static str, BoxError> {
    tokio::spawn(search_and_book()).await?;
    Ok("done")
}

fn run<M>(agent: impl IntoAgent<M>, concurrency: usize) -> Report {
    let directory = tempfile::tempdir().unwrap();
    let calls = json!({"tool-trajectory": {"mode": "exact", "expected": [{"tool": "search"}, {"tool": "book"}]}});
    let cases = ["first", "second", "third", "fourth"]
        .map(|id| case_json(id, json!([grader("called", 2, calls.clone())]), json!({})));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases)).with_agent(agent);
    let options = RunOptions::new().with_concurrency(concurrency.try_into().unwrap());
    run_with(&evals, directory.path(), options)
}

fn all_passed(report: &Report) {
    for case in report.cases() {
        assert_eq!(case.status(), Status::Passed, "{:?} {:#?}", case.record().reason, case.trials()[0].graders);
    }
}

/// The message of a case that is an error, because its calls are not known.
fn error(case: &CaseReport) -> &str {
    assert_eq!(case.status(), Status::Error, "{:#?}", case.record());
    &case.record().reason.as_ref().unwrap().message
}

#[test]
fn threads_and_runtimes_of_the_agent_are_seen() {
    in_own_process("span_sources::threads_and_runtimes_of_the_agent_are_seen", || all_passed(&run(elsewhere, 1)));
}

#[test]
fn a_plain_function_may_work_on_its_own_runtime() {
    in_own_process("span_sources::a_plain_function_may_work_on_its_own_runtime", || {
        let agent = |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            OWN.block_on(async { tokio::spawn(search_and_book()).await })?;
            Ok("done")
        };
        all_passed(&run(agent, 1));
    });
}

#[test]
fn spawned_tasks_are_seen_where_one_trial_runs_at_a_time() {
    in_own_process("span_sources::spawned_tasks_are_seen_where_one_trial_runs_at_a_time", || {
        all_passed(&run(spawning, 1))
    });
}

#[test]
fn spans_that_any_of_several_trials_may_have_made_are_an_error() {
    /// Counts the agents that run, so that all of them run at the same time.
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    in_own_process("span_sources::spans_that_any_of_several_trials_may_have_made_are_an_error", || {
        let agent = async |trial: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            RUNNING.fetch_add(1, Ordering::SeqCst);
            while RUNNING.load(Ordering::SeqCst) < 4 {
                tokio::task::yield_now().await;
            }
            let done = spawning(trial).await;
            RUNNING.fetch_add(1, Ordering::SeqCst);
            while RUNNING.load(Ordering::SeqCst) < 8 {
                tokio::task::yield_now().await;
            }
            done
        };
        // Two threads that make the first span of a process at the same time may lose one.
        all_passed(&run(spawning, 1));
        let report = run(agent, 4);
        for case in report.cases() {
            let message = error(case);
            for part in ["8 spans", "execute_tool", "in_current_span", "--test-threads=1"] {
                assert!(message.contains(part), "no {part}: {message}");
            }
        }
    });
}

#[test]
fn instrumented_tasks_are_seen_however_many_trials_run() {
    in_own_process("span_sources::instrumented_tasks_are_seen_however_many_trials_run", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            OWN.spawn(async { tool("search") }.in_current_span()).await?;
            tokio::spawn(async { tool("book") }.in_current_span()).await?;
            Ok("done")
        };
        all_passed(&run(agent, 4));
    });
}

#[test]
fn what_an_earlier_trial_left_behind_is_not_part_of_a_later_one() {
    in_own_process("span_sources::what_an_earlier_trial_left_behind_is_not_part_of_a_later_one", || {
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        let agent = async |trial: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            if LEFT.fetch_add(1, Ordering::SeqCst) == 0 {
                // Begins to work when the first call has ended.
                tokio::spawn(async {
                    while LEFT.load(Ordering::SeqCst) < 2 {
                        tokio::task::yield_now().await;
                    }
                    loop {
                        tool("left behind");
                        std::thread::sleep(Duration::from_millis(1));
                        tokio::task::yield_now().await;
                    }
                });
            }
            let done = spawning(trial).await;
            std::thread::sleep(Duration::from_millis(20));
            done
        };
        all_passed(&run(agent, 1));
    });
}

#[test]
fn a_subscriber_without_the_layer_is_an_error_that_says_what_to_add() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    in_own_process("span_sources::a_subscriber_without_the_layer_is_an_error_that_says_what_to_add", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            ONCE.call_once(tracing_subscriber::fmt::init);
            tokio::task::yield_now().await;
            search_and_book().await;
            Ok("done")
        };
        for case in run(agent, 2).cases() {
            let message = error(case);
            assert!(message.contains("`evalsuite::capture_layer()`"), "{message}");
        }
    });
}

/// Evalsuite looks for a subscriber of the program when one was made, and it may be set just after.
#[test]
fn a_subscriber_that_is_set_just_after_it_was_looked_for_is_an_error() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    in_own_process("span_sources::a_subscriber_that_is_set_just_after_it_was_looked_for_is_an_error", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            ONCE.call_once(|| {
                let subscriber = tracing::Dispatch::new(tracing_subscriber::fmt().finish());
                tool("search");
                tracing::dispatcher::set_global_default(subscriber).unwrap();
            });
            tool("book");
            Ok("done")
        };
        let report = run(agent, 1);
        let message = error(&report.cases()[0]);
        assert!(message.contains("`evalsuite::capture_layer()`"), "{message}");
    });
}

#[test]
fn a_subscriber_of_the_program_with_the_layer_sees_all_threads() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    in_own_process("span_sources::a_subscriber_of_the_program_with_the_layer_sees_all_threads", || {
        let agent = async |trial: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            ONCE.call_once(|| {
                let output = tracing_subscriber::fmt::layer();
                tracing_subscriber::registry().with(output).with(evalsuite::capture_layer()).init();
            });
            tokio::task::yield_now().await;
            elsewhere(trial).await
        };
        all_passed(&run(agent, 1));
    });
}

#[test]
fn an_agent_can_set_a_subscriber_of_its_own_with_the_layer_while_it_runs() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    in_own_process("span_sources::an_agent_can_set_a_subscriber_of_its_own_with_the_layer_while_it_runs", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            // As programs do it: whoever comes first sets it, and it has to work.
            ONCE.call_once(|| tracing_subscriber::registry().with(evalsuite::capture_layer()).init());
            tool("search");
            tokio::task::yield_now().await;
            let span = info_span!("work");
            std::thread::spawn(move || span.in_scope(|| tool("book"))).join().map_err(|_| "the thread panicked")?;
            Ok("done")
        };
        all_passed(&run(agent, 4));
    });
}

/// The setup of `docs/agents.md`.
static TRACING: LazyLock<()> = LazyLock::new(|| {
    let output = tracing_subscriber::fmt::layer().with_test_writer().with_filter(LevelFilter::WARN);
    tracing_subscriber::registry().with(output).with(evalsuite::capture_layer()).init();
});

#[test]
fn the_setup_of_the_guide_works_in_the_first_call_of_a_process() {
    in_own_process("span_sources::the_setup_of_the_guide_works_in_the_first_call_of_a_process", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            LazyLock::force(&TRACING);
            search_and_book().instrument(info_span!("answer")).await;
            Ok("done")
        };
        all_passed(&run(agent, 4));
    });
}

#[test]
fn spans_from_before_the_subscriber_of_the_program_end_without_it() {
    in_own_process("span_sources::spans_from_before_the_subscriber_of_the_program_end_without_it", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            let around = info_span!("around");
            let within = around.in_scope(|| info_span!("within"));
            LazyLock::force(&TRACING);
            search_and_book().instrument(info_span!(parent: &within, "answer")).instrument(within).await;
            Ok("done")
        };
        all_passed(&run(agent, 1));
    });
}

/// Calls of the agent.
static CALLS: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_later_call_may_set_the_subscriber_of_the_program() {
    in_own_process("span_sources::a_later_call_may_set_the_subscriber_of_the_program", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            tool("search");
            if CALLS.fetch_add(1, Ordering::SeqCst) == 2 {
                LazyLock::force(&TRACING);
            }
            // On a thread of evalsuite's runtime.
            tokio::spawn(async { tool("book") }).await?;
            Ok("done")
        };
        all_passed(&run(agent, 1));
    });
}

#[test]
fn a_plain_function_may_set_the_subscriber_of_the_program() {
    in_own_process("span_sources::a_plain_function_may_set_the_subscriber_of_the_program", || {
        let agent = |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            LazyLock::force(&TRACING);
            let answer = info_span!("answer").entered();
            tool("search");
            let span = tracing::Span::current();
            let work = move || info_span!(parent: &span, "work").in_scope(|| tool("book"));
            std::thread::spawn(work).join().map_err(|_| "the thread panicked")?;
            drop(answer);
            Ok("done")
        };
        all_passed(&run(agent, 4));
    });
}

#[test]
fn a_subscriber_that_comes_too_late_is_an_error_that_says_why() {
    in_own_process("span_sources::a_subscriber_that_comes_too_late_is_an_error_that_says_why", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            std::thread::spawn(|| tool("search")).join().map_err(|_| "the thread panicked")?;
            LazyLock::force(&TRACING);
            Ok("done")
        };
        let report = run(agent, 1);
        let message = error(&report.cases()[0]);
        assert!(message.contains("an agent made spans before that on threads of its own"), "{message}");
    });
}

#[test]
fn two_layers_in_one_subscriber_see_each_span_once() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    in_own_process("span_sources::two_layers_in_one_subscriber_see_each_span_once", || {
        let agent = async |_: &mut Trial<'_>| -> Result<&'static str, BoxError> {
            ONCE.call_once(|| {
                let layers = evalsuite::capture_layer().and_then(evalsuite::capture_layer());
                tracing_subscriber::registry().with(layers).init();
            });
            search_and_book().await;
            Ok("done")
        };
        all_passed(&run(agent, 1));
    });
}

#[test]
fn an_agent_that_makes_no_spans_and_records_nothing_is_an_error() {
    in_own_process("span_sources::an_agent_that_makes_no_spans_and_records_nothing_is_an_error", || {
        let report = run(async |_: &mut Trial<'_>| Ok::<_, BoxError>("done"), 1);
        let message = error(&report.cases()[0]);
        assert!(message.contains("`trial.recorder()`") && message.contains("`gen_ai.*`"), "{message}");
        assert!(message.contains("no other span was seen either; spans are missing if "), "{message}");
    });
}

#[test]
fn the_other_spans_of_an_agent_without_known_calls_are_named() {
    in_own_process("span_sources::the_other_spans_of_an_agent_without_known_calls_are_named", || {
        let agent = async |_: &mut Trial<'_>| {
            info_span!("connect").in_scope(|| info_span!("request").in_scope(|| ()));
            Ok::<_, BoxError>("done")
        };
        let report = run(agent, 1);
        let message = error(&report.cases()[0]);
        assert!(message.contains("its spans have no such fields (`connect` and `request`)"), "{message}");
    });
}

#[test]
fn a_subscriber_that_takes_the_place_of_ours_for_a_while_is_told() {
    in_own_process("span_sources::a_subscriber_that_takes_the_place_of_ours_for_a_while_is_told", || {
        let agent = async |_: &mut Trial<'_>| {
            let theirs = tracing_subscriber::registry();
            tracing::subscriber::with_default(theirs, || tool("search"));
            Ok::<_, BoxError>("done")
        };
        let report = run(agent, 1);
        let message = error(&report.cases()[0]);
        assert!(message.contains("a `tracing` subscriber was made during the call"), "{message}");
        assert!(message.contains("`evalsuite::capture_layer()`"), "{message}");
    });
}
