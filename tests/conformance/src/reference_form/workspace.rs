//! Our workspaces in the form of the records.

use evalsuite_schema::json::{Value, json};
use evalsuite_schema::{Command, Hook, RepoSource, Workspace};

use super::RecordPaths;
use super::grader::words;

pub(super) fn form(workspace: &Workspace, paths: RecordPaths<'_>) -> Value {
    let hooks = &workspace.hooks;
    let mut form = json!({
        "template": workspace.template.as_ref().map(|template| paths.absolute(template)),
        "isolation": workspace.isolation,
        "repos": workspace.repos.iter().map(repo).collect::<Vec<_>>(),
        "hooks": {
            "before_all": hooks.before_all.as_ref().map(|hook| self::hook(hook, 60_000, paths)),
            "before_each": hooks.before_each.as_ref().map(|hook| self::hook(hook, 60_000, paths)),
            "after_each": hooks.after_each.as_ref().map(|hook| self::hook(hook, 30_000, paths)),
            "after_all": hooks.after_all.as_ref().map(|hook| self::hook(hook, 30_000, paths)),
        },
    });
    if workspace.docker {
        form["docker"] = json!(true);
    }
    super::remove_empty(&mut form);
    form
}

fn repo(repo: &evalsuite_schema::Repo) -> Value {
    let source = match &repo.source {
        RepoSource::Git(url) => json!({ "type": "git", "url": url }),
        RepoSource::Local(path) => json!({ "type": "local", "path": path.written }),
    };
    let mut form = json!({
        "path": repo.path,
        "source": source,
        "checkout": { "ref": repo.checkout.reference, "resolve": repo.checkout.resolve, "ancestor": repo.checkout.ancestor },
        "clone": { "depth": repo.depth, "filter": repo.filter, "sparse": repo.sparse },
    });
    super::remove_empty(&mut form);
    form
}

/// A shell line is one string; the reference splits it at spaces, which is a documented difference.
fn hook(hook: &Hook, default_ms: u64, paths: RecordPaths<'_>) -> Value {
    let command = hook.command.as_ref().map(|command| match command {
        Command::Shell(line) => json!(line),
        Command::Argv(_) => words(command),
    });
    let mut form = json!({
        "command": command,
        "timeout_ms": (hook.timeout_ms != default_ms).then_some(hook.timeout_ms),
        "cwd": hook.cwd.as_ref().map(|cwd| paths.absolute(cwd)),
        "reset": hook.reset,
    });
    super::remove_empty(&mut form);
    form
}
