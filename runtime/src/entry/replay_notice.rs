//! The notice of a replay: without it, a passed test looks as if the agent had run.

use std::fs;
use std::fs::File;

use evalsuite_records::record::Mode;

use crate::platform::notice;
use crate::record::run_directory::RunDirectory;
use crate::run::settings::Settings;

/// Says once per run that a replay does not run the agent.
pub(crate) fn show(settings: &Settings, run: &RunDirectory) {
    if settings.mode != Mode::Replay {
        return;
    }
    let locks = run.locks();
    // If the file cannot be made, another test has shown the line.
    if fs::create_dir_all(&locks).and_then(|()| File::create_new(locks.join("replay-shown"))).is_ok() {
        notice::say_on_terminal_too(
            "EVALSUITE_MODE=replay grades recorded answers and does not run the agent; changes to its code have no effect",
        );
    }
}
