//! Ways to break a valid suite, and what the loader has to say about each.

mod assertions;
mod calibrations;
mod cases;
mod files;
mod keys;
mod layouts;
mod messages;
mod settings;
mod values;
mod workspaces;

use std::rc::Rc;

use evalsuite_schema::diagnostics::Code;

use crate::project::{Layout, Project};
use crate::render::{Part, Syntax};
use crate::tree::{Body, Entry, Node, Path};

/// One way to break one place of a project.
#[derive(Clone)]
pub(crate) struct Break {
    /// What it is about.
    pub(crate) code: Code,
    /// The kind of break, for people and for counting.
    pub(crate) what: String,
    /// The files that change, or that diagnostics point into.
    pub(crate) files: Vec<String>,
    /// It is the business of one file only: problems of other files are seen as well.
    pub(crate) is_local: bool,
    /// Diagnostics that may follow from it.
    pub(crate) follow_ups: &'static [Code],
    /// Breaks the project and says what the loader has to report.
    apply: Rc<Apply>,
}

type Apply = dyn Fn(&mut Project) -> Vec<Expected>;

/// A diagnostic that has to be there.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) code: Code,
    pub(crate) file: String,
    pub(crate) place: Place,
}

/// A place in a file.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// The file or directory as a whole.
    Whole,
    /// A value or key, and a number of columns after it.
    At(Path, Part, u32),
    /// A line, of which the column does not matter.
    Line(u32),
    /// A line and column of a file without values.
    Text(u32, u32),
}

impl Break {
    pub(crate) fn apply(&self, project: &mut Project) -> Vec<Expected> {
        (self.apply)(project)
    }
}

/// Every break of a project, grouped by nothing.
pub(crate) fn all(project: &Project) -> Vec<Break> {
    let mut breaks = Breaks { project, list: Vec::new() };
    values::add(&mut breaks);
    keys::add(&mut breaks);
    settings::add(&mut breaks);
    assertions::add(&mut breaks);
    cases::add(&mut breaks);
    messages::add(&mut breaks);
    workspaces::add(&mut breaks);
    files::add(&mut breaks);
    layouts::add(&mut breaks);
    calibrations::add(&mut breaks);
    breaks.list
}

/// Collects breaks of one project.
struct Breaks<'p> {
    project: &'p Project,
    list: Vec<Break>,
}

/// A value of a project, and where it is.
#[derive(Clone)]
struct Site<'p> {
    file: &'p str,
    path: Path,
    node: &'p Node,
    syntax: Syntax,
}

impl<'p> Breaks<'p> {
    /// Every value of every file.
    fn sites(&self) -> Vec<Site<'p>> {
        let project = self.project;
        let mut sites = Vec::new();
        project.walk(|file, path, node| {
            let syntax = project.data(file).map_or(Syntax::Json, |data| data.syntax);
            sites.push(Site { file, path: path.to_vec(), node, syntax });
        });
        sites
    }

    /// Every value with a tag.
    fn tagged(&self, tag: &str) -> Vec<Site<'p>> {
        self.sites().into_iter().filter(|site| site.node.tag == tag).collect()
    }

    /// The only value with a tag.
    fn only(&self, tag: &str) -> Option<Site<'p>> {
        self.tagged(tag).into_iter().next()
    }

    /// The value that holds what is at `path` of a file.
    fn around(&self, site: &Site<'p>) -> Option<Site<'p>> {
        let (_, parent) = site.path.split_last()?;
        let node = self.project.data(site.file)?.root.at(parent);
        Some(Site { path: parent.to_vec(), node, ..site.clone() })
    }

    /// The nearest value around `site` with a tag.
    fn within(&self, site: &Site<'p>, tag: &str) -> Option<Site<'p>> {
        let mut current = self.around(site)?;
        while current.node.tag != tag {
            current = self.around(&current)?;
        }
        Some(current)
    }

    fn is_tasks(&self) -> bool {
        self.project.layout == Layout::Tasks
    }

    fn push(
        &mut self,
        code: Code,
        what: impl Into<String>,
        files: Vec<String>,
        apply: impl Fn(&mut Project) -> Vec<Expected> + 'static,
    ) -> &mut Break {
        self.list.push(Break {
            code,
            what: what.into(),
            files,
            is_local: false,
            follow_ups: &[],
            apply: Rc::new(apply),
        });
        self.list.last_mut().expect("a break was just added")
    }

    /// Changes the value of one file so that `code` is reported at one place.
    fn local(
        &mut self,
        code: Code,
        what: impl Into<String>,
        site: &Site<'_>,
        change: impl Fn(&mut Node) -> (Path, Part) + 'static,
    ) -> &mut Break {
        let file = site.file.to_owned();
        // Templates and workspace files are read because others name them, which other breaks may have changed.
        let is_read_anyway = !file.contains("/_shared/") && !file.contains("/.");
        let added = self.push(code, what, vec![file.clone()], move |project| {
            let (path, part) = change(&mut project.data_mut(&file).root);
            vec![Expected { code, file: file.clone(), place: Place::At(path, part, 0) }]
        });
        added.is_local = is_read_anyway;
        added
    }

    /// Replaces a value by another, which is then reported.
    fn replace(&mut self, code: Code, what: impl Into<String>, site: &Site<'_>, body: Body) -> &mut Break {
        let path = site.path.clone();
        self.local(code, what, site, move |root| {
            root.at_mut(&path).body = body.clone();
            (path.clone(), Part::Value)
        })
    }

    /// Adds an entry to the mapping, whose key is then reported.
    fn insert(&mut self, code: Code, what: impl Into<String>, site: &Site<'_>, key: &str, value: Node) -> &mut Break {
        let entry = crate::tree::entry(key, value);
        self.insert_entry(code, what, site, entry)
    }

    fn insert_entry(&mut self, code: Code, what: impl Into<String>, site: &Site<'_>, entry: Entry) -> &mut Break {
        let path = site.path.clone();
        // Somewhere among the other entries, and not always at the end.
        let index = path.iter().sum::<usize>() % (site.node.entries().len() + 1);
        self.local(code, what, site, move |root| {
            root.entries_at(&path).insert(index, entry.clone());
            (join(&path, index), Part::Key)
        })
    }

    /// Adds an entry at the end of the mapping, of which the value is then reported.
    fn insert_bad_value(
        &mut self,
        code: Code,
        what: impl Into<String>,
        site: &Site<'_>,
        key: &str,
        value: Node,
    ) -> &mut Break {
        let (path, index) = (site.path.clone(), site.node.entries().len());
        let entry = crate::tree::entry(key, value);
        self.local(code, what, site, move |root| {
            root.entries_at(&path).push(entry.clone());
            (join(&path, index), Part::Value)
        })
    }

    /// Removes entries of the mapping, which is then reported as a whole.
    fn remove(&mut self, code: Code, what: impl Into<String>, site: &Site<'_>, keys: &[&str]) -> &mut Break {
        let path = site.path.clone();
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        self.local(code, what, site, move |root| {
            root.entries_at(&path).retain(|entry| !keys.contains(&entry.key));
            (path.clone(), Part::Value)
        })
    }
}

fn join(path: &[usize], index: usize) -> Path {
    let mut path = path.to_vec();
    path.push(index);
    path
}

fn text(text: &str) -> Body {
    Body::Text(text.to_owned())
}

fn number(number: &str) -> Body {
    Body::Number(number.to_owned())
}

fn list(items: impl IntoIterator<Item = Body>) -> Body {
    Body::List(items.into_iter().map(Node::new).collect())
}

fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Body)>) -> Body {
    Body::Map(entries.into_iter().map(|(key, body)| crate::tree::entry(key, Node::new(body))).collect())
}
