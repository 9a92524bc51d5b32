//! Job objects of Windows: the processes that a program starts are in a job, and end with it.
//!
//! The system ends the processes of a job when its last handle is closed, so a job is also the watchdog: the handle is closed when this
//! process ends, however that happens. What a program starts before it is in the job, which takes microseconds, stays outside.

use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;

use send_ctrlc::Interruptible;
use win32job::{ExtendedLimitInfo, Job};

/// The processes of a program. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct ProcessJob(Job);

impl ProcessJob {
    /// The job of a program that has just been started.
    pub(super) fn of(program: &Child) -> io::Result<Self> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits)?;
        job.assign_process(program.as_raw_handle() as isize)?;
        Ok(Self(job))
    }

    /// Whether a process of it runs.
    pub(super) fn has_processes(&self) -> bool {
        // The crate lists at most 1024, and fails if there are more.
        self.0.query_process_id_list().map_or(true, |ids| !ids.is_empty())
    }

    /// Lets its processes continue to run.
    pub(super) fn keep(self) -> io::Result<()> {
        self.0.set_extended_limit_info(&ExtendedLimitInfo::new()).map_err(Into::into)
    }
}

/// Sends Ctrl-Break to the programs of the process group that a program leads. A program without a console does not get it.
pub(super) fn ask_to_end(leader: u32) -> io::Result<()> {
    Leader(leader).terminate()
}

struct Leader(u32);

impl Interruptible for Leader {
    fn pid(&mut self) -> io::Result<Option<u32>> {
        Ok(Some(self.0))
    }
}
