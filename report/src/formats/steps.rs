//! The input, the steps and the timeline of a trial, read from its record and its ATIF document. What is not there is empty: documents may
//! be of any program.

use std::time::{Duration, SystemTime};

use evalsuite_records::record::{GraderRecord, TrialRecord, Usage};
use evalsuite_schema::{Content, Input, Message, Part, Role, Value};

use crate::run_data::TrialFiles;

/// A step of a transcript.
#[derive(Debug)]
pub(super) struct Step<'a> {
    /// `system`, `user` or `agent`.
    pub(super) source: &'a str,
    pub(super) message: String,
    pub(super) reasoning: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) usage: Option<Usage>,
    pub(super) cost_usd: Option<f64>,
    pub(super) times: Times,
    pub(super) calls: Vec<Call<'a>>,
    /// Results that do not say which call of this step they are of.
    pub(super) loose_results: Vec<String>,
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) result: Option<String>,
    pub(super) is_error: bool,
    pub(super) times: Times,
}

/// What a document says about when something happened.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) start: Option<SystemTime>,
    pub(super) end: Option<SystemTime>,
    pub(super) duration: Option<Duration>,
}

/// The steps of a document.
pub(super) fn steps(document: &Value) -> Vec<Step<'_>> {
    elements(&document["steps"]).iter().map(step).collect()
}

fn step(step: &Value) -> Step<'_> {
    let results = elements(&step["observation"]["results"]);
    let calls: Vec<Call<'_>> = elements(&step["tool_calls"]).iter().map(|value| call(value, results)).collect();
    let is_loose = |result: &&Value| calls.iter().all(|call| result["source_call_id"] != call.id);
    let loose_results = results.iter().filter(is_loose).map(|result| content_text(&result["content"])).collect();
    let metrics = &step["metrics"];
    let count = |key: &str| metrics[key].as_u64().unwrap_or_default();
    let usage = metrics.is_object().then(|| {
        let cached = count("cached_tokens");
        Usage::new(count("prompt_tokens").saturating_sub(cached), count("completion_tokens")).with_cached(cached)
    });
    Step {
        source: step["source"].as_str().unwrap_or("agent"),
        message: content_text(&step["message"]),
        reasoning: step["reasoning_content"].as_str().filter(|text| !text.is_empty()),
        model: step["model_name"].as_str(),
        usage,
        cost_usd: metrics["cost_usd"].as_f64(),
        times: times(&step["timestamp"], &step["extra"]),
        calls,
        loose_results,
    }
}

fn call<'a>(call: &'a Value, results: &[Value]) -> Call<'a> {
    let id = call["tool_call_id"].as_str().unwrap_or_default();
    let mut found =
        results.iter().filter(|result| result["source_call_id"] == id).map(|result| content_text(&result["content"]));
    Call {
        id,
        tool: call["function_name"].as_str().unwrap_or("unknown"),
        arguments: &call["arguments"],
        result: found.next().map(|first| found.fold(first, |all, next| all + "\n" + &next)),
        is_error: call["extra"]["is_error"] == true,
        times: times(&call["extra"]["start_time"], &call["extra"]),
    }
}

fn times(start: &Value, extra: &Value) -> Times {
    let time = |value: &Value| humantime::parse_rfc3339(value.as_str()?).ok();
    Times {
        start: time(start).or_else(|| time(&extra["start_time"])),
        end: time(&extra["end_time"]),
        duration: extra["duration_ms"].as_f64().and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok()),
    }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The content of a message of an ATIF transcript as text: the texts of its parts, and type and path of other parts.
pub fn content_text(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(content_text).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => match (part.get("text").and_then(Value::as_str), part.get("type")) {
            (Some(text), _) => text.to_owned(),
            (None, Some(kind)) => {
                let path = content["source"]["path"].as_str().unwrap_or_default();
                format!("[{}: {path}]", kind.as_str().unwrap_or_default())
            }
            (None, None) => content.to_string(),
        },
        other => other.to_string(),
    }
}

/// The messages of the input. Data are one message of the user, as JSON.
pub(crate) fn input_messages(files: &TrialFiles) -> Vec<(Role, String)> {
    match files.input.clone().map(evalsuite_schema::json::from_value) {
        Some(Ok(Input::Messages(messages))) => messages.iter().map(|message| (message.role, text(message))).collect(),
        Some(Ok(Input::Data(data))) => vec![(Role::User, format!("{:#}", Value::Object(data)))],
        Some(Err(_)) | None => Vec::new(),
    }
}

fn text(message: &Message) -> String {
    match &message.content {
        None => String::new(),
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Data(data)) => format!("{data:#}"),
        Some(Content::Parts(parts)) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        media => media.file().map(|file| format!("[file: {}]", file.path)).unwrap_or_default(),
    }
}

/// A stretch of time, in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The parts of a trial in time.
///
/// Records have the durations of phases, and transcripts the times of calls if the agent reported them. What has no time of its own
/// begins where the part before it ends, and takes no time.
#[derive(Debug)]
pub(super) struct Timeline {
    /// From its start to its end.
    pub(super) trial: Interval,
    /// The phases by name, without those that took no time.
    pub(super) phases: Vec<(&'static str, Interval)>,
    /// The call of the agent.
    pub(super) agent: Interval,
    /// The steps of the transcript, and the calls of tools of each. They are within `agent` and follow one another.
    pub(super) steps: Vec<(Interval, Vec<Interval>)>,
    /// The graders in their order, those of turns last, within the phase of grading.
    pub(super) graders: Vec<Interval>,
}

impl Timeline {
    pub(super) fn new(record: &TrialRecord, steps: &[Step<'_>]) -> Self {
        let start = microseconds(humantime::parse_rfc3339(&record.started_at).ok());
        let timings = &record.timings;
        let names = ["setup", "agent", "capture", "grading", "teardown"];
        let durations =
            [timings.setup_ms, timings.agent_ms, timings.capture_ms, timings.grading_ms, timings.teardown_ms];
        let mut end = start;
        let phases = durations.map(|duration| {
            let phase = Interval { start: end, end: end.saturating_add(duration.saturating_mul(1_000)) };
            end = phase.end;
            phase
        });
        let [_, agent, _, grading, _] = phases;
        let total = start.saturating_add(timings.total_ms.saturating_mul(1_000));
        Self {
            trial: Interval { start, end: end.max(total) },
            phases: names.into_iter().zip(phases).filter(|(_, phase)| phase.start < phase.end).collect(),
            agent,
            steps: step_intervals(steps, agent),
            graders: grader_intervals(record.all_graders(), grading),
        }
    }
}

fn step_intervals(steps: &[Step<'_>], agent: Interval) -> Vec<(Interval, Vec<Interval>)> {
    let mut cursor = Cursor { now: agent.start, end: agent.end };
    let mut intervals = Vec::new();
    for step in steps {
        let own = cursor.next(&step.times);
        let calls: Vec<Interval> = step.calls.iter().map(|call| cursor.next(&call.times)).collect();
        intervals.push((own, calls));
    }
    intervals
}

fn grader_intervals<'g>(graders: impl Iterator<Item = &'g GraderRecord>, grading: Interval) -> Vec<Interval> {
    let mut cursor = Cursor { now: grading.start, end: grading.end };
    let took =
        |grader: &GraderRecord| Times { duration: Some(Duration::from_millis(grader.duration_ms)), ..Times::default() };
    graders.map(|grader| cursor.next(&took(grader))).collect()
}

/// Lays out what follows one another.
struct Cursor {
    now: u64,
    end: u64,
}

impl Cursor {
    fn next(&mut self, times: &Times) -> Interval {
        let given = times.start.map(|start| microseconds(Some(start)));
        let start = given.unwrap_or(self.now).clamp(self.now, self.end.max(self.now));
        let took = times.duration.map(|duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
        let end = match (times.end, took) {
            (Some(end), _) => microseconds(Some(end)),
            (None, Some(took)) => given.unwrap_or(start).saturating_add(took),
            (None, None) => start,
        };
        self.now = end.clamp(start, self.end.max(start));
        Interval { start, end: self.now }
    }
}

fn microseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A time as RFC 3339 in UTC with microseconds.
pub(super) fn rfc3339(microseconds: u64) -> String {
    // `humantime` has no name for years above 9999.
    let latest = Duration::from_secs(253_402_300_799);
    let time = SystemTime::UNIX_EPOCH + Duration::from_micros(microseconds).min(latest);
    humantime::format_rfc3339_micros(time).to_string()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::{steps, *};

    const START: u64 = 1_795_350_351_000_000;

    fn record() -> TrialRecord {
        let mut record = TrialRecord::new();
        record.started_at = rfc3339(START);
        let timings = &mut record.timings;
        (timings.setup_ms, timings.agent_ms, timings.grading_ms, timings.total_ms) = (10, 100, 20, 135);
        record
    }

    fn after_start(milliseconds: [u64; 2]) -> Interval {
        let [start, end] = milliseconds.map(|milliseconds| START + milliseconds * 1_000);
        Interval { start, end }
    }

    #[test]
    fn phases_follow_one_another_and_graders_fill_theirs() {
        let mut record = record();
        let grader = |duration_ms| {
            let mut grader = GraderRecord::default();
            grader.duration_ms = duration_ms;
            grader
        };
        record.graders = vec![grader(15), grader(90)];
        let timeline = Timeline::new(&record, &[]);
        assert_eq!(timeline.trial, after_start([0, 135]));
        let phases = [("setup", [0, 10]), ("agent", [10, 110]), ("grading", [110, 130])];
        assert_eq!(timeline.phases, phases.map(|(name, phase)| (name, after_start(phase))));
        assert_eq!(timeline.graders, [after_start([110, 125]), after_start([125, 130])]);
    }

    #[test]
    fn calls_have_the_times_that_are_known_and_never_overlap() {
        let at = |milliseconds: u64| rfc3339(START + milliseconds * 1_000);
        let call = |extra: evalsuite_schema::Value| json!({"tool_call_id": "a", "function_name": "t", "arguments": {}, "extra": extra});
        let document = json!({"steps": [
            {"step_id": 1, "source": "agent", "message": "", "tool_calls": [
                call(json!({"duration_ms": 5})),
                call(json!({"start_time": at(40), "end_time": at(60)})),
                call(json!({"start_time": at(50), "duration_ms": 30})),
            ]},
            {"step_id": 2, "source": "agent", "message": "", "timestamp": at(90), "tool_calls": [
                call(json!({"duration_ms": 1e12})),
                call(json!({"start_time": "yesterday", "duration_ms": -1})),
            ]},
        ]});
        let timeline = Timeline::new(&record(), &steps(&document));
        assert_eq!(
            timeline.steps,
            [
                (after_start([10, 10]), [[10, 15], [40, 60], [60, 80]].map(after_start).to_vec()),
                (after_start([90, 90]), [[90, 110], [110, 110]].map(after_start).to_vec()),
            ]
        );
    }
}
