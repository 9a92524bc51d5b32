//! Records an agent's work from tools, tasks and threads.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use evalsuite_records::record::{Note, Usage, milliseconds};
use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::{Content, Message, PathRef, ToolCall, Value};
use serde::Serialize;

use crate::model::agent_report::{CallPosition, Recording};
use crate::platform::clock::Stopwatch;
use crate::platform::notice;

/// Records what an agent does while a trial runs, also from a tool of a framework, a task or a thread.
///
/// Get one with [`Trial::recorder`](crate::Trial::recorder) and clone it as often as needed. Recordings are ordered by
/// time, and are kept if the agent fails, panics or exceeds its time limit. After the agent's call has ended, nothing
/// is recorded: the first attempt is reported on standard error, and is a note of the trial; a lost call makes graders that read calls errors, and
/// so do lost tokens and cost. In a conversation, a recorder is valid for all turns.
///
/// `message`, `tool_call`, `usage`, `cost_usd` and `log` add to what was recorded before; `set_answer`, `set_model`, `set_state` and
/// `set_metadata` replace the earlier value.
///
/// A tool as frameworks require it, `'static + Send + Sync`:
///
/// ```
/// use evalsuite::{Recorder, Trial};
///
/// struct Search { recorder: Recorder }
///
/// impl Search {
///     async fn call(&self, query: String) -> Result<Vec<String>, std::io::Error> {
///         // Records the call with its argument, its result or error, and how long it took.
///         self.recorder.call_tool("search", &query, async { Ok(vec![format!("about {query}")]) }).await
///     }
/// }
///
/// async fn agent(trial: &mut Trial<'_>) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
///     let search = Search { recorder: trial.recorder() };
///     let prompt = trial.prompt().to_owned();
///     let found = tokio::spawn(async move { search.call(prompt).await }).await??;
///     Ok(found.join(", "))
/// }
/// # fn example(SUITE: &'static evalsuite::EvalSuite) { evalsuite::Evals::new(SUITE).with_agent(agent); }
/// ```
#[derive(Clone)]
pub struct Recorder(Arc<TrialRecording>);

struct TrialRecording {
    case_id: String,
    trial: u32,
    state: Mutex<RecorderState>,
}

#[derive(Default)]
struct RecorderState {
    recording: Recording,
    /// Number of calls of the agent so far, one per turn.
    calls: u64,
    is_open: bool,
    /// What came after the end of a call.
    lost: BTreeSet<Recorded>,
}

/// What a recording adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ToJson, FromJson)]
pub(crate) enum Recorded {
    Calls,
    Tokens,
    Cost,
    Other,
}

/// The note about what is lost.
const TOO_LATE: &str = "something was recorded after the agent's call had ended; it is lost, as is all that follows. Does a task or a thread \
    outlive the call?";

/// Why calls, tokens or cost are not known of an agent whose recording is incomplete.
const LOST_CALLS: &str =
    "the agent's calls are not known: a message or a call was recorded after the agent's call had ended, and is lost";
const LOST_TOKENS: &str = "the tokens are not known: some were recorded after the agent's call had ended, and are lost";
const LOST_COST: &str = "the cost is not known: some of it was recorded after the agent's call had ended, and is lost";

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("case", &self.0.case_id).field("trial", &self.0.trial).finish_non_exhaustive()
    }
}

impl Recorder {
    pub(crate) fn new(case_id: impl Into<String>, trial: u32) -> Self {
        Self(Arc::new(TrialRecording { case_id: case_id.into(), trial, state: Mutex::default() }))
    }

    /// A call of the agent begins.
    pub(crate) fn open(&self) {
        let mut state = self.state();
        state.calls += 1;
        state.is_open = true;
    }

    /// A call of the agent has ended: what was recorded until now.
    pub(crate) fn close(&self) -> Recording {
        let mut state = self.state();
        state.is_open = false;
        std::mem::take(&mut state.recording)
    }

    /// The state, also after a panic of the agent while it was locked.
    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why this is not known, as some of it is lost.
    pub(crate) fn lost(&self, what: Recorded) -> Option<&'static str> {
        let why = match what {
            Recorded::Calls => LOST_CALLS,
            Recorded::Tokens => LOST_TOKENS,
            Recorded::Cost => LOST_COST,
            Recorded::Other => return None,
        };
        self.state().lost.contains(&what).then_some(why)
    }

    /// Everything of which some is lost.
    pub(crate) fn all_lost(&self) -> BTreeSet<Recorded> {
        self.state().lost.clone()
    }

    /// Adds what was lost in the trial that is replayed.
    pub(crate) fn add_lost(&self, lost: &[Recorded]) {
        self.state().lost.extend(lost);
    }

    /// The note of a trial in which something is lost.
    pub(crate) fn note_of_lost(&self) -> Option<Note> {
        (!self.state().lost.is_empty()).then(|| Note::new("recorded_too_late", TOO_LATE))
    }

    /// Records something, or says that it is too late.
    fn record<T>(&self, what: &[Recorded], record: impl FnOnce(&mut Recording) -> T) -> Option<(u64, T)> {
        let mut state = self.state();
        if state.is_open {
            let recorded = record(&mut state.recording);
            return Some((state.calls, recorded));
        }
        let is_first = state.lost.is_empty();
        state.lost.extend(what);
        drop(state);
        if is_first {
            let TrialRecording { case_id, trial, .. } = &*self.0;
            notice::say(&format!("case `{case_id}`, trial {}: {TOO_LATE}", trial + 1));
        }
        None
    }

    /// Records a message of the transcript.
    pub fn message(&self, message: Message) {
        let spent = [(message.usage.is_some(), Recorded::Tokens), (message.cost_usd.is_some(), Recorded::Cost)];
        let spent = spent.into_iter().filter_map(|(is_there, what)| is_there.then_some(what));
        let what: Vec<Recorded> = spent.chain([Recorded::Calls]).collect();
        self.record(&what, |recording| recording.messages.push(message));
    }

    /// Records a tool call. It becomes part of the last message if that is the assistant's, else of a new one.
    pub fn tool_call(&self, call: ToolCall) {
        self.record(&[Recorded::Calls], |recording| recording.tool_call(call));
    }

    /// Records the result of the tool call with this id.
    pub fn tool_result(&self, call_id: impl Into<String>, output: impl Into<Value>) {
        self.message(Message::tool_result(call_id, Content::Data(output.into())));
    }

    /// Records a file that the agent made or gave as an answer: a path relative to the workspace, or below it or the directory of the
    /// trial. It becomes a part of the message that is the answer, and is not a message by itself: an agent that records only files has not
    /// reported its tool calls.
    pub fn file(&self, path: impl AsRef<Path>) {
        let path = path.as_ref().to_string_lossy().into_owned();
        self.record(&[Recorded::Other], |recording| recording.files.push(PathRef::new(path)));
    }

    /// Records tokens used. Several calls add up.
    pub fn usage(&self, usage: Usage) {
        self.record(&[Recorded::Tokens], |recording| recording.usage(usage));
    }

    /// Records a cost in US dollars, at least 0. Several calls add up; an invalid number makes the agent's call an error.
    pub fn cost_usd(&self, cost: f64) {
        self.record(&[Recorded::Cost], |recording| recording.cost_usd(cost));
    }

    /// Records a line of the trial's log.
    pub fn log(&self, line: impl AsRef<str>) {
        self.record(&[Recorded::Other], |recording| recording.log(line.as_ref()));
    }

    /// Sets the answer so far. It is used if the agent ends without returning a text or messages.
    pub fn set_answer(&self, answer: impl Into<String>) {
        self.record(&[Recorded::Other], |recording| recording.outcome.text = Some(answer.into()));
    }

    /// Sets the name of the model that answers.
    pub fn set_model(&self, model: impl Into<String>) {
        self.record(&[Recorded::Other], |recording| recording.outcome.model = Some(model.into()));
    }

    /// Sets a fact about the environment the agent works on, for graders to check.
    pub fn set_state(&self, key: impl Into<String>, value: impl Into<Value>) {
        self.record(&[Recorded::Other], |recording| recording.outcome.state.insert(key.into(), value.into()));
    }

    /// Sets a value of the free-form data in the record.
    pub fn set_metadata(&self, key: impl Into<String>, value: impl Into<Value>) {
        self.record(&[Recorded::Other], |recording| recording.outcome.metadata.insert(key.into(), value.into()));
    }

    /// Marks the transcript as complete: a tool call that was not recorded was not made.
    ///
    /// Without this, an agent that records nothing and returns a text has not reported its tool calls, and graders that check them
    /// are errors.
    pub fn transcript_complete(&self) {
        self.record(&[Recorded::Other], |recording| recording.complete = true);
    }

    /// Runs a tool and records its call: the arguments when it starts, then its result or error and its duration. A
    /// call that does not end, for example because of the trial's time limit, is recorded without a result.
    ///
    /// Arguments and results are recorded as JSON; if they cannot be written as JSON, the text of the error is
    /// recorded.
    ///
    /// # Errors
    ///
    /// Those of the tool.
    pub fn call_tool<T, E, F>(&self, tool: &str, arguments: &(impl Serialize + ?Sized), call: F) -> RecordedCall<F>
    where
        T: Serialize,
        E: fmt::Display,
        F: Future<Output = Result<T, E>>,
    {
        let next = Box::new((self.clone(), ToolCall::new(tool).with_input(json(arguments))));
        RecordedCall { next: Some(next), running: None, call: Box::pin(call) }
    }

    /// The same as [`call_tool`](Self::call_tool) for a tool that is not async.
    ///
    /// # Errors
    ///
    /// Those of the tool.
    pub fn call_blocking_tool<T: Serialize, E: fmt::Display>(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let running = self.begin_tool(ToolCall::new(tool).with_input(json(arguments)));
        let result = call();
        running.end(&result);
        result
    }

    /// Wraps a tool, so that each of its calls is recorded as [`call_tool`](Self::call_tool) does.
    ///
    /// ```
    /// # use evalsuite::{Recorder, Trial};
    /// async fn add((a, b): (i64, i64)) -> Result<i64, String> {
    ///     a.checked_add(b).ok_or_else(|| "overflow".to_owned())
    /// }
    ///
    /// async fn agent(trial: &mut Trial<'_>) -> Result<String, String> {
    ///     let add = trial.recorder().wrap_tool("add", add);
    ///     Ok(add((1, 2)).await?.to_string())
    /// }
    /// # fn example(SUITE: &'static evalsuite::EvalSuite) { evalsuite::Evals::new(SUITE).with_agent(agent); }
    /// ```
    pub fn wrap_tool<A, T, E, C, F>(
        &self,
        tool: &str,
        function: F,
    ) -> impl Fn(A) -> RecordedCall<C> + use<A, T, E, C, F>
    where
        A: Serialize,
        T: Serialize,
        E: fmt::Display,
        C: Future<Output = Result<T, E>>,
        F: Fn(A) -> C,
    {
        let (recorder, tool) = (self.clone(), tool.to_owned());
        move |arguments: A| {
            let written = json(&arguments);
            recorder.call_tool(&tool, &written, function(arguments))
        }
    }

    fn begin_tool(&self, mut call: ToolCall) -> RunningTool {
        let began = Stopwatch::start();
        call.start_time = Some(began.started_at());
        let position = self.record(&[Recorded::Calls], |recording| recording.tool_call(call));
        RunningTool { recorder: self.clone(), position, began }
    }
}

/// The future of [`Recorder::call_tool`]: the tool's future, whose start and end are recorded.
///
/// ```
/// use evalsuite::Recorder;
///
/// async fn read(recorder: &Recorder) -> Result<String, std::fmt::Error> {
///     let reading = async || Ok("Meeting at 14:30".to_owned());
///     recorder.call_tool("read_file", &serde_json::json!({"path": "notes.md"}), reading()).await
/// }
/// ```
#[must_use = "futures do nothing unless they are awaited"]
pub struct RecordedCall<F> {
    /// The call until it begins.
    next: Option<Box<(Recorder, ToolCall)>>,
    running: Option<RunningTool>,
    call: Pin<Box<F>>,
}

impl<F> fmt::Debug for RecordedCall<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedCall").finish_non_exhaustive()
    }
}

impl<T, E, F> Future for RecordedCall<F>
where
    T: Serialize,
    E: fmt::Display,
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some((recorder, call)) = self.next.take().map(|next| *next) {
            self.running = Some(recorder.begin_tool(call));
        }
        let polled = self.call.as_mut().poll(context);
        if let Poll::Ready(result) = &polled
            && let Some(running) = self.running.take()
        {
            running.end(result);
        }
        polled
    }
}

/// A recorded call that has no result yet.
struct RunningTool {
    recorder: Recorder,
    /// The call of the agent in which it began, and where it is in the recording; `None` if it began too late.
    position: Option<(u64, CallPosition)>,
    began: Stopwatch,
}

impl RunningTool {
    fn end<T: Serialize, E: fmt::Display>(self, result: &Result<T, E>) {
        let Some((agent_call, position)) = self.position else { return };
        let took = self.began.elapsed();
        let (output, is_error) = match result {
            Ok(output) => (json(output), false),
            Err(error) => (Value::String(error.to_string()), true),
        };
        let mut state = self.recorder.state();
        // A result in a later turn than the call has no place.
        if state.calls != agent_call {
            return;
        }
        if !state.is_open {
            drop(state);
            self.recorder.record(&[Recorded::Other], |_| ());
            return;
        }
        let Some(call) = state.recording.call_at(position) else { return };
        (call.output, call.is_error) = (Some(output), is_error);
        (call.end_time, call.duration_ms) = (Some(self.began.after(took)), Some(milliseconds(took)));
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> Value {
    evalsuite_schema::json::to_value_by_serde(value)
        .unwrap_or_else(|error| Value::String(format!("cannot be written as JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Role;
    use evalsuite_schema::json::json;

    use super::*;

    fn open() -> Recorder {
        let recorder = Recorder::new("case", 0);
        recorder.open();
        recorder
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn a_recorder_can_go_anywhere() {
        fn anywhere<T: Clone + Send + Sync + 'static>(_: &T) {}
        let recorder = open();
        anywhere(&recorder);
        let wrapped = recorder.wrap_tool("add", |(a, b): (i64, i64)| async move { Ok::<_, String>(a + b) });
        fn tool<C: Future + Send + 'static>(_: &(impl Fn((i64, i64)) -> C + Send + Sync + 'static)) {}
        tool(&wrapped);
        assert_eq!(block_on(wrapped((1, 2))), Ok(3));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let recorder = recorder.clone();
                std::thread::spawn(move || recorder.call_blocking_tool("t", &1, || Ok::<_, String>(2)))
            })
            .collect();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Ok(2)));
        assert_eq!(recorder.close().messages[0].tool_calls.len(), 9);
    }

    #[test]
    fn calls_are_in_the_order_of_their_beginnings_and_have_their_own_results() {
        let recorder = open();
        let (slow, quick) = (tokio::sync::Notify::new(), tokio::sync::Notify::new());
        block_on(async {
            let first = recorder.call_tool("first", &json!({"a": 1}), async {
                slow.notified().await;
                Ok::<_, String>("one")
            });
            let second = recorder.call_tool("second", "text", async {
                quick.notified().await;
                Err::<(), _>("broken")
            });
            let (_, _, ()) = tokio::join!(first, second, async {
                quick.notify_one();
                tokio::task::yield_now().await;
                recorder.message(Message::text(Role::Assistant, "between"));
                slow.notify_one();
            });
        });
        let recording = recorder.close();
        let calls = &recording.messages[0].tool_calls;
        assert_eq!((calls[0].tool.as_str(), &calls[0].input), ("first", &Some(json!({"a": 1}))));
        assert_eq!((&calls[0].output, calls[0].is_error), (&Some(json!("one")), false));
        assert_eq!(
            (calls[1].tool.as_str(), &calls[1].output, calls[1].is_error),
            ("second", &Some(json!("broken")), true)
        );
        assert!(calls.iter().all(|call| call.duration_ms.is_some() && call.start_time <= call.end_time), "{calls:?}");
        assert_eq!(recording.messages[1].content, Some(Content::Text("between".into())));
    }

    #[test]
    fn a_call_that_does_not_end_is_recorded_without_a_result() {
        let recorder = open();
        let mut call = Box::pin(recorder.call_tool("stuck", &(), std::future::pending::<Result<(), String>>()));
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
        let recording = recorder.close();
        let stuck = &recording.messages[0].tool_calls[0];
        assert_eq!((stuck.tool.as_str(), &stuck.output, stuck.duration_ms), ("stuck", &None, None));
    }

    #[test]
    fn nothing_is_recorded_between_and_after_the_calls_of_the_agent() {
        let recorder = open();
        let running = recorder.begin_tool(ToolCall::new("late"));
        recorder.log("in time");
        assert_eq!(recorder.close().log, "in time\n");
        recorder.log("between");
        recorder.open();
        running.end(&Ok::<_, String>("of the turn before"));
        recorder.log("second turn");
        let second = recorder.close();
        assert_eq!((second.log.as_str(), second.messages.len()), ("second turn\n", 0));
        assert_eq!(recorder.state().lost, [Recorded::Other].into());
        recorder.tool_call(ToolCall::new("lost"));
        recorder.message(Message::text(Role::Assistant, "lost").with_cost_usd(0.5));
        let lost = [Recorded::Calls, Recorded::Tokens, Recorded::Cost, Recorded::Other].map(|what| recorder.lost(what));
        assert_eq!(lost, [Some(LOST_CALLS), None, Some(LOST_COST), None]);
        assert!(recorder.note_of_lost().is_some() && open().note_of_lost().is_none());
        recorder.set_answer("too late");
        assert_eq!(recorder.close().outcome.text, None);
    }
}
