//! OpenTelemetry data, decoded with the types of the protocol.

use std::collections::{BTreeMap, HashSet};

use evalsuite_records::record::{GraderRecord, GraderState, Reason, ReasonCode, Stage, Status, Usage, UserRecord};
use evalsuite_report::{RunData, otel};
use evalsuite_tests::synthetic_run::SyntheticRun;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, LogsData};
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use serde::de::DeserializeOwned;

fn run() -> (tempfile::TempDir, RunData) {
    let output = tempfile::tempdir().expect("a temporary directory");
    let mut synthetic = SyntheticRun::new("20261122T142550Z-000001", 30, 2);
    synthetic.skill = 0.7;
    let run = RunData::read(synthetic.write(output.path())).expect("the run can be read");
    (output, run)
}

fn written(run: &RunData) -> (String, String) {
    let (mut traces, mut logs) = (Vec::new(), Vec::new());
    assert_eq!(otel(run, &mut traces, &mut logs).expect("data"), []);
    (String::from_utf8(traces).expect("text"), String::from_utf8(logs).expect("text"))
}

fn read<T: DeserializeOwned>(line: &str) -> T {
    let line: evalsuite_schema::Value = evalsuite_schema::json::from_str(line).expect("JSON");
    evalsuite_schema::json::from_value(line).expect("data of the protocol")
}

/// The spans of each line, which is a trial.
fn traces(text: &str) -> Vec<Vec<Span>> {
    let decoded = text.lines().map(|line| {
        let data: TracesData = read(line);
        data.resource_spans
            .into_iter()
            .flat_map(|resource| resource.scope_spans)
            .flat_map(|scope| scope.spans)
            .collect()
    });
    decoded.collect()
}

fn records(text: &str) -> Vec<Vec<LogRecord>> {
    let decoded = text.lines().map(|line| {
        let data: LogsData = read(line);
        data.resource_logs
            .into_iter()
            .flat_map(|resource| resource.scope_logs)
            .flat_map(|scope| scope.log_records)
            .collect()
    });
    decoded.collect()
}

fn attributes(list: &[KeyValue]) -> BTreeMap<&str, Value> {
    let value = |attribute: &KeyValue| attribute.value.clone().and_then(|AnyValue { value }| value);
    list.iter().filter_map(|attribute| Some((attribute.key.as_str(), value(attribute)?))).collect()
}

fn text(value: &str) -> Value {
    Value::StringValue(value.to_owned())
}

#[test]
fn every_trial_is_a_trace_of_spans_within_their_parents() {
    let (_output, run) = run();
    let (spans, _) = written(&run);
    let trials: usize = run.suites.iter().flat_map(|suite| &suite.cases).map(|case| case.trials.len()).sum();
    let traces = traces(&spans);
    assert_eq!(traces.len(), trials);
    let ids: HashSet<&[u8]> = traces.iter().map(|spans| spans[0].trace_id.as_slice()).collect();
    assert_eq!(ids.len(), trials, "a trace for each trial");
    for spans in &traces {
        let by_id: BTreeMap<&[u8], &Span> = spans.iter().map(|span| (span.span_id.as_slice(), span)).collect();
        assert_eq!(by_id.len(), spans.len(), "ids of spans are unique");
        assert_eq!(spans.iter().filter(|span| span.parent_span_id.is_empty()).count(), 1);
        for span in spans {
            assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
            assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
            if !span.parent_span_id.is_empty() {
                let parent = by_id.get(span.parent_span_id.as_slice()).expect("the parent is in the trace");
                assert!(
                    parent.start_time_unix_nano <= span.start_time_unix_nano
                        && span.end_time_unix_nano <= parent.end_time_unix_nano,
                    "{} is not within {}",
                    span.name,
                    parent.name
                );
            }
        }
    }
}

#[test]
fn agents_models_and_tools_have_the_attributes_of_the_conventions() {
    let (_output, run) = run();
    let spans = traces(&written(&run).0);
    let spans =
        spans.iter().find(|spans| spans.iter().any(|span| span.name == "execute_tool refund")).expect("a refund");
    let find = |name: &str| {
        let span = spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no span {name}"));
        (span, attributes(&span.attributes))
    };
    let (agent, fields) = find("invoke_agent support_agent::agent");
    assert_eq!(fields["gen_ai.operation.name"], text("invoke_agent"));
    assert_eq!(fields["gen_ai.agent.name"], text("support_agent::agent"));
    let Value::StringValue(asked) = &fields["gen_ai.input.messages"] else { panic!("messages are JSON") };
    assert!(asked.contains(r#""role":"user","parts":[{"type":"text","content":""#), "{asked}");
    let (chat, fields) = find("chat support-large-2");
    assert_eq!(chat.parent_span_id, agent.span_id);
    assert_eq!(fields["gen_ai.usage.input_tokens"], Value::IntValue(1_450));
    assert_eq!(fields["gen_ai.usage.cache_read.input_tokens"], Value::IntValue(900));
    let (tool, fields) = find("execute_tool refund");
    assert_eq!(tool.parent_span_id, agent.span_id);
    assert_eq!(fields["gen_ai.tool.call.id"], text("call-3"));
    assert_eq!(tool.end_time_unix_nano - tool.start_time_unix_nano, 1_904_000_000);
    let (judge, fields) = find("chat judge-large-1");
    assert_eq!(fields["evalsuite.judge"], text("judge-large"));
    assert_eq!(judge.parent_span_id, find("grade tone").0.span_id);
    let root = attributes(&spans[0].attributes);
    assert!(matches!(&root["evalsuite.location"], Value::StringValue(place) if place.ends_with("case.yaml:1:1")));
    assert!(root.contains_key("evalsuite.case.id") && root.contains_key("test.case.result.status"));
}

#[test]
fn simulated_users_and_the_judges_of_all_graders_have_spans_with_their_cost() {
    let (_output, mut run) = run();
    let record = &mut run.suites[0].cases[0].trials[0].record;
    let judge = |name: &str, cost| {
        let mut grader = GraderRecord::default();
        let judge = grader.judge.get_or_insert_default();
        (judge.name, judge.cost_usd, judge.attempts) = (name.to_owned(), Some(cost), 2);
        judge.unknown_costs = u32::from(name == "member");
        grader
    };
    let mut composite = GraderRecord::default();
    composite.members = vec![judge("member", 0.25)];
    record.graders = vec![composite, judge("own", 0.5)];
    let mut user = UserRecord::new();
    (user.name, user.attempts, user.unknown_costs) = ("customer".to_owned(), 3, 1);
    user.graders = vec![judge("role", 0.125)];
    (record.user, record.user_cost_usd, record.user_usage) = (Some(user), Some(2.0), Some(Usage::new(7, 3)));
    let spans = traces(&written(&run).0).remove(0);
    for (model, cost_usd, is_bound) in
        [("customer", 2.0, true), ("member", 0.25, true), ("own", 0.5, false), ("role", 0.125, false)]
    {
        let named: Vec<&Span> = spans.iter().filter(|span| span.name == format!("chat {model}")).collect();
        let [span] = named.as_slice() else { panic!("{} spans of {model}", named.len()) };
        let fields = attributes(&span.attributes);
        assert_eq!(cost(&fields["gen_ai.usage.cost"]), cost_usd, "{model}");
        assert_eq!(fields.contains_key("evalsuite.cost.lower_bound"), is_bound, "{model}");
        assert!(spans.iter().any(|parent| parent.span_id == span.parent_span_id), "{model}");
    }
    let of_user =
        spans.iter().find(|span| span.name == "chat customer").map(|span| attributes(&span.attributes)).unwrap();
    assert_eq!(
        (&of_user["evalsuite.user"], &of_user["evalsuite.user.calls"]),
        (&text("customer"), &Value::IntValue(3))
    );
    assert_eq!(of_user["gen_ai.usage.input_tokens"], Value::IntValue(7));
    assert!(!of_user.contains_key("evalsuite.usage.lower_bound"));
}

/// What an agent reported of a whole trial was in no span if a model call had tokens, and twice in the spans if calls had a cost and no tokens.
#[test]
fn the_tokens_and_the_cost_of_all_spans_are_those_of_the_trials() {
    let (_output, mut run) = run();
    let files = |run: &RunData| traces(&written(run).0);
    let of = |spans: &[Span], key: &str| -> f64 {
        let named = |span: &&Span| span.name.starts_with("invoke_agent") || span.name == "chat support-large-2";
        let values = spans.iter().filter(named).filter_map(|span| attributes(&span.attributes).remove(key));
        values.map(|value| if let Value::IntValue(tokens) = value { tokens as f64 } else { cost(&value) }).sum()
    };
    let check = |run: &RunData, what: &str| {
        let trials = run.suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.trials);
        for (trial, spans) in trials.zip(files(run)) {
            let Some(usage) = trial.record.usage else { continue };
            let tokens = of(&spans, "gen_ai.usage.input_tokens") + of(&spans, "gen_ai.usage.output_tokens");
            assert_eq!(tokens, usage.total() as f64, "{what}: {}", trial.directory.display());
            let (found, recorded) = (of(&spans, "gen_ai.usage.cost"), trial.record.cost_usd.unwrap_or_default());
            assert!((found - recorded).abs() < 1e-9, "{what}: {found} {recorded} {}", trial.directory.display());
        }
    };
    // More than the steps have: 5,970 tokens of the prompt, and 276 of the completion.
    let trials = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).flat_map(|case| &mut case.trials);
    for record in trials.map(|trial| &mut trial.record).filter(|record| record.usage.is_some()) {
        record.usage = Some(Usage::new(10_000, 1_000).with_cached(2_350));
    }
    check(&run, "steps with tokens");
    let change = |replaced: &str, with: &str| {
        let cases = run.suites.iter().flat_map(|suite| &suite.cases);
        for trial in cases.flat_map(|case| &case.trials) {
            let file = run.directory.join(&trial.directory).join("trajectory.json");
            if let Ok(text) = std::fs::read_to_string(&file) {
                std::fs::write(&file, text.replace(replaced, with)).expect("a document");
            }
        }
    };
    change("\"prompt_tokens\"", "\"cost_usd\": 0.0001, \"prompt_tokens\"");
    check(&run, "steps with tokens and cost");
    change("\"prompt_tokens\"", "\"x_prompt_tokens\"");
    change("\"completion_tokens\"", "\"x_completion_tokens\"");
    change("\"cached_tokens\"", "\"x_cached_tokens\"");
    check(&run, "steps with a cost");
}

/// Where the spans of model calls had all that is known, nothing said that it lacks some calls.
#[test]
fn a_trial_whose_calls_are_known_in_part_is_marked_wherever_its_tokens_are() {
    let (_output, mut run) = run();
    let trials = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).flat_map(|case| &mut case.trials);
    let mut marked = 0;
    for (index, record) in trials.map(|trial| &mut trial.record).filter(|record| record.usage.is_some()).enumerate() {
        record.usage = Some(Usage::new(1, 1));
        (record.usage_partial, record.cost_partial) = (index % 2 == 0, index % 2 == 0);
        marked += usize::from(index % 2 == 0);
    }
    let spans: Vec<Span> = traces(&written(&run).0).concat();
    let agents: Vec<_> = spans
        .iter()
        .filter(|span| span.name.starts_with("invoke_agent"))
        .map(|span| attributes(&span.attributes))
        .collect();
    let with = |key: &str| agents.iter().filter(|fields| fields.contains_key(key)).count();
    assert!(marked > 5 && with("gen_ai.usage.output_tokens") < marked, "the tokens are those of the steps");
    assert_eq!((with("evalsuite.usage.lower_bound"), with("evalsuite.cost.lower_bound")), (marked, marked));
}

fn cost(value: &Value) -> f64 {
    if let Value::DoubleValue(cost) = value { *cost } else { panic!("{value:?} is no cost") }
}

#[test]
fn graders_are_evaluation_results_at_the_span_of_the_agent() {
    let (_output, mut run) = run();
    let broken = &mut run.suites[0].cases[0].trials[0].record;
    broken.outcome = Status::Error;
    broken.reason = Some(Reason::new(Stage::Grading, ReasonCode::JudgeError, "no reply"));
    broken.score = None;
    broken.graders[1].state = GraderState::Error;
    (broken.graders[1].value, broken.graders[1].verdict) = (None, None);
    let (spans, logs) = written(&run);
    let (traces, logs) = (traces(&spans), records(&logs));
    assert_eq!(traces.len(), logs.len());
    let mut labels = HashSet::new();
    for (spans, records) in traces.iter().zip(&logs) {
        let evaluated = spans.iter().find(|span| span.name.starts_with("invoke_agent")).unwrap_or(&spans[0]);
        for record in records {
            assert_eq!(record.event_name, "gen_ai.evaluation.result");
            assert_eq!((&record.trace_id, &record.span_id), (&evaluated.trace_id, &evaluated.span_id));
            let fields = attributes(&record.attributes);
            let Value::StringValue(label) = &fields["gen_ai.evaluation.score.label"] else {
                panic!("labels are texts")
            };
            let has_score = matches!(fields.get("gen_ai.evaluation.score.value"), Some(Value::DoubleValue(_)));
            assert_eq!(has_score, label == "pass" || label == "fail", "{fields:?}");
            assert_eq!(fields.contains_key("error.type"), label == "error");
            labels.insert(label.clone());
        }
        let names: Vec<Value> =
            records.iter().map(|record| attributes(&record.attributes)["gen_ai.evaluation.name"].clone()).collect();
        assert_eq!(names[0], text("evalsuite"));
        assert!(names.len() == 1 || names[1..] == ["states-policy", "tone", "looks-up-order"].map(text));
    }
    assert_eq!(labels, ["pass", "fail", "error", "skipped"].map(str::to_owned).into());
}

#[test]
fn the_span_of_a_trial_that_did_not_pass_is_an_error_and_its_graders_have_their_labels() {
    let (_output, run) = run();
    let trials = run.suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.trials);
    let mut seen = HashSet::new();
    for (spans, trial) in traces(&written(&run).0).iter().zip(trials) {
        let status = spans[0].status.clone().unwrap_or_default();
        let failed = matches!(trial.record.outcome, Status::Failed | Status::Error);
        assert_eq!((status.code == 2, !status.message.is_empty()), (failed, failed), "{:?}", trial.record.outcome);
        seen.insert(trial.record.outcome.as_str());
        for (span, grader) in spans.iter().filter(|span| span.name.starts_with("grade ")).zip(&trial.record.graders) {
            let fields = attributes(&span.attributes);
            assert_eq!(fields["gen_ai.evaluation.name"], text(&grader.name));
            if let Some(verdict) = grader.verdict {
                let label = if verdict.is_pass() { "pass" } else { "fail" };
                assert_eq!(fields["gen_ai.evaluation.score.label"], text(label));
            }
        }
    }
    assert!(seen.contains("passed") && seen.contains("failed"), "{seen:?}");
}

#[test]
fn a_second_export_equals_the_first() {
    let (_output, run) = run();
    assert_eq!(written(&run), written(&run));
}
