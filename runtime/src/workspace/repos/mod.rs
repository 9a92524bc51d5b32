//! Repositories in a workspace: clones, resets, and running git.

#[cfg(test)]
pub(crate) mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::{Repo, RepoSource, Reset, Resolve, Workspace};

use crate::model::command::CommandEnvironment;
use crate::model::suite_location::SuiteLocation;
use crate::platform::excerpt::last_chars;
use crate::platform::files::error_at;
use crate::platform::process::Echo;
use crate::platform::{environment, process};
use crate::workspace::copy::{CopyMode, remove_entry};
use crate::workspace::{BaseFacts, BaseRepo, remove_directory};

/// Clones the repositories of a workspace to their paths.
pub(crate) fn clone_all(
    workspace: &Workspace,
    directory: &Path,
    location: &SuiteLocation,
    echo: Echo,
) -> Result<(), Reason> {
    workspace.repos.iter().try_for_each(|repo| clone(repo, directory, location, echo))
}

/// Clones a repository to its path in the workspace.
fn clone(repo: &Repo, workspace: &Path, location: &SuiteLocation, echo: Echo) -> Result<(), Reason> {
    RepoClone { repo, directory: workspace.join(relative(&repo.path)), location, echo }.clone_and_check_out().map_err(
        |error| {
            let message = format!("cannot clone the repository at `{}`: {error}", repo.path);
            Reason::new(Stage::Workspace, ReasonCode::RepoError, message)
        },
    )
}

/// Adds the commits that are checked out in the repositories of a workspace. A repository that a hook removed cannot be reset.
pub(crate) fn add_commits(found: &mut Vec<BaseRepo>, workspace: &Workspace, directory: &Path, echo: Echo) {
    found.extend(workspace.repos.iter().filter_map(|repo| {
        let commit = head(&directory.join(relative(&repo.path)), echo).ok()?;
        Some(BaseRepo { path: repo.path.clone(), commit })
    }));
}

/// The commit that is checked out in a repository.
fn head(directory: &Path, echo: Echo) -> io::Result<String> {
    git(directory, ["rev-parse", "HEAD"], echo)
}

/// A path in the workspace without `.`, which joined paths would contain.
fn relative(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

/// Returns the repositories of a workspace to their commits.
pub(crate) fn reset_all(workspace: &Path, facts: &BaseFacts, reset: Reset, echo: Echo) -> io::Result<()> {
    facts.repos.iter().try_for_each(|repo| reset_repo(&workspace.join(relative(&repo.path)), &repo.commit, reset, echo))
}

fn reset_repo(directory: &Path, commit: &str, reset: Reset, echo: Echo) -> io::Result<()> {
    if !directory.join(".git").exists() {
        // Git would use a repository around the workspace instead.
        return Err(io::Error::other(format!("{} is not a repository any more", directory.display())));
    }
    // Ends whatever the agent began, a merge for instance.
    git(directory, ["reset", "--quiet", "--hard"], echo)?;
    git(directory, ["checkout", "--quiet", "--force", "--detach", commit], echo)?;
    let clean = if reset == Reset::Strict { "-ffdxq" } else { "-ffdq" };
    git(directory, ["clean", clean], echo).map(drop)
}

/// Returns the repositories of a shared workspace to their commits, where git cannot by copies of an unchanged workspace. `restored`: their
/// paths.
pub(crate) fn restore(
    (workspace, pristine): (&Path, &Path),
    facts: &BaseFacts,
    reset: Reset,
    echo: Echo,
    restored: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for repo in &facts.repos {
        let path = relative(&repo.path);
        let directory = workspace.join(&path);
        restore_git_directory(&pristine.join(&path), &directory)?;
        if reset_repo(&directory, &repo.commit, reset, echo).is_err() {
            // Its files are damaged beyond what git can repair.
            remove_entry(&directory).map_err(|error| error_at(&directory, &error))?;
            fs::create_dir_all(&directory).map_err(|error| error_at(&directory, &error))?;
            CopyMode::Whole.run(&pristine.join(&path), &directory)?;
        }
        restored.push(path);
    }
    Ok(())
}

/// Removes what an agent left in a repository: its commits would be there for the next trial, in branches, stashes and reflogs.
fn restore_git_directory(pristine: &Path, directory: &Path) -> io::Result<()> {
    let [from, to] = [pristine, directory].map(|parent| parent.join(".git"));
    let are_directories = [&from, &to].iter().all(|path| path.symlink_metadata().is_ok_and(|there| there.is_dir()));
    if are_directories { CopyMode::Restore(Reset::Strict).run(&from, &to) } else { Ok(()) }
}

struct RepoClone<'a> {
    repo: &'a Repo,
    directory: PathBuf,
    location: &'a SuiteLocation,
    echo: Echo,
}

impl RepoClone<'_> {
    fn clone_and_check_out(&self) -> io::Result<()> {
        let parent = self.directory.parent().unwrap_or(&self.directory);
        fs::create_dir_all(parent).map_err(|error| error_at(parent, &error))?;
        self.clone(parent)?;
        let commit = self.ancestor(&self.commit()?)?;
        self.keep_history_of(&commit)?;
        if !self.repo.sparse.is_empty() {
            let directories = self.repo.sparse.iter().map(String::as_str);
            self.git(["sparse-checkout", "set", "--cone"].into_iter().chain(directories))?;
        }
        // Detached: a reset returns to this commit, whatever an agent does to branches.
        self.git(["checkout", "--quiet", "--force", "--detach", &commit])?;
        // Until now, filters of the checkout could fetch from it, as those of git-lfs do.
        self.git(["remote", "remove", "origin"]).map(drop)
    }

    /// Replaces the repository of the clone by one that has a commit, what led to it and tags of that, and nothing else. The
    /// commits that follow are often the answer to the case: no branch, tag, remote, reflog or loose object may lead to them.
    fn keep_history_of(&self, commit: &str) -> io::Result<()> {
        let format = self.git(["rev-parse", "--show-object-format"])?;
        let merged = format!("--merged={commit}");
        let tags = self.git(["for-each-ref", &merged, "--format=%(objectname):%(refname)", "refs/tags"])?;
        // Without an empty line, which stands for `HEAD`.
        let wanted = format!("{commit}\n{tags}").trim_end().to_owned() + "\n";
        let (git_dir, full) = (self.directory.join(".git"), self.directory.join(".git-full"));
        fs::rename(&git_dir, &full).map_err(|error| error_at(&git_dir, &error))?;
        self.git(["init", "--quiet", &format!("--object-format={format}")])?;
        // A clone with a filter lacks content, and what a later `git blame` needs could not be fetched without a remote.
        let source = if self.repo.filter.is_some() { self.source() } else { full.clone().into() };
        // By the second version of the protocol, any commit can be asked for.
        let fetch = ["-c", "protocol.version=2", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let mut arguments = Vec::from(fetch.map(OsString::from));
        arguments.extend(["--no-auto-maintenance", "--no-recurse-submodules", "--update-shallow"].map(OsString::from));
        arguments.extend(self.repo.depth.map(|depth| format!("--depth={depth}").into()));
        arguments.extend(["--stdin".into(), "--".into(), source]);
        git_with_input(&self.directory, arguments, wanted.into_bytes(), self.echo)?;
        remove_directory(&full).map_err(|error| error_at(&full, &error))?;
        git(
            &self.directory,
            ["remote".as_ref(), "add".as_ref(), "origin".as_ref(), self.source().as_os_str()],
            self.echo,
        )
        .map(drop)
    }

    fn git<'s>(&self, arguments: impl IntoIterator<Item = &'s str>) -> io::Result<String> {
        git(&self.directory, arguments, self.echo)
    }

    /// What is cloned.
    fn source(&self) -> OsString {
        match &self.repo.source {
            RepoSource::Git(url) => url.into(),
            RepoSource::Local(path) => {
                let directory = self.location.resolve(path);
                // A path from a variable may be relative to the suite.
                if directory.is_dir() { directory.into() } else { self.location.suite_dir.join(&path.path).into() }
            }
        }
    }

    fn clone(&self, parent: &Path) -> io::Result<()> {
        let mut arguments: Vec<OsString> = vec!["clone".into(), "--quiet".into(), "--no-checkout".into()];
        if let Some(depth) = self.repo.depth {
            arguments.extend(["--depth".into(), depth.to_string().into()]);
        }
        if let Some(filter) = &self.repo.filter {
            arguments.push(format!("--filter={filter}").into());
        }
        // By default git makes hard links to the files of a repository on the same disk: then an agent could damage the
        // original. A URL can be such a path too; for others these options have no effect.
        let is_partial = self.repo.depth.is_some() || self.repo.filter.is_some();
        arguments.push(if is_partial { "--no-local" } else { "--no-hardlinks" }.into());
        arguments.extend(["--".into(), self.source(), self.directory.clone().into()]);
        git(parent, arguments, self.echo).map(drop)
    }

    /// The commit of the reference.
    fn commit(&self) -> io::Result<String> {
        let Some(reference) = &self.repo.checkout.reference else {
            return self.find("HEAD").ok_or_else(|| io::Error::other("it has no commit"));
        };
        let is_remote = matches!(self.repo.source, RepoSource::Git(_));
        if is_remote
            && self.repo.checkout.resolve == Resolve::Remote
            && let Some((commit, name)) = self.remote(reference)?
        {
            if self.find(&commit).is_none() {
                self.fetch(&name)?;
            }
            let not_a_commit = || io::Error::other(format!("`{name}` of the remote is not a commit"));
            return self.find(&commit).ok_or_else(not_a_commit);
        }
        let known = || self.find(reference).or_else(|| self.find(&format!("refs/remotes/origin/{reference}")));
        if let Some(commit) = known() {
            return Ok(commit);
        }
        // A shallow clone has one branch only.
        let fetched = self.fetch(reference);
        match known().or_else(|| fetched.is_ok().then(|| self.find("FETCH_HEAD")).flatten()) {
            Some(commit) => Ok(commit),
            None => Err(io::Error::other(match fetched {
                Ok(()) => format!("`{reference}` is not a commit"),
                Err(error) => format!("`{reference}` is not in the clone, and {error}"),
            })),
        }
    }

    /// The commit and full name of a reference of the remote, in the order in which git looks up names.
    fn remote(&self, reference: &str) -> io::Result<Option<(String, String)>> {
        let listed = self.git(["ls-remote", "origin", reference, &format!("{reference}^{{}}")])?;
        let named = |name: &str| {
            let of = |wanted: &str| {
                listed.lines().find_map(|line| line.split_once('\t').filter(|(_, name)| *name == wanted))
            };
            // An annotated tag is an object of its own, which points to its commit.
            let commit = of(&format!("{name}^{{}}")).or_else(|| of(name))?.0;
            Some((commit.to_owned(), name.to_owned()))
        };
        let names = [
            reference.to_owned(),
            format!("refs/{reference}"),
            format!("refs/tags/{reference}"),
            format!("refs/heads/{reference}"),
        ];
        Ok(names.iter().find_map(|name| named(name)))
    }

    fn fetch(&self, reference: &str) -> io::Result<()> {
        let depth = self.repo.depth.map(|depth| format!("--depth={depth}"));
        let options = ["fetch", "--quiet", "--no-tags"].into_iter().chain(depth.as_deref());
        self.git(options.chain(["--", "origin", reference])).map(drop)
    }

    fn find(&self, name: &str) -> Option<String> {
        self.git(["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]).ok()
    }

    /// The ancestor of a commit, by first parents, that the checkout asks for.
    fn ancestor(&self, commit: &str) -> io::Result<String> {
        let count = self.repo.checkout.ancestor;
        if count == 0 {
            return Ok(commit.to_owned());
        }
        let name = format!("{commit}~{count}");
        if let Some(found) = self.find(&name) {
            return Ok(found);
        }
        if self.repo.depth.is_some() {
            self.git(["fetch", "--quiet", "--no-tags", &format!("--deepen={count}"), "--", "origin", commit])?;
            if let Some(found) = self.find(&name) {
                return Ok(found);
            }
        }
        Err(io::Error::other(format!("commit {commit} has fewer than {count} first parents")))
    }
}

/// Time limit of one command.
const LIMIT: Duration = Duration::from_secs(300);
/// Most characters of git's messages in an error.
const SHOWN: usize = 2_000;

/// Runs git in a directory and returns its trimmed output.
fn git<S: AsRef<OsStr>>(directory: &Path, arguments: impl IntoIterator<Item = S>, echo: Echo) -> io::Result<String> {
    git_with_input(directory, arguments, Vec::new(), echo)
}

/// As [`git`], with a standard input.
fn git_with_input<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
    input: Vec<u8>,
    echo: Echo,
) -> io::Result<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory);
    CommandEnvironment::default().apply(&mut command);
    isolate(&mut command);
    let words = std::iter::once("git".into()).chain(command.get_args().map(OsStr::to_string_lossy));
    let shown = words.collect::<Vec<_>>().join(" ");
    let finished = process::run(command, input, LIMIT, echo)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot run `{shown}`: {error}")))?;
    if finished.timed_out {
        let message = format!("`{shown}` did not end within {} s", LIMIT.as_secs());
        return Err(io::Error::new(io::ErrorKind::TimedOut, message));
    }
    if finished.status.success() {
        return Ok(finished.stdout.text().trim().to_owned());
    }
    let stderr = finished.stderr.text();
    let message = last_chars(stderr.trim(), SHOWN);
    let ending = match finished.status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let message = if message.is_empty() { message } else { format!(": {message}") };
    Err(io::Error::other(format!("`{shown}` {ending}{message}")))
}

/// Removes variables that would make git work on the repository of a git hook that runs the tests, and turns off prompts.
fn isolate(command: &mut Command) {
    let of_file = environment::of_file().into_iter().map(|(name, _)| name.into());
    for name in std::env::vars_os().map(|(name, _)| name).chain(of_file) {
        if name.to_string_lossy().starts_with("GIT_") && name != "GIT_SSH_COMMAND" {
            command.env_remove(&name);
        }
    }
    command.env("GIT_TERMINAL_PROMPT", "0");
}
