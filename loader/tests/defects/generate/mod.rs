//! Valid suites of every layout.

mod calibration;
mod case;
mod criteria;
mod eval_file;
mod execution;
mod graders;
mod input;
mod layouts;
mod sealing;
mod stated;
mod style;
mod task;
mod workspace;

use std::collections::BTreeMap;

use self::calibration::Judged;
use crate::choices::Choices;
use crate::project::{Layout, Project};
use crate::tree::{Node, Wanted, any_text, path, text};

pub(crate) use calibration::asks;
pub(crate) use graders::SCHEMA;

/// A valid suite.
pub(crate) fn project(choices: Choices, layout: Layout) -> Project {
    let mut project = Project { layout, entry: String::new(), root: String::new(), files: BTreeMap::new() };
    project.add_text("Cargo.toml", "[package]\nname = \"agent\"\n");
    let mut generator = Generator {
        choices,
        project,
        made: 0,
        targets: Vec::new(),
        has_suite_files: false,
        may_pass_at_k: true,
        needs_reference: false,
        ids: Vec::new(),
        is_template: false,
        judged: Vec::new(),
    };
    generator.layout();
    generator.project
}

/// What is known while a suite is made.
struct Generator {
    choices: Choices,
    project: Project,
    /// How many names were given out.
    made: usize,
    /// The target matrix.
    targets: Vec<&'static str>,
    /// The suite has `input_files`, so that every `input` is text.
    has_suite_files: bool,
    /// The suite's kind allows `strategy: pass_at_k`.
    may_pass_at_k: bool,
    /// Every case needs `expected_output`.
    needs_reference: bool,
    /// Ids that later cases can depend on.
    ids: Vec<String>,
    /// The list is that of a template, which includes no other; and its graders have no names, since it may
    /// be included twice.
    is_template: bool,
    /// Cases whose judges can be measured.
    judged: Vec<Judged>,
}

const SENTENCES: &[&str] = &[
    "Approves the refund",
    "Names the order: 1182, and the amount #19.90",
    "Zusage für die Bestellung № 1182 – höflich",
    "first line\nsecond line",
    "it's \"quoted\" twice",
    "🦀 {{ 1 }} and ${x} stay as they are",
    "yes",
    "2024-05-01",
    "- not a list, [not a list], {not: a mapping}",
    "19.90",
];

const NAMES: &[&str] = &["tone", "order-number", "Größe", "a b", "no", "step_2"];

impl Generator {
    fn sentence(&mut self) -> Node {
        text(self.choices.one("sentence", SENTENCES))
    }

    fn any_sentence(&mut self) -> Node {
        any_text(self.choices.one("sentence", SENTENCES))
    }

    /// A name that no other has.
    fn fresh(&mut self) -> String {
        self.made += 1;
        let name = self.choices.one("name", NAMES);
        format!("{name}-{}", self.made)
    }

    fn has(&mut self) -> bool {
        self.choices.has()
    }

    /// A path of something in the shared directory, as it can be written in any file.
    fn shared(&mut self, name: &str, wanted: Wanted) -> Node {
        let prefix = self.choices.one("prefix", &["", "./", "_shared/../", "././"]);
        path(format!("{prefix}_shared/{name}"), wanted)
    }

    fn shared_file(&mut self, name: &str) -> Node {
        self.shared(name, Wanted::File)
    }

    fn shared_directory(&mut self, name: &str) -> Node {
        self.shared(name, Wanted::Directory)
    }

    /// What files of a suite name.
    fn resources(&mut self) {
        let texts = [
            ("brief.md", "Order 1182 arrived broken.\n"),
            ("order.schema.json", "{ \"type\": \"object\", \"required\": [\"total\"] }\n"),
            ("order.csv", "id;amount\n1182;19,90\n"),
            ("logo.png", "not really an image\n"),
            ("photo.JPG", "not really an image\n"),
            ("judge.md", "Grade this.\n\n{{ output }}\n\nagainst {{criteria}}\n"),
            ("results.txt", "{{ EVALUATOR_RESULTS_JSON }}\n"),
            ("scripts/grade.py", "print('{\"score\": 1}')\n"),
            ("scripts/to_text", "#!/bin/sh\ncat\n"),
            ("template/README.md", "A template.\n"),
            ("template/src/main.rs", "fn main() {}\n"),
            ("repo/README.md", "A repository.\n"),
        ];
        for (name, content) in texts {
            let path = self.project.inside(&format!("_shared/{name}"));
            self.project.add_text(&path, content);
        }
    }
}
