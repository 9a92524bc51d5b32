//! The environment variables of a sealed command.

use std::ffi::OsStr;
use std::process::Command;

use crate::platform::sealed::installations;
use crate::platform::sealed::own_directories::OwnDirectories;

/// Sockets of agents and sessions, directories of the user, and where cargo keeps credentials.
const REMOVED: &[&str] = &[
    "CARGO_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "GNUPGHOME",
    "GNOME_KEYRING_CONTROL",
    "GPG_AGENT_INFO",
    "KRB5CCNAME",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "VSCODE_GIT_IPC_HANDLE",
    "VSCODE_IPC_HOOK_CLI",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// Replaces the home directory and the directory for temporary files, and removes variables that lead to what a seal closes. A variable that
/// the command's settings set stays.
pub(crate) fn confine(command: &mut Command, directories: &OwnDirectories) {
    let set: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    let is_free = |name: &str| !set.iter().any(|known| known == OsStr::new(name));
    for name in REMOVED.iter().filter(|name| is_free(name)) {
        command.env_remove(name);
    }
    let temporary = directories.temporary();
    let own = [("HOME", directories.home()), ("TMPDIR", temporary), ("TEMP", temporary), ("TMP", temporary)];
    for (name, directory) in own.into_iter().filter(|(name, _)| is_free(name)) {
        command.env(name, directory);
    }
    // The programs of toolchain managers look for the toolchains in the home directory.
    for (name, directory) in installations::manager_variables().filter(|(name, _)| is_free(name)) {
        command.env(name, directory);
    }
}
