//! The running processes of a program: those of its process group, and those that left the group and its session. The latter are
//! found by a variable that they inherit.

#[cfg(target_os = "linux")]
mod proc_files;
#[cfg(any(not(target_os = "linux"), test))]
mod process_list;

#[cfg(target_os = "linux")]
pub(crate) use self::proc_files::of;
#[cfg(not(target_os = "linux"))]
pub(crate) use self::process_list::of;
