//! The running processes of a program: those of its process group, and those that left the group and its session. The latter are
//! found by a variable that they inherit.

#[cfg(target_os = "linux")]
mod proc_files;
#[cfg(any(not(target_os = "linux"), test))]
mod process_list;

#[cfg(target_os = "linux")]
pub(crate) use self::proc_files::{Member, of};
#[cfg(not(target_os = "linux"))]
pub(crate) use self::process_list::{Member, of};

/// What the processes of a program are found by.
pub(crate) struct Sought<'g> {
    /// Id of its process group.
    pub(crate) group: u32,
    /// Whether its process group has ended: the id may be that of another group.
    pub(crate) is_over: bool,
    /// The variable that its detached processes have.
    pub(crate) mark: Option<&'g str>,
}
