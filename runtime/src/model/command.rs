//! Commands that an agent runs, and the processes that end with their trial. Whether one is sealed is decided by its own settings, those of
//! its suite, and the environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{env, io};

use evalsuite_records::record::SealRecord;
use evalsuite_schema::{PathRef, SealMode, Sealing};

use crate::model::suite_location::SuiteLocation;
use crate::platform::environment::{self, CEILING, ceiling_of};
use crate::platform::process::{Detached, Echo, RunningGroup, TERMINATION_GRACE, end_groups, spawn};
use crate::platform::seal_terms::{SealRefusal, SealedFiles};
use crate::platform::sealed::SealedStart;
use crate::platform::sealed::decision::{SealDecision, decide};

/// The environment variables of every command in a trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandEnvironment {
    variables: Vec<(&'static str, OsString)>,
    pub(crate) echo: Echo,
    /// Which of the commands are sealed.
    pub(crate) seals: SealDefaults,
}

impl CommandEnvironment {
    pub(crate) fn new(variables: Vec<(&'static str, OsString)>, echo: Echo) -> Self {
        Self { variables, echo, seals: SealDefaults::default() }
    }

    /// Of a target in a run.
    pub(crate) fn of_run(places: &SuiteLocation, run_id: &str, target: &str, echo: Echo) -> Self {
        let variables = vec![
            ("EVALSUITE_SUITE_DIR", places.suite_dir.clone().into()),
            ("EVALSUITE_RUN_ID", run_id.into()),
            ("EVALSUITE_TARGET", target.into()),
        ];
        Self::new(variables, echo)
    }

    /// Of a trial of the target, with its workspace and the directory for its files.
    pub(crate) fn of_trial(
        mut self,
        case_dir: PathBuf,
        case_id: &str,
        trial: u32,
        directory: &Path,
        workspace: &Path,
    ) -> Self {
        self.variables.extend(of_workspace(workspace));
        self.variables.extend([
            ("EVALSUITE_CASE_DIR", case_dir.into()),
            ("EVALSUITE_TRIAL_DIR", directory.into()),
            ("EVALSUITE_CASE_ID", case_id.into()),
            ("EVALSUITE_TRIAL", trial.to_string().into()),
        ]);
        self
    }

    pub(crate) fn apply(&self, command: &mut process::Command) {
        command.envs(environment::of_file());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
    }
}

/// The variables of commands that have a workspace.
pub(crate) fn of_workspace(workspace: &Path) -> impl Iterator<Item = (&'static str, OsString)> {
    let named = [("EVALSUITE_WORKSPACE", workspace.into()), ("AGENTV_WORKSPACE_PATH", workspace.into())];
    named.into_iter().chain(ceiling_of(workspace).map(|ceiling| (CEILING, ceiling)))
}

/// A command that the system's shell interprets.
pub(crate) fn shell(line: &str) -> process::Command {
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        let mut command = process::Command::new("cmd");
        // `cmd` does not understand the quotes of other programs. With /S it removes these two and no others, and it reads the
        // line without what a user has set for shells: no commands at its start, `!NAME!` as text.
        command.args(["/D", "/E:ON", "/V:OFF", "/S", "/C"]).raw_arg(format!("\"{line}\""));
        command
    }
    #[cfg(not(windows))]
    {
        let mut command = process::Command::new("sh");
        command.arg("-c").arg(line);
        command
    }
}

/// The process groups that were started for a trial, so that they can be terminated with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChildGroups(Arc<Mutex<Groups>>);

#[derive(Debug, Default)]
struct Groups {
    running: Vec<RunningGroup>,
    /// Programs whose group has ended. Detached processes of them end with the trial.
    over: Vec<RunningGroup>,
    closed: bool,
}

impl Groups {
    /// Sets groups without processes apart: the system may reuse their ids.
    fn set_over(&mut self, is_over: impl Fn(&RunningGroup) -> bool) {
        for mut group in self.running.extract_if(.., |group| is_over(group)) {
            group.set_over();
            self.over.push(group);
        }
    }
}

impl ChildGroups {
    fn lock(&self) -> std::sync::MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Terminates all registered groups. Groups that are added later are refused.
    pub(crate) fn end_all(&self, grace: Duration) {
        let running = {
            let mut groups = self.lock();
            groups.closed = true;
            let mut all = std::mem::take(&mut groups.running);
            all.append(&mut groups.over);
            all
        };
        end_groups(running, grace);
    }

    fn add(&self, group: RunningGroup) -> Result<(), RunningGroup> {
        let mut groups = self.lock();
        if groups.closed {
            return Err(group);
        }
        groups.set_over(|group| !group.exists());
        groups.running.push(group);
        Ok(())
    }

    /// Removes the group of a process that has ended, unless the process left others behind.
    fn waited(&self, id: u32) {
        self.lock().set_over(|group| group.id() == id && !group.exists());
    }
}

/// Terminates the process groups of a trial when it is dropped.
#[derive(Debug)]
pub(crate) struct EndWithTrial(pub(crate) ChildGroups);

impl Drop for EndWithTrial {
    fn drop(&mut self) {
        self.0.end_all(TERMINATION_GRACE);
    }
}

/// A command that an agent runs, in a process group that is terminated with the trial.
///
/// [`Trial::command`](crate::Trial::command) creates it. It starts in the workspace, with an empty standard input.
///
/// ```
/// use evalsuite::{AgentError, Trial};
///
/// fn agent(trial: &mut Trial<'_>) -> Result<String, AgentError> {
///     let output = trial.command("my-agent").arg("--prompt").arg(trial.prompt()).output();
///     let output = output.map_err(|error| AgentError::new(format!("my-agent cannot be started: {error}")))?;
///     Ok(String::from_utf8_lossy(&output.stdout).into_owned())
/// }
/// ```
#[derive(Debug)]
pub struct TrialCommand {
    inner: process::Command,
    groups: ChildGroups,
    echo: Echo,
}

impl TrialCommand {
    pub(crate) fn new(
        program: &OsStr,
        directory: &Path,
        environment: &CommandEnvironment,
        groups: ChildGroups,
    ) -> Self {
        let mut inner = process::Command::new(program);
        inner.current_dir(directory).stdin(Stdio::null());
        environment.apply(&mut inner);
        Self { inner, groups, echo: environment.echo }
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.inner.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.inner.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env(name, value);
        self
    }

    /// Removes an environment variable.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env_remove(name);
        self
    }

    /// Sets the working directory in place of the workspace.
    pub fn current_dir(&mut self, directory: impl Into<PathBuf>) -> &mut Self {
        self.inner.current_dir(directory.into());
        self
    }

    /// Sets where standard input comes from.
    pub fn stdin(&mut self, source: impl Into<Stdio>) -> &mut Self {
        self.inner.stdin(source);
        self
    }

    /// Sets where standard output goes.
    pub fn stdout(&mut self, target: impl Into<Stdio>) -> &mut Self {
        self.inner.stdout(target);
        self
    }

    /// Sets where standard error goes.
    pub fn stderr(&mut self, target: impl Into<Stdio>) -> &mut Self {
        self.inner.stderr(target);
        self
    }

    /// Starts the command.
    ///
    /// # Errors
    ///
    /// If the command cannot be started, or the trial is over.
    pub fn spawn(&mut self) -> io::Result<Child> {
        let (mut child, group) = spawn(&mut self.inner, self.echo, Detached::End)?;
        if let Err(group) = self.groups.add(group) {
            drop(group);
            child.wait()?;
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the trial is over"));
        }
        Ok(child)
    }

    /// Runs the command and collects its output. This blocks the thread until the command ends, at most until the time limit of
    /// the trial.
    ///
    /// # Errors
    ///
    /// If the command cannot be started, or its output cannot be read.
    pub fn output(&mut self) -> io::Result<Output> {
        self.inner.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.spawn()?;
        let id = child.id();
        let output = child.wait_with_output();
        self.groups.waited(id);
        output
    }
}

/// What holds for commands that do not say so themselves, and what no sealed command may use.
#[derive(Debug, Clone, Default)]
pub(crate) struct SealDefaults {
    pub(crate) suite: Option<SealMode>,
    pub(crate) environment: Option<SealMode>,
    pub(crate) hidden: Vec<PathBuf>,
}

/// Whether a command is sealed, and how it starts then.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandSeal {
    /// `None`: no command is started.
    pub(crate) record: Option<SealRecord>,
    pub(crate) start: Option<SealedStart>,
}

impl CommandSeal {
    /// Of a command that is not to be sealed.
    pub(crate) fn off() -> Self {
        Self { record: Some(SealRecord::off()), start: None }
    }
}

impl SealDefaults {
    /// The mode of a command with these settings.
    pub(crate) fn mode(&self, own: &Sealing) -> SealMode {
        effective_mode(own.sealed, self.suite, self.environment)
    }

    /// Whether a command with these settings is sealed; the error says why it must not run.
    pub(crate) fn decide(&self, own: &Sealing) -> Result<SealDecision, Box<SealRefusal>> {
        decide(self.mode(own), own)
    }

    /// The same, with what the command may use: `files`, and what its settings name.
    pub(crate) fn seal(
        &self,
        own: &Sealing,
        places: &SuiteLocation,
        files: SealedFiles,
    ) -> Result<CommandSeal, Box<SealRefusal>> {
        let decision = self.decide(own)?;
        let record = Some(decision.record());
        let SealDecision::Sealed(_, rules) = decision else { return Ok(CommandSeal { record, start: None }) };
        let resolved = |paths: &[PathRef]| paths.iter().map(|path| resolved(path, places)).collect();
        let files = SealedFiles {
            hidden: self.hidden.clone(),
            read: resolved(&own.read),
            write: resolved(&own.write),
            ..files
        };
        Ok(CommandSeal { record, start: Some(SealedStart::new(rules, files)?) })
    }
}

/// The mode of a command whose settings say `own`. The environment replaces what files say, except `required`, which it cannot loosen.
fn effective_mode(own: Option<SealMode>, suite: Option<SealMode>, environment: Option<SealMode>) -> SealMode {
    match own.or(suite) {
        Some(SealMode::Required) => SealMode::Required,
        written => environment.or(written).unwrap_or_default(),
    }
}

/// The path on this machine.
fn resolved(path: &PathRef, places: &SuiteLocation) -> PathBuf {
    let inner = path.path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (inner, env::home_dir()) {
        (Some(inner), Some(home)) => home.join(inner.trim_start_matches('/')),
        _ => places.resolve(path),
    }
}

/// What no sealed command may use of a suite whose records are in `output`: the suite, records, recordings and baselines, the target
/// directory of cargo, and the history of the repository that the package is in.
pub(crate) fn hidden_directories(places: &SuiteLocation, output: Option<&Path>) -> Vec<PathBuf> {
    let package = &places.package_root;
    let mut hidden = vec![places.suite_dir.clone(), package.join(".evalsuite"), package.join("target")];
    hidden.extend(output.map(Path::to_owned));
    hidden.extend(target_directory());
    hidden.extend(package.ancestors().map(|directory| directory.join(".git")));
    hidden.retain(|path| path.exists());
    hidden
}

/// The target directory that this program was built in.
fn target_directory() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let program = env::current_exe().ok()?;
        program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").is_file()).map(Path::to_owned)
    };
    FOUND.get_or_init(find).clone()
}

#[cfg(all(test, unix))]
mod command_tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str, groups: &ChildGroups) -> TrialCommand {
        let mut command =
            TrialCommand::new("sh".as_ref(), Path::new("/"), &CommandEnvironment::default(), groups.clone());
        command.args(["-c", script]);
        command
    }

    fn wait_until(done: impl Fn() -> bool) {
        let limit = Instant::now() + Duration::from_secs(20);
        while !done() {
            assert!(Instant::now() < limit, "expected programs to have ended by now");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn processes_that_a_command_left_behind_end_with_the_trial() {
        let groups = ChildGroups::default();
        let trial = EndWithTrial(groups.clone());
        let output = shell("sleep 100 >/dev/null 2>&1 & echo $!", &groups).output().unwrap();
        assert_eq!(groups.lock().running.len(), 1, "the group outlives its leader");
        let left: i32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        let left = rustix::process::Pid::from_raw(left).unwrap();
        rustix::process::test_kill_process(left).unwrap();
        drop(trial);
        wait_until(|| !is_running(left));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processes_that_left_the_group_of_a_command_that_has_ended_end_with_the_trial() {
        let groups = ChildGroups::default();
        let trial = EndWithTrial(groups.clone());
        let output = shell("setsid sh -c 'echo $$; exec sleep 100 >/dev/null 2>&1' &", &groups).output().unwrap();
        let left: i32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        let left = rustix::process::Pid::from_raw(left).unwrap();
        assert!(is_running(left) && groups.lock().over.len() == 1);
        drop(trial);
        wait_until(|| !is_running(left));
    }

    #[test]
    fn a_command_that_ignores_sigterm_is_killed_and_later_ones_do_not_start() {
        let groups = ChildGroups::default();
        let mut child = shell("trap '' TERM; echo ready; while :; do sleep 1; done", &groups)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        io::Read::read_exact(&mut child.stdout.take().unwrap(), &mut [0; 6]).unwrap();
        groups.end_all(Duration::from_millis(200));
        assert!(!child.wait().unwrap().success());
        let error = shell("true", &groups).spawn().unwrap_err();
        assert_eq!(error.to_string(), "the trial is over");
    }

    #[test]
    fn groups_whose_processes_have_ended_are_not_waited_for() {
        let groups = ChildGroups::default();
        // Without a `wait`, they remain as zombies.
        let children: Vec<Child> = (0..3).map(|_| shell("exit 0", &groups).spawn().unwrap()).collect();
        thread::sleep(Duration::from_millis(50));
        let started = Instant::now();
        groups.end_all(Duration::from_secs(60));
        assert!(started.elapsed() < Duration::from_secs(30));
        drop(children);
    }

    /// A zombie is not running: init may be slow to reap it.
    fn is_running(id: rustix::process::Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
        match stat {
            Ok(stat) => !stat.contains(") Z "),
            Err(_) => rustix::process::test_kill_process(id).is_ok() && !Path::new("/proc/self").exists(),
        }
    }
}

#[cfg(test)]
mod command_seal_tests {
    use super::*;

    #[test]
    fn the_environment_replaces_what_files_say_and_does_not_loosen_required() {
        use SealMode::{Auto, Off, Required};
        for (own, suite, environment, expected) in [
            (None, None, None, Off),
            (None, Some(Auto), None, Auto),
            (Some(Off), Some(Required), None, Off),
            (Some(Auto), None, Some(Off), Off),
            (Some(Auto), None, Some(Required), Required),
            (None, None, Some(Auto), Auto),
            (Some(Required), None, Some(Off), Required),
            (None, Some(Required), Some(Auto), Required),
        ] {
            assert_eq!(effective_mode(own, suite, environment), expected, "{own:?} {suite:?} {environment:?}");
        }
    }
}
