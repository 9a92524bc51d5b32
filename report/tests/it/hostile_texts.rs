//! A run whose texts contain every character that some format forbids: other programs can read each export, and the texts are in it.

use std::io::{Cursor, Read};

use evalsuite_records::record::{Assertion, CaseIdentity, GraderRecord, Reason, ReasonCode, Stage, Status};
use evalsuite_report::{Format, HtmlReport, InspectFormat, RunData, inspect_logs, otel};
use evalsuite_schema::{Location, Value};
use evalsuite_tests::synthetic_run::SyntheticRun;
use opentelemetry_proto::tonic::logs::v1::LogsData;
use opentelemetry_proto::tonic::trace::v1::TracesData;
use quick_xml::XmlVersion;
use quick_xml::events::Event;

/// Texts that some format cannot hold, or takes for something else.
fn hostile_texts() -> Vec<String> {
    let controls: String = (0..0x20_u8).chain(0x7f..=0x9f).map(char::from).collect();
    let unicode = "\u{fffe}\u{ffff}\u{fdd0}\u{1fffe}\u{10ffff}\u{fffd}\u{2028}\u{2029}\u{feff}\u{200d}\u{202e}gnp.exe\u{2066}\u{1F600}";
    let markup =
        "]]>&amp;<![CDATA[ \"'<!-- --> </script></details></testcase><img src=x onerror=alert(1)> &#x0; \\u{ffff}";
    let lines =
        "\r````\r\n</details>\n# title\n\n::error file=x::y\n##[group] %0A %25 | a | $x$ `b` **c** [d](e) @f\ttab";
    let long = "long ".repeat(14_000);
    [controls.as_str(), unicode, markup, lines, "=1+1,\"a\";b", "`", "{\"score\": NaN}", &long]
        .map(|text| format!("begins {text} ends"))
        .into()
}

/// A run in which every text of every case is this one.
fn run_with(text: &str) -> (tempfile::TempDir, RunData) {
    let output = tempfile::tempdir().expect("a temporary directory");
    let mut synthetic = SyntheticRun::new("20261122T142550Z-000001", 4, 2);
    synthetic.hostile = Some(text.to_owned());
    let mut run = RunData::read(synthetic.write(output.path())).expect("the run can be read");
    let location = Location::new(text, 3, 1);
    let outcomes = [Status::Failed, Status::Error, Status::Passed, Status::Skipped];
    let mut cases: Vec<_> = run.suites.iter_mut().flat_map(|suite| &mut suite.cases).collect();
    assert_eq!(cases.len(), outcomes.len());
    for (case, outcome) in cases.iter_mut().zip(outcomes) {
        let record = &mut case.record;
        for field in texts(&mut record.identity) {
            text.clone_into(field);
        }
        record.location = location.clone();
        record.outcome = outcome;
        // The case that passed is flaky.
        (record.passed, record.completed, record.errors) = (1, 2, 0);
        record.failed_graders = vec![text.to_owned()];
        let reason = Reason::new(Stage::Agent, ReasonCode::AgentError, text);
        record.reason = (outcome != Status::Passed).then(|| reason.clone());
        for trial in &mut case.trials {
            let record = &mut trial.record;
            for field in texts(&mut record.identity) {
                text.clone_into(field);
            }
            record.tags = vec![text.to_owned()];
            record.answer = Some(text.to_owned());
            (record.model, record.failure_bucket) = (Some(text.to_owned()), Some(text.to_owned()));
            record.location = location.clone();
            record.outcome = if outcome == Status::Passed { Status::Failed } else { outcome };
            record.reason = Some(reason.clone());
            for grader in &mut record.graders {
                hostile_grader(grader, text, &location);
            }
        }
    }
    for suite in &mut run.suites {
        text.clone_into(&mut suite.name);
    }
    (output, run)
}

fn texts(identity: &mut CaseIdentity) -> [&mut String; 5] {
    let CaseIdentity { case_id, test_name, target, suite, agent, .. } = identity;
    [case_id, test_name, target, suite, agent]
}

fn hostile_grader(grader: &mut GraderRecord, text: &str, location: &Location) {
    for field in [&mut grader.name, &mut grader.grader_type] {
        text.clone_into(field);
    }
    grader.rationale = Some(text.to_owned());
    grader.location = location.clone();
    grader.assertions = vec![Assertion::new(text, false).with_expected(text).with_actual(text).with_evidence(text)];
    if let Some(judge) = &mut grader.judge {
        text.clone_into(&mut judge.name);
        judge.model = Some(text.to_owned());
    }
}

fn in_format(name: &str, run: &RunData) -> String {
    Format::named(name).expect("a format").text(run).expect("it can be written").expect("one text")
}

/// Texts and attributes of an XML document, as a reader gets them. By the rules of XML 1.0, section 2.2.
fn read_xml(xml: &str) -> Result<Vec<String>, String> {
    let is_char =
        |c: char| matches!(u32::from(c), 0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x10000..=0x10FFFF);
    if let Some(forbidden) = xml.chars().find(|c| !is_char(*c)) {
        return Err(format!("{forbidden:?} is not a character of XML"));
    }
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut texts, mut text, mut depth) = (Vec::new(), String::new(), 0_i32);
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                depth += i32::from(matches!(event, Event::Start(_)));
                for attribute in tag.attributes() {
                    let attribute = attribute.map_err(|error| error.to_string())?;
                    let value =
                        attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|error| error.to_string())?;
                    texts.push(value.into_owned());
                }
            }
            Event::Text(part) => {
                text.push_str(&part.xml10_content().map_err(|error| error.to_string())?);
                continue;
            }
            Event::GeneralRef(reference) => {
                let resolved = reference.resolve_char_ref().map_err(|error| error.to_string())?;
                let name = reference.decode().map_err(|error| error.to_string())?;
                match resolved {
                    Some(character) if is_char(character) => text.push(character),
                    Some(character) => return Err(format!("a reference to {character:?}")),
                    None => {
                        text.push_str(quick_xml::escape::resolve_predefined_entity(&name).ok_or("an unknown entity")?)
                    }
                }
                continue;
            }
            Event::End(_) => depth -= 1,
            Event::Eof if depth == 0 => return Ok(texts),
            Event::Eof => return Err("an element is open".to_owned()),
            Event::Decl(_) => {}
            other => return Err(format!("{other:?}")),
        }
        texts.push(std::mem::take(&mut text));
    }
}

/// The text with these characters shown as in Rust.
fn escaped(text: &str, is_forbidden: impl Fn(char) -> bool) -> String {
    text.chars().map(|c| if is_forbidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn junit_is_xml_with_every_text() {
    for text in hostile_texts() {
        let (_output, run) = run_with(&text);
        let xml = in_format("junit", &run);
        let texts = read_xml(&xml).unwrap_or_else(|problem| panic!("{text:?}: {problem}"));
        let shown = escaped(&text, |c| {
            c.is_ascii_control() && !"\t\n\r\u{7f}".contains(c) || matches!(c, '\u{fffe}' | '\u{ffff}')
        });
        // Names, places, tags, and the test.
        assert!(texts.iter().filter(|read| **read == shown).count() >= 4 * 3, "{text:?} is not in:\n{xml}");
        let line = one_line(&text);
        let line = escaped(&line, |c| c.is_ascii_control() && c != '\u{7f}' || matches!(c, '\u{fffe}' | '\u{ffff}'));
        assert!(texts.iter().any(|read| read.ends_with(&line)), "{line:?} is no message");
        assert!(texts.iter().any(|read| read.contains(&format!("    evidence: {shown}"))), "{text:?} is no evidence");
    }
}

/// Every text in a JSON document.
fn strings(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => found.push(text.clone()),
        serde_json::Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        serde_json::Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            found.push(key.clone());
            strings(value, found);
        }),
        _ => {}
    }
}

fn assert_json_with(json: &str, text: &str, what: &str) {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut found = Vec::new();
    strings(&value, &mut found);
    assert!(found.iter().any(|found| found.contains(text)), "{what} has no {text:?}");
}

#[test]
fn json_formats_are_json_with_every_text() {
    for text in hostile_texts() {
        let (_output, run) = run_with(&text);
        // Written from the records on disk, of which the first case is hostile.
        assert_json_with(&in_format("json", &run), &text, "json");
        let (mut traces, mut logs) = (Vec::new(), Vec::new());
        otel(&run, &mut traces, &mut logs).expect("data");
        let (traces, logs) = (String::from_utf8(traces).expect("text"), String::from_utf8(logs).expect("text"));
        for line in traces.lines() {
            assert_json_with(line, &text, "traces");
            let data: TracesData = serde_json::from_str(line).expect("TracesData");
            assert!(!data.resource_spans.is_empty());
        }
        for line in logs.lines() {
            assert_json_with(line, &text, "logs");
            let data: LogsData = serde_json::from_str(line).expect("LogsData");
            assert!(!data.resource_logs.is_empty());
        }
        for log in inspect_logs(&run) {
            let name = log.file_name(InspectFormat::Eval);
            assert!(
                name.len() < 256 && !name.contains(|c: char| c.is_control() || "/\\\u{ffff}".contains(c)),
                "{name:?}"
            );
            let mut json = Cursor::new(Vec::new());
            log.write(InspectFormat::Json, &mut json).expect("a log");
            assert_json_with(&String::from_utf8(json.into_inner()).expect("text"), &text, "inspect");
            let mut archive = Cursor::new(Vec::new());
            log.write(InspectFormat::Eval, &mut archive).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            let mut archive = zip::ZipArchive::new(archive).expect("an archive");
            for index in 0..archive.len() {
                let mut file = archive.by_index(index).expect("a file");
                let (mut json, name) = (String::new(), file.name().expect("a name").into_owned());
                file.read_to_string(&mut json).expect("text");
                let is_sample = name.starts_with("samples/");
                assert_json_with(&json, if is_sample { &text } else { "" }, &name);
            }
        }
    }
}

#[test]
fn annotations_are_one_command_per_line() {
    for text in hostile_texts() {
        let (_output, run) = run_with(&text);
        let commands = in_format("github", &run);
        assert!(!commands.contains(|c: char| c.is_control() && !"\t\n".contains(c) || c == '\u{ffff}'), "{commands:?}");
        let lines: Vec<&str> = commands.lines().collect();
        assert_eq!(lines.len(), 4, "{commands}");
        for line in lines {
            let (properties, _) = line[2..].split_once("::").expect("a message");
            let properties = properties.split_once(' ').expect("properties").1;
            let names: Vec<&str> =
                properties.split(',').filter_map(|property| property.split_once('=')).map(|(name, _)| name).collect();
            assert_eq!(names, ["file", "line", "col", "title"], "{line}");
        }
    }
}

/// Elements and markup of a Markdown document, and the texts of its code blocks.
fn structure(markdown: &str) -> (Vec<String>, Vec<String>) {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    let (mut elements, mut blocks, mut block) = (Vec::new(), Vec::new(), None);
    for event in
        Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH)
    {
        match event {
            Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => blocks.extend(block.take()),
            Event::Start(tag) => elements.push(format!("{tag:?}")),
            Event::Html(html) | Event::InlineHtml(html) => elements.push(html.trim().to_owned()),
            Event::Code(_) => elements.push("code".to_owned()),
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::Rule | Event::HardBreak => {
                elements.push(format!("{event:?}"))
            }
            Event::Text(text) => block.iter_mut().for_each(|block| block.push_str(&text)),
            _ => {}
        }
    }
    (elements, blocks)
}

#[test]
fn markdown_has_the_elements_of_a_harmless_run() {
    let (_output, harmless) = run_with("harmless");
    let (elements, blocks) = structure(&in_format("markdown", &harmless));
    assert!(elements.contains(&"<details><summary>details</summary>".to_owned()) && !blocks.is_empty(), "{elements:?}");
    // Of a run with longer texts, entries are left out.
    for text in hostile_texts().into_iter().filter(|text| text.len() < 10_000) {
        let (_output, run) = run_with(&text);
        let markdown = in_format("markdown", &run);
        assert!(!markdown.contains(|c: char| c.is_control() && !"\t\n".contains(c)), "{markdown:?}");
        let (found, shown) = structure(&markdown);
        assert_eq!(found, elements, "{text:?}:\n{markdown}");
        assert_eq!(shown.len(), blocks.len(), "{text:?}:\n{markdown}");
    }
}

#[test]
fn the_page_contains_no_text_of_a_run() {
    let page = |text: &str| {
        let (_output, run) = run_with(text);
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("report.html");
        HtmlReport::new(run).write_file(&file).expect("a page");
        std::fs::read_to_string(file).expect("text")
    };
    let scripts = page("harmless").matches("</script").count();
    for text in hostile_texts() {
        let page = page(&text);
        // Larger data are in more scripts.
        let is_larger = text.len() > 10_000;
        assert!(page.matches("</script").count() == scripts || is_larger, "{text:?}");
        assert!(!page.contains(&text) && !page.contains(|c: char| c.is_control() && !"\t\n\r".contains(c)), "{text:?}");
    }
}

#[test]
fn numbers_that_json_does_not_have_are_null() {
    let (_output, mut run) = run_with("harmless");
    for trial in run.suites.iter_mut().flat_map(|suite| &mut suite.cases).flat_map(|case| &mut case.trials) {
        (trial.record.score, trial.record.cost_usd) = (Some(f64::NAN), Some(f64::INFINITY));
        trial.record.graders.iter_mut().for_each(|grader| grader.value = Some(f64::NEG_INFINITY));
    }
    let (mut traces, mut logs) = (Vec::new(), Vec::new());
    otel(&run, &mut traces, &mut logs).expect("data");
    for line in [traces, logs].iter().flat_map(|text| std::str::from_utf8(text).expect("text").lines()) {
        assert_json_with(line, "harmless", "otel");
    }
    for log in inspect_logs(&run) {
        let mut json = Cursor::new(Vec::new());
        log.write(InspectFormat::Json, &mut json).expect("a log");
        assert_json_with(&String::from_utf8(json.into_inner()).expect("text"), "harmless", "inspect");
    }
    let _: Value = evalsuite_schema::json::from_str(&in_format("json", &run)).expect("JSON");
}
