//! The process that started this one, on Windows.

use std::time::{Duration, SystemTime};

use winsafe::guard::CloseHandleGuard;
use winsafe::{FILETIME, HPROCESS, HPROCESSLIST, co};

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
