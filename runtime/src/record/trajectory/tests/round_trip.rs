//! Any transcript is a valid document, and reading that gives the transcript back.

use evalsuite_records::record::Usage;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Content, Message, Part, PathRef, Role, ToolCall};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::record::trajectory::read;
use crate::record::trajectory::tests::{problems, written};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-zé\"\\\\\n{}]{1,12}"]
}

fn data() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn content() -> impl Strategy<Value = Content> {
    let path = |end: &'static str| {
        "[a-z]{1,5}".prop_map(move |name| {
            let path = format!("{name}.{end}");
            PathRef::new(path)
        })
    };
    let part = prop_oneof![
        text().prop_map(Part::Text),
        path("txt").prop_map(Part::File),
        path("mp3").prop_map(|file| Part::Audio { file, media_type: "audio/mpeg".into() }),
        path("png").prop_map(|file| Part::Image { file, media_type: "image/png".into() }),
    ];
    prop_oneof![
        text().prop_map(Content::Text),
        vec(part, 0..3).prop_map(Content::Parts),
        data().prop_map(Content::Data),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    (0..1u64 << 50, 0..1u64 << 50, 0..1u64 << 50, 0..9u64).prop_map(|(input, output, cached, reasoning)| {
        Usage::new(input, output).with_cached(cached).with_reasoning(reasoning)
    })
}

fn moment() -> impl Strategy<Value = String> {
    prop_oneof![Just("2026-01-04T09:15:00.000Z".to_owned()), text()]
}

/// A message without calls.
fn message(role: Role) -> impl Strategy<Value = Message> {
    let times = (option::of(moment()), option::of(moment()), option::of(0.0..1e6f64));
    let model = (option::of(text()), option::of(text()), option::of(usage()), option::of(0.0..10f64));
    (option::of(content()), option::of(text()), times, model, option::of(0..3u64), option::of(data())).prop_map(
        move |(content, name, (start, end, duration), (reasoning, model, usage, cost), calls, metadata)| {
            let mut message = Message::empty(role);
            message.content = content;
            message.name = name;
            message.start_time = start;
            message.end_time = end;
            message.duration_ms = duration;
            message.reasoning = reasoning;
            message.model = model;
            message.usage = usage;
            message.cost_usd = cost;
            message.llm_call_count = calls;
            message.metadata = metadata;
            message
        },
    )
}

fn call() -> impl Strategy<Value = ToolCall> {
    let id = option::of(prop_oneof![Just("a"), Just("b"), Just(""), Just("call-2")].prop_map(str::to_owned));
    let times = (option::of(moment()), option::of(moment()), option::of(0.0..1e6f64));
    (text(), id, option::of(data()), option::of(data()), times, any::<bool>()).prop_map(
        |(tool, id, input, output, (start_time, end_time, duration_ms), is_error)| {
            let mut call = ToolCall::new(tool);
            call.id = id;
            call.input = input;
            call.output = output;
            call.start_time = start_time;
            call.end_time = end_time;
            call.duration_ms = duration_ms;
            call.is_error = is_error;
            call
        },
    )
}

/// What the agent says and calls, and what tools say to that.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    let answers = vec((message(Role::Tool), option::of(0..4usize)), 0..3);
    (message(Role::Assistant), vec(call(), 0..4), answers).prop_map(|(mut message, calls, answers)| {
        message.tool_calls = calls;
        let ids: Vec<Option<String>> = message.tool_calls.iter().map(|call| call.id.clone()).collect();
        let answers = answers.into_iter().map(|(answer, index)| {
            let id = index.and_then(|index| ids.get(index).cloned().unwrap_or(Some("unknown".into())));
            let mut message = answer;
            message.tool_call_id = id;
            message
        });
        std::iter::once(message.clone()).chain(answers).collect()
    })
}

fn transcript() -> impl Strategy<Value = Vec<Message>> {
    let block = prop_oneof![
        message(Role::System).prop_map(|message| vec![message]),
        message(Role::User).prop_map(|message| vec![message]),
        turn(),
    ];
    (vec(message(Role::Tool), 0..2), vec(block, 0..5))
        .prop_map(|(first, blocks)| first.into_iter().chain(blocks.into_iter().flatten()).collect())
}

proptest! {
    #[test]
    fn a_transcript_is_a_valid_document_and_comes_back(transcript in transcript()) {
        let document = written(Some(&transcript), "");
        prop_assert_eq!(problems(&document), Vec::<String>::new(), "{:#}", document);
        let again = read(document.to_string().as_bytes()).unwrap();
        prop_assert_eq!(again.messages.unwrap(), transcript);
    }

    #[test]
    fn reading_never_panics(mut document in transcript().prop_map(|t| written(Some(&t), "")), places in vec(any::<prop::sample::Index>(), 1..4), value in data()) {
        for place in places {
            damage(&mut document, place, &value);
        }
        let _ = read(document.to_string().as_bytes());
    }
}

/// Puts a value somewhere.
fn damage(document: &mut Value, place: prop::sample::Index, value: &Value) {
    fn size(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(size).sum(),
            Value::Object(object) => object.values().map(size).sum(),
            _ => 0,
        }
    }
    fn put(target: &mut Value, left: &mut usize, value: &Value) {
        if *left == 0 {
            *target = value.clone();
        }
        *left = left.wrapping_sub(1);
        match target {
            Value::Array(items) => items.iter_mut().for_each(|item| put(item, left, value)),
            Value::Object(object) => object.values_mut().for_each(|item| put(item, left, value)),
            _ => (),
        }
    }
    let mut left = place.index(size(document));
    put(document, &mut left, value);
}

#[test]
fn calls_of_a_speaker_that_has_none_in_atif_come_back() {
    let mut user = Message::text(Role::User, "try this");
    user.tool_calls.push(ToolCall::new("read").with_output(json!({"a": 1})));
    let transcript = [user, Message::text(Role::Assistant, "ok")];
    let document = written(Some(&transcript), "");
    assert_eq!(problems(&document), Vec::<String>::new());
    assert_eq!(read(document.to_string().as_bytes()).unwrap().messages.unwrap(), transcript);
}

#[test]
fn an_empty_transcript_and_an_unreported_one_are_told_apart() {
    let empty = written(Some(&[]), "");
    assert_eq!(problems(&empty), Vec::<String>::new());
    assert_eq!(read(empty.to_string().as_bytes()).unwrap().messages, Some(Vec::new()));

    let unreported = written(None, "42");
    assert_eq!(problems(&unreported), Vec::<String>::new());
    assert_eq!(unreported["extra"]["transcript_reported"], false);
    assert_eq!(unreported["steps"][0]["message"], "42");
    let read = read(unreported.to_string().as_bytes()).unwrap();
    assert_eq!((read.messages, read.text.as_deref()), (None, Some("42")));
}
