//! Tests of clones, checkouts and resets of repositories.

use evalsuite_needs::needs;
use evalsuite_schema::{Checkout, PathRef};

use crate::workspace::repos::*;
use crate::workspace::{copy_to_trial, restore};

/// A repository with the commits `1`, `2`, `3` on `main`, `side` on a branch, and tags at `2`.
struct Origin {
    root: tempfile::TempDir,
}

impl Origin {
    fn new() -> Self {
        let origin = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(origin.path().join("docs")).unwrap();
        origin.run(&["init", "--quiet", "--initial-branch=main"]);
        for commit in ["1", "2", "3"] {
            origin.commit(commit);
            if commit == "2" {
                origin.run(&["tag", "light"]);
                origin.run(&["tag", "--annotate", "--message=x", "heavy"]);
                origin.run(&["branch", "side"]);
            }
        }
        origin.run(&["checkout", "--quiet", "side"]);
        origin.commit("side");
        origin.run(&["checkout", "--quiet", "main"]);
        // Partial clones of what is asked for by its commit.
        origin.run(&["config", "uploadpack.allowFilter", "true"]);
        origin.run(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        origin
    }

    fn path(&self) -> PathBuf {
        self.root.path().join("origin")
    }

    fn run(&self, arguments: &[&str]) -> String {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"];
        git(&self.path(), who.iter().chain(arguments), Echo::Off).unwrap()
    }

    fn commit(&self, text: &str) {
        fs::write(self.path().join("file"), text).unwrap();
        fs::write(self.path().join("docs/page"), text).unwrap();
        self.run(&["add", "."]);
        self.run(&["commit", "--quiet", "--message", text]);
    }

    fn url(&self) -> String {
        format!("file://{}", self.path().display())
    }

    fn git_source(&self) -> Repo {
        self.repo(RepoSource::Git(self.url()))
    }

    fn local_source(&self) -> Repo {
        let path = self.path().display().to_string();
        self.repo(RepoSource::Local(PathRef::new(path)))
    }

    fn repo(&self, source: RepoSource) -> Repo {
        Repo {
            path: "./deep/repo".into(),
            source,
            checkout: Checkout::default(),
            depth: None,
            filter: None,
            sparse: Vec::new(),
        }
    }

    fn places(&self) -> SuiteLocation {
        SuiteLocation { package_root: self.root.path().to_owned(), suite_dir: self.root.path().to_owned() }
    }

    /// What `file` of the clone says.
    fn cloned(&self, repo: &Repo) -> Result<String, String> {
        let workspace = self.root.path().join("workspace");
        crate::workspace::remove_directory(&workspace).unwrap();
        fs::create_dir(&workspace).unwrap();
        clone(repo, &workspace, &self.places(), Echo::Off).map_err(|reason| reason.message)?;
        fs::read_to_string(workspace.join("deep/repo/file")).map_err(|error| error.to_string())
    }
}

fn at(repo: Repo, reference: &str) -> Repo {
    Repo { checkout: Checkout { reference: Some(reference.into()), ..repo.checkout }, ..repo }
}

fn before(repo: Repo, ancestor: u32) -> Repo {
    Repo { checkout: Checkout { ancestor, ..repo.checkout }, ..repo }
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn a_reference_is_a_branch_a_tag_or_a_commit() {
    let origin = Origin::new();
    let first = origin.run(&["rev-parse", "main~2"]);
    for repo in [origin.git_source(), origin.local_source()] {
        for depth in [None, Some(1)] {
            let repo = Repo { depth, ..repo.clone() };
            assert_eq!(origin.cloned(&repo).as_deref(), Ok("3"), "{depth:?}");
            for (reference, content) in
                [("main", "3"), ("side", "side"), ("light", "2"), ("heavy", "2"), ("HEAD", "3"), (&first, "1")]
            {
                let cloned = origin.cloned(&at(repo.clone(), reference));
                assert_eq!(cloned.as_deref(), Ok(content), "{reference} {depth:?}");
            }
        }
    }
    let local = Repo { checkout: Checkout { resolve: Resolve::Local, ..Checkout::default() }, ..origin.git_source() };
    assert_eq!(origin.cloned(&at(local, "side")).as_deref(), Ok("side"));
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn an_ancestor_is_found_also_in_a_shallow_clone() {
    let origin = Origin::new();
    for depth in [None, Some(1), Some(2)] {
        let repo = || Repo { depth, ..origin.git_source() };
        assert_eq!(origin.cloned(&before(repo(), 2)).as_deref(), Ok("1"), "{depth:?}");
        assert_eq!(origin.cloned(&before(at(repo(), "side"), 1)).as_deref(), Ok("2"), "{depth:?}");
        let error = origin.cloned(&before(repo(), 3)).unwrap_err();
        assert!(error.contains("fewer than 3 first parents"), "{error}");
    }
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn a_clone_can_be_sparse_shallow_and_partial() {
    let origin = Origin::new();
    for source in [origin.git_source(), origin.local_source()] {
        let repo = Repo { depth: Some(1), filter: Some("blob:none".into()), sparse: vec!["other".into()], ..source };
        assert_eq!(origin.cloned(&repo).as_deref(), Ok("3"));
        let clone = origin.root.path().join("workspace/deep/repo");
        assert!(!clone.join("docs").exists(), "only `other` and what lies at the top is wanted");
        assert_eq!(git(&clone, ["rev-list", "--count", "HEAD"], Echo::Off).unwrap(), "1");
    }
}

#[cfg(unix)]
#[needs(git)]
#[test]
fn a_clone_shares_no_file_with_its_origin_also_where_the_url_is_a_path() {
    use std::os::unix::fs::MetadataExt;

    let origin = Origin::new();
    let path = RepoSource::Git(origin.path().display().to_string());
    for repo in [origin.repo(path.clone()), origin.local_source(), Repo { depth: Some(1), ..origin.repo(path) }] {
        assert_eq!(origin.cloned(&repo).as_deref(), Ok("3"));
        let mut folders = vec![origin.root.path().join("workspace/deep/repo/.git/objects")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let metadata = entry.metadata().unwrap();
                if metadata.is_dir() {
                    folders.push(entry.path());
                } else {
                    assert_eq!(metadata.nlink(), 1, "{}", entry.path().display());
                }
            }
        }
    }
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn what_git_says_is_in_the_error() {
    let origin = Origin::new();
    let missing = origin.repo(RepoSource::Git(format!("{}-gone", origin.url())));
    let error = origin.cloned(&missing).unwrap_err();
    assert!(error.contains("`./deep/repo`") && error.contains("does not appear to be a git repository"), "{error}");
    for repo in [origin.git_source(), origin.local_source()] {
        let error = origin.cloned(&at(repo, "no-such-thing")).unwrap_err();
        assert!(error.contains("no-such-thing"), "{error}");
    }
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn a_reset_undoes_commits_branches_and_files() {
    let origin = Origin::new();
    let repo = origin.git_source();
    origin.cloned(&repo).unwrap();
    let workspace = origin.root.path().join("workspace");
    let wanted = evalsuite_schema::Workspace { repos: vec![repo], ..evalsuite_schema::Workspace::default() };
    let facts = BaseFacts::of(&wanted, &workspace, Echo::Off);
    let clone = workspace.join("deep/repo");
    for reset in [Reset::Fast, Reset::Strict] {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"];
        let run = |arguments: &[&str]| git(&clone, who.iter().chain(arguments), Echo::Off).unwrap();
        run(&["checkout", "--quiet", "-B", "agent"]);
        fs::write(clone.join("file"), "agent").unwrap();
        run(&["commit", "--quiet", "--all", "--message=agent"]);
        fs::write(clone.join("file"), "more").unwrap();
        fs::write(clone.join("created"), "x").unwrap();
        fs::write(clone.join(".git/info/exclude"), "ignored\n").unwrap();
        fs::write(clone.join("ignored"), "x").unwrap();
        reset_all(&workspace, &facts, reset, Echo::Off).unwrap();
        assert_eq!(fs::read_to_string(clone.join("file")).unwrap(), "3");
        assert!(!clone.join("created").exists());
        assert_eq!(clone.join("ignored").exists(), reset == Reset::Fast);
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn a_restored_workspace_is_as_its_base_except_for_what_a_repository_ignores() {
    let origin = Origin::new();
    let repo = origin.git_source();
    origin.cloned(&repo).unwrap();
    let (workspace, pristine) = (origin.root.path().join("workspace"), origin.root.path().join("pristine"));
    fs::write(workspace.join("deep/note"), "base").unwrap();
    fs::write(workspace.join("deep/repo/.git/info/exclude"), "ignored\n").unwrap();
    let wanted = evalsuite_schema::Workspace { repos: vec![repo], ..evalsuite_schema::Workspace::default() };
    let facts = BaseFacts::of(&wanted, &workspace, Echo::Off);
    copy_to_trial(&workspace, &pristine).unwrap();
    let clone = workspace.join("deep/repo");
    for is_damaged in [false, true] {
        for path in ["deep/note", "deep/added", "deep/repo/file", "deep/repo/added", "deep/repo/ignored"] {
            fs::write(workspace.join(path), "agent").unwrap();
        }
        if is_damaged {
            fs::remove_dir_all(clone.join(".git")).unwrap();
            fs::write(clone.join(".git"), "gitdir: gone").unwrap();
        }
        restore(&workspace, &pristine, &facts, Reset::Fast, Echo::Off).unwrap();
        assert_eq!(fs::read_to_string(clone.join("file")).unwrap(), "3");
        assert_eq!(fs::read_to_string(workspace.join("deep/note")).unwrap(), "base");
        assert!(!workspace.join("deep/added").exists() && !clone.join("added").exists());
        // Of a repository, git decides what is removed; one that it cannot repair is copied.
        assert_eq!(clone.join("ignored").exists(), !is_damaged);
    }
}

/// Every object that is in the repository, reachable or not, as `<type> <id>`.
fn objects_of(clone: &Path) -> Vec<String> {
    let format = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)"];
    git(clone, format, Echo::Off).unwrap().lines().map(str::to_owned).collect()
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn nothing_that_came_after_the_commit_is_in_the_workspace() {
    let origin = Origin::new();
    origin.run(&["tag", "--annotate", "--message=later", "later", "main"]);
    origin.run(&["notes", "add", "--message=the answer", "main"]);
    fs::write(origin.path().join("file"), "stashed").unwrap();
    origin.run(&["stash"]);
    let second = origin.run(&["rev-parse", "main~1"]);
    let reachable = origin.run(&["rev-list", "--objects", "--no-object-names", "heavy"]);
    let alternate = origin.root.path().join("alternate");
    let arguments = ["clone", "--quiet", "--shared", "--", &origin.path().display().to_string()].map(str::to_owned);
    git(origin.root.path(), arguments.into_iter().chain([alternate.display().to_string()]), Echo::Off).unwrap();
    let borrowing = RepoSource::Local(PathRef::new(alternate.display().to_string()));
    let by_path = RepoSource::Git(origin.path().display().to_string());
    let partial = |filter: &str| Repo { filter: Some(filter.into()), ..origin.git_source() };
    let sparse = Repo { sparse: vec!["docs".into()], ..origin.git_source() };
    let repos = [
        origin.git_source(),
        origin.local_source(),
        origin.repo(by_path),
        origin.repo(borrowing),
        partial("blob:none"),
        partial("tree:0"),
        sparse,
        Repo { depth: Some(3), ..origin.git_source() },
        Repo { depth: Some(1), ..origin.local_source() },
    ];
    for repo in repos {
        for repo in [at(repo.clone(), "heavy"), at(repo.clone(), &second), before(repo.clone(), 1)] {
            assert_eq!(origin.cloned(&repo).as_deref(), Ok("2"), "{repo:?}");
            let clone = origin.root.path().join("workspace/deep/repo");
            for name in ["FETCH_HEAD", "ORIG_HEAD", "objects/info/alternates", "packed-refs", "logs/refs/remotes"] {
                assert!(!clone.join(".git").join(name).exists(), "{name}: {repo:?}");
            }
            let run = |arguments: &[&str]| git(&clone, arguments, Echo::Off);
            let commits = if repo.depth == Some(1) { "1" } else { "2" };
            assert_eq!(run(&["rev-list", "--count", "HEAD"]).as_deref().ok(), Some(commits), "{repo:?}");
            assert_eq!(run(&["rev-list", "--count", "--all", "--reflog"]).as_deref().ok(), Some(commits), "{repo:?}");
            for object in objects_of(&clone) {
                let (_, id) = object.split_once(' ').unwrap();
                assert!(reachable.contains(id) || object.starts_with("tag "), "{object} came later: {repo:?}");
            }
            // A shallow clone has only the tags of what it fetched.
            let tags = if repo.depth == Some(1) { "" } else { "heavy\nlight" };
            assert_eq!(run(&["tag"]).unwrap(), tags, "tags of the history stay: {repo:?}");
            assert_eq!(run(&["remote"]).unwrap(), "");
            let config = fs::read_to_string(clone.join(".git/config")).unwrap();
            assert!(!config.contains("url"), "{config}");
            let _ = run(&["fetch"]);
            run(&["fetch", "origin"]).unwrap_err();
            run(&["cat-file", "-e", &origin.run(&["rev-parse", "main"])]).unwrap_err();
            assert_eq!(run(&["fsck", "--unreachable", "--lost-found"]).unwrap(), "", "{repo:?}");
            assert!(run(&["log", "-p", "HEAD"]).unwrap().contains("+2"), "the history can be read: {repo:?}");
            assert_eq!(run(&["status", "--porcelain"]).unwrap(), "");
            assert!(!clone.join(".git-full").exists());
        }
    }
}

#[needs(git)]
#[test]
#[cfg_attr(windows, ignore = "needs git, which Wine does not have; on Windows it has not run yet")]
fn commits_of_a_trial_are_not_there_for_the_next_one_in_a_shared_workspace() {
    let origin = Origin::new();
    let repo = origin.git_source();
    origin.cloned(&repo).unwrap();
    let (workspace, pristine) = (origin.root.path().join("workspace"), origin.root.path().join("pristine"));
    let wanted = evalsuite_schema::Workspace { repos: vec![repo], ..evalsuite_schema::Workspace::default() };
    let facts = BaseFacts::of(&wanted, &workspace, Echo::Off);
    copy_to_trial(&workspace, &pristine).unwrap();
    let clone = workspace.join("deep/repo");
    let objects = objects_of(&clone).len();
    for reset in [Reset::Fast, Reset::Strict] {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"];
        let run = |arguments: &[&str]| git(&clone, who.iter().chain(arguments), Echo::Off).unwrap();
        fs::write(clone.join("file"), "the answer").unwrap();
        run(&["checkout", "--quiet", "-B", "agent"]);
        run(&["commit", "--quiet", "--all", "--message=agent"]);
        run(&["tag", "answer"]);
        fs::write(clone.join("file"), "stashed").unwrap();
        run(&["stash"]);
        run(&["gc", "--quiet"]);
        restore(&workspace, &pristine, &facts, reset, Echo::Off).unwrap();
        assert_eq!(fs::read_to_string(clone.join("file")).unwrap(), "3");
        assert_eq!(objects_of(&clone).len(), objects, "{reset:?}");
        assert_eq!(run(&["rev-list", "--count", "--all", "--reflog"]), run(&["rev-list", "--count", "HEAD"]));
        assert_eq!(run(&["status", "--porcelain"]), "");
    }
}
