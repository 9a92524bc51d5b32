//! Reading time of large files. That of a typical case is measured by benches/compile.

use std::fmt::Write;

use cpu_time::ThreadTime;

use super::{json, yaml};

/// Nothing looks back to the start: 64 times the text would take 4096 times as long. Other programs slow down a thread, and do not count as its
/// processor time; the bound leaves room for what they do to caches.
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
                let start = ThreadTime::now();
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
