//! Pages of transcripts without a run.

use std::path::Path;

use evalsuite_needs::{needs, slow};
use evalsuite_report::{Transcript, write_transcripts};

use super::{assert_quiet, browser};

#[slow(page)]
#[needs(chromium)]
#[test]
fn any_atif_document_is_shown() {
    let mut browser = browser();
    let document = r#"{
        "schema_version": "ATIF-v1.7", "agent": { "name": "other-agent", "version": "2", "model_name": "m" }, "unknown": true,
        "steps": [
            { "step_id": 1, "source": "user", "message": [{ "type": "text", "text": "look <b>here</b>" }, { "type": "image", "source": { "media_type": "image/png", "path": "shot.png" } }] },
            { "step_id": 2, "source": "agent", "message": "", "tool_calls": [{ "tool_call_id": "c", "function_name": "read", "arguments": { "path": "a" } }],
              "observation": { "results": [{ "source_call_id": "c", "content": "contents of a" }] } }
        ],
        "final_metrics": { "total_prompt_tokens": 12345, "total_cost_usd": 0.5 }, "extra": { "reward": { "pass": false, "score": 0.25 } },
        "subagent_trajectories": [{ "schema_version": "ATIF-v1.7", "agent": { "name": "helper", "version": "1" }, "steps": [{ "step_id": 1, "source": "agent", "message": "helped" }] }]
    }"#;
    let ours = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/card-agent-run/suites/card_agent_capability-71fd6e5a/cases/pos_laptop_v1-c08fe219/trial-000/trajectory.json"),
    );
    let transcripts = [
        Transcript::parse("runs/other.json", document.as_bytes()).unwrap(),
        Transcript::parse("trajectory.json", &ours.unwrap()).unwrap(),
    ];
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("page.html");
    write_transcripts(&transcripts, &file).unwrap();
    browser.open(&file, "");
    browser.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })");
    browser.wait("document.querySelectorAll('.folded').length === 2");
    let text = browser.evaluate("document.querySelector('main').innerText").as_str().unwrap().to_owned();
    for expected in [
        "runs/other.json",
        "look <b>here</b>",
        "[image: shot.png]",
        "contents of a",
        "other-agent 2",
        "12.3 k",
        "$0.500",
        "Failed",
        "0.25",
        "helper",
        "helped",
    ] {
        assert!(text.contains(expected), "the page lacks {expected:?}:\n{text}");
    }
    browser.press("ArrowRight");
    browser.wait("document.querySelector('h1').textContent === 'trajectory.json'");
    assert!(
        browser.evaluate("document.querySelector('main').innerText").as_str().unwrap().contains("I'll save the card.")
    );
    assert_quiet(&browser);
}
