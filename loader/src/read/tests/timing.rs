//! Reading time of a typical case file.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::{file, json, yaml};
use crate::diagnostic::Diagnostics;

const CASE: &str = r#"# a case
id: refund-small
tags: [billing, "refund", small]
criteria: The agent refunds the order and says so
input:
  - role: system
    content: You are a helpful assistant for the shop.
  - role: user
    content: |
      My order 4711 arrived broken.
      Please refund it.
assertions:
  - type: contains
    value: "refund"
    weight: 2
  - type: regex
    value: '\b4711\b'
    required: true
    min_score: 0.8
metadata:
  owner: billing
  ticket: SHOP-12
  priority: 3
"#;

/// The shortest of several rounds, per case: other work on the machine only ever adds.
fn per_case(mut read: impl FnMut()) -> Duration {
    const CASES: u32 = 200;
    let round = |_| {
        let start = Instant::now();
        (0..CASES).for_each(|_| read());
        start.elapsed() / CASES
    };
    (0..5).map(round).min().expect("several rounds")
}

/// The bounds are several times what was measured (80 µs for YAML, 15 µs for JSON), so that slow machines pass.
#[test]
#[cfg_attr(windows, ignore = "measures microseconds, and Wine is slower than its bound")]
fn a_case_of_500_bytes_is_read_in_microseconds_without_optimisation() {
    let file = file();
    let mut diagnostics = Diagnostics::new();
    let yaml_time = per_case(|| assert!(crate::read::parse_yaml(file, CASE, &mut diagnostics).is_some()));
    let as_json = yaml(CASE).0.expect("the case is YAML").to_json().to_string();
    let json_time = per_case(|| assert!(crate::read::parse_json(file, &as_json, &mut diagnostics).is_some()));
    println!("YAML, {} bytes: {yaml_time:?}; JSON, {} bytes: {json_time:?}", CASE.len(), as_json.len());
    assert!(yaml_time < Duration::from_micros(800), "{yaml_time:?}");
    assert!(json_time < Duration::from_micros(300), "{json_time:?}");
}

/// Nothing looks back to the start: 64 times the text would take 4096 times as long. The bound leaves room for whatever else
/// the machine does.
#[test]
fn time_grows_with_the_text_and_not_faster() {
    let yaml_text = |count: usize| {
        (0..count).fold(String::from("cases: ["), |mut text, index| {
            write!(text, "{{id: 'é-{index}', 'a': \"\\u00e9\"}}, ").expect("strings take everything");
            text
        }) + "]"
    };
    let json_text = |count: usize| yaml(&yaml_text(count)).0.expect("it is YAML").to_json().to_string();
    let time = |text: &str, read: fn(&str) -> bool| {
        (0..3)
            .map(|_| {
                let start = Instant::now();
                assert!(read(text));
                start.elapsed()
            })
            .min()
            .expect("three rounds")
    };
    let as_yaml = |text: &str| yaml(text).0.is_some();
    let as_json = |text: &str| json(text).0.is_some();
    for (name, few, many) in [
        ("YAML", time(&yaml_text(200), as_yaml), time(&yaml_text(12_800), as_yaml)),
        ("JSON", time(&json_text(200), as_json), time(&json_text(12_800), as_json)),
    ] {
        assert!(many < few * 1_000, "{name}: 64 times the text took {few:?} before, {many:?} after");
    }
}
