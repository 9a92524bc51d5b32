//! The cargo that builds, which ends with `watch`.

use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::platform::cli_error::{CliError, ErrorContext, Result};

/// A build that can be ended from another thread. Cargo and its compilers are a process group.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningCargo(Arc<Mutex<BuildState>>);

#[derive(Debug, Default)]
struct BuildState {
    /// The process id of cargo.
    running: Option<u32>,
    is_stopped: bool,
}

impl RunningCargo {
    /// Runs cargo to its end.
    pub(super) fn output(&self, mut cargo: Command) -> Result<Output> {
        cargo.stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut cargo, 0);
        let child = {
            let mut state = self.state();
            if state.is_stopped {
                return Err(CliError::new("`watch` is ending"));
            }
            let child = cargo.spawn().of(&cargo)?;
            state.running = Some(child.id());
            child
        };
        let output = child.wait_with_output();
        self.state().running = None;
        Ok(output?)
    }

    /// Ends the build that runs, and starts no other one.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.is_stopped = true;
        #[cfg(unix)]
        if let Some(group) =
            state.running.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
        // Cargo runs, so it is the root of the tree of its processes.
        #[cfg(windows)]
        if let Some(id) = state.running {
            let mut end = Command::new("taskkill");
            end.args(["/T", "/F", "/PID", &id.to_string()]);
            // It may have ended.
            let _ = end.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, BuildState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
