//! Recordings of agents that speak the protocol.

use evalsuite::record::{Mode, ReasonCode};
use evalsuite_schema::json::json;

use super::{Package, passed, with_workspace};
use crate::common::run_in_mode;

#[test]
fn a_recording_replaces_the_agent_until_its_entry_changes() {
    let script = r#"start; ask w fs/write_text_file "{\"sessionId\":\"s1\",\"path\":\"$PWD/new.txt\",\"content\":\"new\"}"; text "done $RANDOM_TEXT"; end"#;
    let place = Package::new(script, "");
    let case = with_workspace(json!({}));
    passed(&run_in_mode(&place.evals(&case), place.path(), Mode::Record));
    place.write("exit 1", "");
    let replayed = run_in_mode(&place.evals(&case), place.path(), Mode::Replay);
    passed(&replayed);
    assert_eq!(replayed.trials()[0].workspace.as_ref().unwrap().created, ["new.txt"]);
    for keys in ["    permissions: deny\n", "    client_files: false\n", "    authenticate: key\n"] {
        place.write("exit 1", keys);
        let stale = run_in_mode(&place.evals(&case), place.path(), Mode::Replay);
        let reason = stale.record().reason.as_ref().unwrap_or_else(|| panic!("{stale}"));
        assert_eq!(reason.code, ReasonCode::RecordingStale, "{keys}");
        assert!(reason.message.contains("the target's command changed:"), "{}", reason.message);
    }
    // The same command that is not spoken to in the protocol.
    let targets = std::fs::read_to_string(place.path().join("targets.yaml")).unwrap();
    let targets = targets.replace("provider: acp", "provider: cli").replace("    authenticate: key\n", "");
    std::fs::write(place.path().join("targets.yaml"), targets).unwrap();
    let stale = run_in_mode(&place.evals(&case), place.path(), Mode::Replay);
    assert_eq!(stale.record().reason.as_ref().unwrap().code, ReasonCode::RecordingStale);
}
