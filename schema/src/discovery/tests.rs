//! What is listed, and what is a problem.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{Listing, ProblemKind, Tree, data_files, list};

pub(super) fn tree(files: &[&str]) -> TempDir {
    let root = TempDir::new().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    root
}

fn run(root: &Path, kind: &str, path: &str) -> Listing {
    list(root, root, kind, path)
}

fn kinds(listing: &Listing) -> Vec<(&str, ProblemKind)> {
    listing.problems.iter().map(|problem| (problem.path.as_str(), problem.kind)).collect()
}

#[test]
fn tasks_are_json_files_at_any_depth_in_byte_order() {
    let root = tree(&["tasks/b.json", "tasks/C.JSON", "tasks/a/deep/.hidden.json", "tasks/a-b.json", "tasks/notes.md"]);
    let listing = run(root.path(), "tasks", "tasks");
    assert_eq!(listing.files, ["tasks/C.JSON", "tasks/a-b.json", "tasks/a/deep/.hidden.json", "tasks/b.json"]);
    assert!(listing.problems.is_empty());
}

#[test]
fn a_workspace_next_to_a_task_contains_no_tasks() {
    let root = tree(&["tasks/x/task.json", "tasks/x/workspace/data.json", "tasks/workspace/a.json"]);
    assert_eq!(run(root.path(), "tasks", "tasks").files, ["tasks/workspace/a.json", "tasks/x/task.json"]);
}

#[test]
fn case_directories_are_immediate_and_not_hidden() {
    let root = tree(&[
        "cases/b/case.yaml",
        "cases/a/case.yml",
        "cases/_shared/case.yaml",
        "cases/.git/case.yaml",
        "cases/deep/er/case.yaml",
        "cases/stray.yaml",
    ]);
    let listing = run(root.path(), "directories", "cases");
    assert_eq!(listing.files, ["cases/a/case.yml", "cases/b/case.yaml"]);
    assert_eq!(kinds(&listing), [("cases/deep", ProblemKind::NoCaseFile)]);
}

#[test]
fn many_case_directories_are_listed_in_order() {
    let file = |number: usize| match number % 100 {
        7 => format!("cases/{number:04}/notes.md"),
        _ => format!("cases/{number:04}/case.yaml"),
    };
    let all: Vec<String> = (0..1_000).map(file).chain(["cases/0003/more.json".to_owned()]).collect();
    let root = tree(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let listing = run(root.path(), "directories", "cases");
    let (without, with): (Vec<String>, Vec<String>) = (0..1_000).map(file).partition(|file| file.ends_with("notes.md"));
    assert_eq!(listing.files, with);
    let without: Vec<&str> = without.iter().filter_map(|file| file.strip_suffix("/notes.md")).collect();
    assert_eq!(kinds(&listing), without.iter().map(|path| (*path, ProblemKind::NoCaseFile)).collect::<Vec<_>>());
    let cases = root.path().join("cases");
    let data = data_files(&cases, &Tree::read(&cases), "directories");
    assert_eq!((data.data.as_slice(), data.others.len()), (["0003/more.json".to_owned()].as_slice(), 0));
}

#[test]
fn the_root_itself_can_contain_case_directories() {
    let root = tree(&["b/case.yaml", "a/case.yaml"]);
    assert_eq!(run(root.path(), "directories", "").files, ["a/case.yaml", "b/case.yaml"]);
}

#[test]
fn two_case_files_are_a_problem() {
    let root = tree(&["cases/a/case.yaml", "cases/a/case.yml"]);
    assert_eq!(kinds(&run(root.path(), "directories", "cases")), [("cases/a", ProblemKind::TwoCaseFiles)]);
}

#[test]
fn a_pattern_matches_files_without_dot_names() {
    let root = tree(&["cases/a.yaml", "cases/b.jsonl", "cases/.c.yaml", "cases/deep/d.yaml"]);
    assert_eq!(run(root.path(), "glob", "cases/*.yaml").files, ["cases/a.yaml"]);
    assert_eq!(run(root.path(), "glob", "./cases/**/*.yaml").files, ["cases/a.yaml", "cases/deep/d.yaml"]);
    assert_eq!(run(root.path(), "glob", "cases/*.{yaml,jsonl}").files, ["cases/a.yaml", "cases/b.jsonl"]);
    let none = Listing { directories: vec!["none".to_owned()], ..Listing::default() };
    assert_eq!(run(root.path(), "glob", "none/*.yaml"), none, "the directory may be made later");
    let searched = run(root.path(), "glob", "cases/**/*.yaml").directories;
    assert_eq!(searched, ["cases", "cases/deep"]);
}

#[test]
fn case_directories_come_in_the_order_of_their_names() {
    let root = tree(&["cases/a-b/case.yaml", "cases/a/case.yaml", "cases/a.b/case.yaml", "cases/B/case.yaml"]);
    assert_eq!(
        run(root.path(), "directories", "cases").files,
        ["cases/B/case.yaml", "cases/a/case.yaml", "cases/a-b/case.yaml", "cases/a.b/case.yaml"]
    );
}

#[test]
fn a_broken_pattern_is_a_problem() {
    let root = tree(&["cases/a.yaml"]);
    assert_eq!(kinds(&run(root.path(), "glob", "cases/{a.yaml")), [("cases/{a.yaml", ProblemKind::InvalidGlob)]);
}

#[test]
fn an_unknown_kind_is_a_problem() {
    let root = tree(&[]);
    assert_eq!(run(root.path(), "files", "x").problems.len(), 1);
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("tasks/{}/a.json", ["d"; 40].join("/"));
    let root = tree(&[&deep]);
    let listing = run(root.path(), "tasks", "tasks");
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(listing.problems[0].kind, ProblemKind::TooDeep);
}

#[test]
fn a_directory_whose_name_looks_like_a_pattern_is_searched_itself() {
    let root = tree(&["case[12]/a.yaml", "case1/b.yaml", "case2/c.yaml", "set1/d.yaml", "set2/e.yaml"]);
    assert_eq!(run(root.path(), "glob", "case[12]/*.yaml").files, ["case[12]/a.yaml"]);
    assert_eq!(run(root.path(), "glob", "set[12]/*.yaml").files, ["set1/d.yaml", "set2/e.yaml"]);
    assert_eq!(run(root.path(), "glob", "case\\[12\\]/*.yaml").files, ["case[12]/a.yaml"]);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_inside_are_followed() {
        let root = tree(&["cases/a/case.yaml", "shared/task.json"]);
        fs::create_dir(root.path().join("tasks")).unwrap();
        symlink(root.path().join("cases/a"), root.path().join("cases/linked")).unwrap();
        symlink(root.path().join("shared/task.json"), root.path().join("tasks/linked.json")).unwrap();
        assert_eq!(run(root.path(), "directories", "cases").files, ["cases/a/case.yaml", "cases/linked/case.yaml"]);
        assert_eq!(run(root.path(), "tasks", "tasks").files, ["tasks/linked.json"]);
    }

    #[test]
    fn a_pattern_follows_links_that_may_lead_to_a_match() {
        let outside = tree(&["x.yaml"]);
        let root = tree(&["cases/a.yaml", "shared/b.yaml", "shared/c.yaml"]);
        let link =
            |target: &std::path::Path, name: &str| symlink(target, root.path().join("cases").join(name)).unwrap();
        link(&root.path().join("shared/b.yaml"), "b.yaml");
        link(&root.path().join("shared"), "shared");
        link(&root.path().join("cases"), "up");
        link(outside.path(), "out");
        link(&root.path().join("nowhere"), "broken.txt");
        let flat = run(root.path(), "glob", "cases/*.yaml");
        assert_eq!((flat.files, flat.problems), (vec!["cases/a.yaml".into(), "cases/b.yaml".into()], vec![]));
        let deep = run(root.path(), "glob", "cases/**/*.yaml");
        assert_eq!(deep.files, ["cases/a.yaml", "cases/b.yaml", "cases/shared/b.yaml", "cases/shared/c.yaml"]);
        assert_eq!(kinds(&deep), [("cases/out", ProblemKind::Link), ("cases/up", ProblemKind::Link)]);
        link(&outside.path().join("x.yaml"), "d.yaml");
        assert_eq!(kinds(&run(root.path(), "glob", "cases/*.yaml")), [("cases/d.yaml", ProblemKind::Link)]);
    }

    #[test]
    fn links_out_and_into_nothing_are_problems() {
        let outside = tree(&["case.yaml"]);
        let root = tree(&["cases/a/case.yaml"]);
        symlink(outside.path(), root.path().join("cases/out")).unwrap();
        symlink(root.path().join("nowhere"), root.path().join("cases/broken")).unwrap();
        let listing = run(root.path(), "directories", "cases");
        assert_eq!(listing.files, ["cases/a/case.yaml"]);
        assert_eq!(kinds(&listing), [("cases/broken", ProblemKind::Link), ("cases/out", ProblemKind::Link)]);
    }

    #[test]
    fn a_loop_of_links_is_a_problem_and_ends() {
        let root = tree(&["tasks/a/x.json"]);
        symlink(root.path().join("tasks"), root.path().join("tasks/a/up")).unwrap();
        symlink(root.path().join("tasks/self.json"), root.path().join("tasks/self.json")).unwrap();
        let listing = run(root.path(), "tasks", "tasks");
        assert_eq!(listing.files, ["tasks/a/x.json"]);
        assert_eq!(kinds(&listing), [("tasks/self.json", ProblemKind::Link), ("tasks/a/up", ProblemKind::Link)]);
    }

    #[test]
    fn a_name_that_is_not_utf8_is_a_problem() {
        let root = tree(&["tasks/a.json"]);
        fs::write(root.path().join("tasks").join(OsStr::from_bytes(b"\xff.json")), "{}").unwrap();
        let listing = run(root.path(), "tasks", "tasks");
        assert_eq!(listing.files, ["tasks/a.json"]);
        assert_eq!(listing.problems[0].kind, ProblemKind::Unreadable);
    }
}
