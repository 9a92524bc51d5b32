//! Processes on Windows: the job of a program, and the process that started this one.
//!
//! The processes that a program starts are in a job object, and end with it. The system ends them when its last handle is closed, so a job is
//! also the watchdog: the handle is closed when this process ends, however that happens. What a program starts before it is in the job, which
//! takes microseconds, stays outside.

use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;
use std::time::{Duration, SystemTime};

use send_ctrlc::Interruptible;
use win32job::{ExtendedLimitInfo, Job};
use winsafe::guard::CloseHandleGuard;
use winsafe::{FILETIME, HPROCESS, HPROCESSLIST, co};

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

/// 1970-01-01 in the clock of Windows, which counts 100 ns from 1601-01-01.
const UNIX_EPOCH: u64 = 116_444_736_000_000_000;

/// A running process. Its id is not used again while this exists.
pub(crate) struct ParentProcess {
    handle: CloseHandleGuard<HPROCESS>,
    pub(crate) id: u32,
    /// File name of its program.
    pub(crate) program: String,
    /// When it started, in units of 100 ns.
    pub(crate) start: u64,
}

impl ParentProcess {
    /// `None` if it has ended, or belongs to another user.
    pub(crate) fn find() -> Option<Self> {
        let own = std::process::id();
        let mut list = HPROCESSLIST::CreateToolhelp32Snapshot(co::TH32CS::SNAPPROCESS, None).ok()?;
        let mut processes = Vec::new();
        for process in list.iter_processes() {
            let process = process.ok()?;
            processes.push((process.th32ProcessID, process.th32ParentProcessID, process.szExeFile()));
        }
        let id = processes.iter().find(|(id, ..)| *id == own)?.1;
        let program = processes.into_iter().find(|(known, ..)| *known == id)?.2;
        let access = co::PROCESS::SYNCHRONIZE | co::PROCESS::QUERY_LIMITED_INFORMATION;
        let handle = HPROCESS::OpenProcess(access, false, id).ok()?;
        let start = start_of(&handle)?;
        // The id of a parent that has ended may be that of a later process.
        (start <= start_of(&HPROCESS::GetCurrentProcess())?).then_some(Self { handle, id, program, start })
    }

    /// When it started.
    pub(crate) fn started(&self) -> Option<SystemTime> {
        let since = self.start.checked_sub(UNIX_EPOCH)?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(since / 10))
    }

    /// Waits until it has ended; `false` if that cannot be found out.
    pub(crate) fn wait(&self) -> bool {
        self.handle.WaitForSingleObject(None).is_ok()
    }
}

fn start_of(process: &HPROCESS) -> Option<u64> {
    let (creation, ..): (FILETIME, _, _, _) = process.GetProcessTimes().ok()?;
    Some(u64::from(creation.dwHighDateTime) << 32 | u64::from(creation.dwLowDateTime))
}
