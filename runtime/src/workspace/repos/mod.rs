//! Repositories cloned into a workspace.

#[cfg(test)]
pub(crate) mod tests;

use std::{
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use evalsuite_schema::{
    Repo, RepoSource, Resolve,
    record::{Reason, ReasonCode, Stage},
};

use crate::{model::suite_location::SuiteLocation, platform::process::echo::Echo, workspace::git::git};

/// Clones a repository to its place in the workspace.
///
/// # Errors
///
/// What git said.
pub(crate) fn clone(repo: &Repo, workspace: &Path, places: &SuiteLocation, echo: Echo) -> Result<(), Reason> {
    Clone { repo, directory: workspace.join(relative(&repo.path)), places, echo }.make().map_err(|message| {
        let message = format!("the repository at `{}` cannot be made: {message}", repo.path);
        Reason::new(Stage::Workspace, ReasonCode::RepoError, message)
    })
}

/// The commit a repository in a workspace stands at.
///
/// # Errors
///
/// What git said.
pub(crate) fn head(directory: &Path, echo: Echo) -> Result<String, String> {
    git(directory, ["rev-parse", "HEAD"], echo)
}

/// A path inside of the workspace without `.`, which would be a part of joined paths.
pub(crate) fn relative(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

struct Clone<'a> {
    repo: &'a Repo,
    directory: PathBuf,
    places: &'a SuiteLocation,
    echo: Echo,
}

impl Clone<'_> {
    fn make(&self) -> Result<(), String> {
        let parent = self.directory.parent().unwrap_or(&self.directory);
        fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        self.clone(parent)?;
        if !self.repo.sparse.is_empty() {
            let directories = self.repo.sparse.iter().map(String::as_str);
            self.git(["sparse-checkout", "set", "--cone"].into_iter().chain(directories))?;
        }
        let commit = self.ancestor(&self.commit()?)?;
        // Detached: where the workspace is returned to does not depend on what an agent does to branches.
        self.git(["checkout", "--quiet", "--force", "--detach", &commit]).map(drop)
    }

    fn git<'s>(&self, arguments: impl IntoIterator<Item = &'s str>) -> Result<String, String> {
        git(&self.directory, arguments, self.echo)
    }

    /// Where it is cloned from.
    fn source(&self) -> OsString {
        match &self.repo.source {
            RepoSource::Git(url) => url.into(),
            RepoSource::Local(path) => {
                let place = self.places.resolve(path);
                // A path that a variable named may be relative to the suite.
                if place.is_dir() { place.into() } else { self.places.suite_dir.join(&path.path).into() }
            }
        }
    }

    fn clone(&self, parent: &Path) -> Result<(), String> {
        let mut arguments: Vec<OsString> = vec!["clone".into(), "--quiet".into(), "--no-checkout".into()];
        if let Some(depth) = self.repo.depth {
            arguments.extend(["--depth".into(), depth.to_string().into()]);
        }
        if let Some(filter) = &self.repo.filter {
            arguments.push(format!("--filter={filter}").into());
        }
        // By itself git takes all files of a repository on the same disk, and as hard links: then an agent could damage the
        // original. A URL can be such a path, too; for any other one this means nothing.
        let is_partial = self.repo.depth.is_some() || self.repo.filter.is_some();
        arguments.push(if is_partial { "--no-local" } else { "--no-hardlinks" }.into());
        arguments.extend(["--".into(), self.source(), self.directory.clone().into()]);
        git(parent, arguments, self.echo).map(drop)
    }

    /// The commit that the reference means.
    fn commit(&self) -> Result<String, String> {
        let Some(reference) = &self.repo.checkout.reference else {
            return self.find("HEAD").ok_or_else(|| "it has no commit".to_owned());
        };
        let is_remote = matches!(self.repo.source, RepoSource::Git(_));
        if is_remote
            && self.repo.checkout.resolve == Resolve::Remote
            && let Some((commit, name)) = self.remote(reference)?
        {
            if self.find(&commit).is_none() {
                self.fetch(&name)?;
            }
            return self.find(&commit).ok_or_else(|| format!("`{name}` of the remote is not a commit"));
        }
        let known = || self.find(reference).or_else(|| self.find(&format!("refs/remotes/origin/{reference}")));
        if let Some(commit) = known() {
            return Ok(commit);
        }
        // A shallow clone has one branch only.
        let fetched = self.fetch(reference);
        match known().or_else(|| fetched.is_ok().then(|| self.find("FETCH_HEAD")).flatten()) {
            Some(commit) => Ok(commit),
            None => Err(match fetched {
                Ok(()) => format!("`{reference}` is not a commit"),
                Err(message) => format!("`{reference}` is not in the clone, and {message}"),
            }),
        }
    }

    /// What the remote calls so, in the order in which git looks for names: the commit and the full name.
    fn remote(&self, reference: &str) -> Result<Option<(String, String)>, String> {
        let listed = self.git(["ls-remote", "origin", reference, &format!("{reference}^{{}}")])?;
        let named = |name: &str| {
            let of = |wanted: &str| {
                listed.lines().find_map(|line| line.split_once('\t').filter(|(_, name)| *name == wanted))
            };
            // A tag with a message is an object of its own; behind it stands its commit.
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

    fn fetch(&self, reference: &str) -> Result<(), String> {
        let depth = self.repo.depth.map(|depth| format!("--depth={depth}"));
        let options = ["fetch", "--quiet", "--no-tags"].into_iter().chain(depth.as_deref());
        self.git(options.chain(["--", "origin", reference])).map(drop)
    }

    fn find(&self, name: &str) -> Option<String> {
        self.git(["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]).ok()
    }

    /// The commit so many first parents before.
    fn ancestor(&self, commit: &str) -> Result<String, String> {
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
        Err(format!("commit {commit} has fewer than {count} first parents"))
    }
}
