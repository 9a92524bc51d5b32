//! Clones of repositories in a workspace.

#[cfg(test)]
pub(crate) mod tests;

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::{Repo, RepoSource, Resolve};

use crate::model::suite_location::SuiteLocation;
use crate::platform::files::error_at;
use crate::platform::process::Echo;
use crate::workspace::git::{git, git_with_input};
use crate::workspace::remove_directory;

/// Clones a repository to its path in the workspace.
pub(crate) fn clone(repo: &Repo, workspace: &Path, location: &SuiteLocation, echo: Echo) -> Result<(), Reason> {
    RepoClone { repo, directory: workspace.join(relative(&repo.path)), location, echo }.clone_and_check_out().map_err(
        |error| {
            let message = format!("cannot clone the repository at `{}`: {error}", repo.path);
            Reason::new(Stage::Workspace, ReasonCode::RepoError, message)
        },
    )
}

/// The commit that is checked out in a repository.
pub(crate) fn head(directory: &Path, echo: Echo) -> io::Result<String> {
    git(directory, ["rev-parse", "HEAD"], echo)
}

/// A path in the workspace without `.`, which joined paths would contain.
pub(crate) fn relative(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| !matches!(part, Component::CurDir)).collect()
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
