//! Workspaces, repos and hooks.

use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{ShortRepo, WrittenHook};

use super::Generator;
use crate::tree::{Node, Rule, UNBOUNDED, Wanted, any_text, boolean, choice, integer, keys, list, name, text};

const RESETS: &[&str] = &["none", "fast", "strict"];
const ISOLATIONS: &[&str] = &["per_test", "shared"];
const RESOLVES: &[&str] = &["remote", "local"];

impl Generator {
    /// `workspace` of a suite or a case.
    pub(super) fn workspace(&mut self, of_suite: bool) -> Node {
        match self.choices.pick("workspace", 3) {
            2 => self.shared_file("workspace.yaml").tag("workspace file"),
            _ => self.workspace_object(of_suite),
        }
    }

    /// The contents of a workspace file.
    pub(super) fn workspace_object(&mut self, of_suite: bool) -> Node {
        let tag = if of_suite { "suite workspace" } else { "workspace" };
        let mut node = keys("`workspace`").tag(tag).put("template", self.shared_directory("template").tag("template"));
        if self.has() {
            node = node.put("isolation", choice("per_test", ISOLATIONS).tag("isolation"));
        }
        if self.has() {
            node = node.put(
                "mode",
                any_text("temp").literal().rule(Rule::Choice(&["temp", "pooled", "static"])).tag("workspace mode"),
            );
        }
        if self.has() {
            let mut repos = vec![self.repo("vendor/one")];
            if self.has() {
                repos.push(self.repo("./vendor/two"));
            }
            node = node.put("repos", list(repos).tag("repos"));
        }
        if self.has() {
            node = node.put("hooks", self.hooks());
        }
        node
    }

    fn repo(&mut self, place: &str) -> Node {
        let mut node = keys("a repo").tag("repo").need(Code::InvalidRepo, "path", name(place).tag("repo path"));
        if self.choices.pick("repo form", 3) == 2 {
            return self.short_repo(node);
        }
        let source = keys("`source` of a repo").tag("repo source");
        let is_local = self.choices.pick("source", 2) == 1;
        let source = if is_local {
            let local = self.shared("repo", Wanted::Directory).rule(Rule::Path(Wanted::Directory, Code::InvalidRepo));
            let mut local = local.tag("local source");
            local.literal = false;
            source.need(Code::InvalidRepo, "type", any_text("local").rule(Rule::String).tag("source type")).need(
                Code::InvalidRepo,
                "path",
                local,
            )
        } else {
            source.need(Code::InvalidRepo, "type", any_text("git").rule(Rule::String).tag("source type")).need(
                Code::InvalidRepo,
                "url",
                text("https://example.org/${{ REPO }}.git"),
            )
        };
        node = node.need(Code::InvalidRepo, "source", source);
        let mut depth = None;
        if self.has() {
            let mut clone = keys("`clone`");
            if self.has() {
                depth = Some(3);
                clone = clone.put("depth", integer(3, 1, UNBOUNDED));
            }
            if self.has() {
                clone = clone.put("filter", text("blob:none")).put("sparse", list([text("src")]));
            }
            node = node.put("clone", clone);
        }
        if self.has() {
            let mut checkout = keys("`checkout`").tag("checkout");
            let mut reference = crate::tree::entry("ref", text("main"));
            reference.other = Some(("base_commit", "base_commit"));
            checkout.push(reference);
            if self.has() {
                let resolve = if is_local { "local" } else { "remote" };
                checkout = checkout.put("resolve", choice(resolve, RESOLVES).tag("resolve"));
            }
            if self.has() {
                let tag = if depth.is_some() { "shallow ancestor" } else { "ancestor" };
                checkout = checkout.put("ancestor", integer(2, 0, UNBOUNDED).tag(tag));
            }
            node = node.put("checkout", checkout);
        }
        node
    }

    fn short_repo(&mut self, node: Node) -> Node {
        let repo = self
            .choices
            .one("repo", &["shop/orders", "https://example.org/${{ REPO }}.git", "git@example.org:shop.git"]);
        let mut node = node.tag("short repo").need(Code::InvalidRepo, "repo", text(repo).tag("repo name"));
        if self.has() {
            node = node.put("commit", text("v1.2.0"));
        }
        if self.has() {
            node = node.put("base_commit", text("v1.2.0").tag("base commit"));
        }
        self.stated(node, ShortRepo::TABLE, &[])
    }

    /// `hooks` of a workspace or a target.
    pub(super) fn hooks(&mut self) -> Node {
        // Unknown hooks have a code of their own.
        let mut node = keys("`hooks`").rule(Rule::Free).tag("hooks");
        for key in ["before_all", "before_each", "after_each", "after_all"] {
            if self.has() {
                let hook = self.hook(key.ends_with("each"));
                node = node.put(key, hook);
            }
        }
        if self.has() { node.put("enabled", boolean(true)) } else { node }
    }

    fn hook(&mut self, may_reset: bool) -> Node {
        match self.choices.pick("hook", 4) {
            0 => any_text("cargo fetch # {{ workspace_path }}").tag("hook line"),
            1 => self.argv().rule(Rule::Free).tag("hook argv"),
            2 if may_reset => keys("a hook").put("reset", choice("fast", RESETS)),
            _ => {
                let command = any_text("echo {{test_id}} ${{ HOME }}").rule(Rule::Command).tag("hook command");
                let mut node = keys("a hook").tag("hook").renamed("command", &["script"], command);
                if self.has() {
                    node = node.put("cwd", self.shared_directory("scripts"));
                }
                node = self.sealing(node);
                self.stated(node, WrittenHook::TABLE, if may_reset { &[] } else { &["reset"] })
            }
        }
    }
}
