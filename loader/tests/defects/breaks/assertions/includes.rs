//! Templates.

use evalsuite_schema::diagnostics::Code;

use super::super::{Breaks, Expected, Place, join, list, map, number, text};
use crate::project::File;
use crate::render::{Part, Syntax};
use crate::tree::{Body, Node, entry};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    includes(breaks);
}

fn includes(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("include") {
        for bad in ["polit", "./_shared/nobody.yaml", "polite.yaml"] {
            breaks.replace(Code::IncludeNotFound, format!("the template {bad}"), &site, text(bad));
        }
        for bad in ["/etc/template.yaml", "../../../../../../../../../../template.yaml"] {
            breaks.replace(Code::PathEscape, format!("the template {bad}"), &site, text(bad));
        }
    }
    for site in breaks.tagged("template list") {
        // A template that includes itself, and a chain that is too long.
        let name = site.file.rsplit('/').next().unwrap_or_default().to_owned();
        let (path, index) = (site.path.clone(), site.node.items().len());
        let added = breaks.local(Code::IncludeCycle, "a template that includes itself", &site, move |root| {
            let written = Node::new(text(&format!("./{name}")));
            root.items_at(&path).push(Node::new(Body::Map(vec![entry("include", written)])));
            (join(&join(&path, index), 0), Part::Value)
        });
        // Once for each chain of templates that leads there.
        added.follow_ups = &[Code::IncludeCycle];
        let (path, file) = (site.path.clone(), site.file.to_owned());
        let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
        let reached_by = breaks.tagged("include").len();
        if reached_by == 1 {
            let last = format!("{directory}/deep2.yaml");
            breaks.push(
                Code::IncludeCycle,
                "templates included too deeply",
                vec![file.clone(), last.clone()],
                move |project| {
                    let include = |name: &str| map([("include", text(name))]);
                    project.data_mut(&file).root.items_at(&path).push(Node::new(include("./deep1.yaml")));
                    for (name, inside) in [
                        ("deep1", include("./deep2.yaml")),
                        ("deep2", include("./deep3.yaml")),
                        ("deep3", text("Polite")),
                    ] {
                        let root = Node::new(map([("assertions", list([inside]))]));
                        let data = crate::project::Data::new(root, Syntax::Yaml);
                        project.add(&format!("{directory}/{name}.yaml"), File::Data(data));
                    }
                    vec![Expected {
                        code: Code::IncludeCycle,
                        file: last.clone(),
                        place: Place::At(vec![0, 0, 0], Part::Value, 0),
                    }]
                },
            );
        }
        for bad in [text("Stays polite"), number("3"), map([])] {
            breaks.replace(Code::InvalidExternalFile, "a template without a list", &site, bad);
        }
    }
    for site in breaks.tagged("template file") {
        for bad in [list([text("Stays polite")]), text("Stays polite")] {
            breaks.replace(Code::InvalidExternalFile, "a template that is not a mapping", &site, bad);
        }
    }
}
