//! Graders and their settings.

use evalsuite_loader::diagnostic::Code;

use super::{Breaks, Expected, Place, Site, join, list, map, number, text};
use crate::project::File;
use crate::render::{Part, Syntax};
use crate::tree::{Body, Node, Rule, any_text, boolean, entry, integer, keys, list as node_list, name, number as num};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    types(breaks);
    names(breaks);
    patterns(breaks);
    limits(breaks);
    trajectories(breaks);
    fields(breaks);
    criteria(breaks);
    score_ranges(breaks);
    composites(breaks);
    aggregators(breaks);
    judges(breaks);
    code_graders(breaks);
    prompt_files(breaks);
    weights(breaks);
    includes(breaks);
}

fn types(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("type") {
        for removed in ["llm-judge", "code_judge"] {
            breaks.replace(Code::RemovedGraderType, "a type of an old version", &site, text(removed));
        }
        if site.node.text() == Some("rubrics") {
            breaks.replace(Code::DeprecatedKey, "the type `rubric`", &site, text("rubric"));
        }
    }
    for site in breaks.tagged("required") {
        let Some(grader) = breaks.around(&site) else { continue };
        match grader.node.get("min_score") {
            None => drop(breaks.replace(Code::DeprecatedValue, "`required` with a mark", &site, number("0.7"))),
            Some(_) => {
                let path = site.path.clone();
                breaks.local(Code::ConflictingKeys, "`required` with a second mark", &site, move |root| {
                    root.at_mut(&path).body = number("0.7");
                    (path.clone(), Part::Key)
                });
            }
        }
        for bad in [number("0"), number("1.5")] {
            breaks.replace(Code::WrongType, "`required` with a mark that is none", &site, bad);
        }
    }
}

/// A name twice in one list.
fn names(breaks: &mut Breaks<'_>) {
    for tag in ["assertions", "turn assertions", "members"] {
        for list in breaks.tagged(tag) {
            // The suite's graders are put together with a case's, and nothing says that a case wants them.
            if tag == "assertions" && breaks.within(&list, "case").is_none() {
                continue;
            }
            let named: Vec<(usize, usize, &str)> = list
                .node
                .items()
                .iter()
                .enumerate()
                .filter_map(|(index, item)| {
                    item.find("name").map(|(at, name)| (index, at, name.text().unwrap_or_default()))
                })
                .collect();
            for pair in named.windows(2) {
                let ((_, _, first), (index, at, _)) = (pair[0], pair[1]);
                let site = Site { path: join(&join(&list.path, index), at), ..list.clone() };
                let code = if tag == "members" { Code::InvalidComposite } else { Code::RepeatedGraderName };
                breaks.replace(code, format!("a name twice among {tag}"), &site, text(first));
            }
        }
    }
}

fn patterns(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("pattern") {
        for bad in ["(", "[a", "a)", r"\p{Foo}", "(?<n", r"(a)\2", "*", "(((a{1000}){1000}){1000})"] {
            breaks.replace(Code::InvalidRegex, format!("the pattern {bad}"), &site, text(bad));
        }
        if site.syntax != Syntax::Json {
            breaks.replace(Code::CheckedAtRunTime, "a pattern that is interpolated", &site, text("(${{ PATTERN }}"));
        }
    }
    for site in breaks.tagged("flags") {
        for bad in ["q", "ii", "I", "imi", "i m"] {
            breaks.replace(Code::InvalidRegex, format!("the flags {bad}"), &site, text(bad));
        }
        for flag in ["g", "iy"] {
            breaks.replace(Code::IgnoredRegexFlag, format!("the flags {flag}"), &site, text(flag));
        }
    }
    for site in breaks.tagged("values") {
        breaks.replace(Code::BlankValue, "no values", &site, list([]));
    }
}

fn limits(breaks: &mut Breaks<'_>) {
    let limits = [
        "max_total",
        "max_input",
        "max_output",
        "max_tool_calls",
        "max_llm_calls",
        "max_tokens",
        "max_cost_usd",
        "max_duration_ms",
        "target_exploration_ratio",
    ];
    for site in breaks.tagged("only limit") {
        let Some(grader) = breaks.around(&site) else { continue };
        breaks.remove(Code::MissingGraderSetting, "a grader without limits", &grader, &limits);
    }
}

fn trajectories(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("trajectory mode") {
        let Some(grader) = breaks.around(&site) else { continue };
        let (key, value) = match site.node.text() {
            Some("any_order") => ("expected", node_list([keys("").put("tool", name("search"))])),
            _ => ("minimums", map_node([("search", integer(1, 0, 9))])),
        };
        breaks.insert(Code::SettingConflict, format!("`{key}` in another mode"), &grader, key, value);
    }
    for site in breaks.tagged("minimums") {
        breaks.replace(Code::MissingGraderSetting, "no minimums", &site, map([]));
    }
    for site in breaks.tagged("expected calls") {
        let mode = breaks.around(&site).and_then(|grader| grader.node.get("mode").and_then(Node::text));
        if mode == Some("in_order") {
            breaks.replace(Code::MissingGraderSetting, "no calls in order", &site, list([]));
        }
        if matches!(mode, Some("superset" | "subset")) {
            let Some(Body::Map(_)) = site.node.items().first().map(|call| &call.body) else { continue };
            let call = Site { path: join(&site.path, 0), node: &site.node.items()[0], ..site.clone() };
            breaks.insert(Code::SettingConflict, "a limit without order", &call, "max_duration_ms", num(5));
        }
    }
    for tag in ["args match", "argument paths", "call args match"] {
        for site in breaks.tagged(tag) {
            breaks.replace(Code::MissingGraderSetting, "no paths of arguments", &site, list([]));
            for bad in ["Exact", "", "any"] {
                breaks.replace(Code::InvalidChoice, format!("arguments match {bad:?}"), &site, text(bad));
            }
        }
    }
    for site in breaks.tagged("call args match") {
        let place = join(&site.path, 1);
        let path = site.path.clone();
        breaks.local(Code::SettingConflict, "a path that is not in the arguments", &site, move |root| {
            root.at_mut(&path).body = list([text("order.id"), text("order.nr")]);
            (place.clone(), Part::Value)
        });
    }
    for site in breaks.tagged("args") {
        if matches!(site.node.body, Body::Text(_)) {
            breaks.replace(Code::WrongType, "arguments that are a word", &site, text("some"));
        }
    }
}

fn map_node(entries: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
    crate::tree::open(entries)
}

fn fields(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("fields") {
        breaks.replace(Code::MissingGraderSetting, "no fields", &site, list([]));
        let path = site.path.clone();
        breaks.local(Code::ZeroTotalWeight, "fields without weight", &site, move |root| {
            for field in root.items_at(&path) {
                set(field, "weight", number("0"));
            }
            (path.clone(), Part::Value)
        });
    }
    for site in breaks.tagged("field path") {
        for bad in ["order.idd", "order.items[7].price", "Due"] {
            breaks.replace(Code::FieldNotInExpected, "a field that is not in the reference", &site, text(bad));
        }
    }
    for site in breaks.tagged("field") {
        let matching = site.node.get("match").and_then(Node::text).unwrap_or_default();
        if matching != "numeric_tolerance" {
            breaks.insert(Code::SettingConflict, "`tolerance` of another match", &site, "tolerance", num(1));
            breaks.insert(Code::SettingConflict, "`relative` of another match", &site, "relative", boolean(true));
        }
        if matching != "date" {
            let formats = node_list([any_text("YYYY-MM-DD")]);
            breaks.insert(Code::SettingConflict, "`formats` of another match", &site, "formats", formats);
        }
    }
    for case in breaks.tagged("case") {
        let Some((_, list)) = case.node.find("assertions") else { continue };
        let Some((at, _)) = case.node.find("expected_output") else { continue };
        let compared = list.items().iter().position(|item| item.get("fields").is_some());
        let Some(grader) = compared else { continue };
        let path = case.path.clone();
        breaks.local(Code::FieldNotInExpected, "a reference that is no document", &case, move |root| {
            let entries = root.entries_at(&path);
            entries[at].value.body = text("Order 1182");
            let assertions = entries.iter().position(|entry| entry.key == "assertions").unwrap_or_default();
            (join(&join(&path, assertions), grader), Part::Value)
        });
    }
}

/// Sets a key, whether it is there or not.
fn set(node: &mut Node, key: &str, body: Body) {
    let entries = node.entries_at(&[]);
    match entries.iter_mut().find(|entry| entry.key == key) {
        Some(entry) => entry.value.body = body,
        None => entries.push(entry(key, Node::new(body))),
    }
}

fn criteria(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("criteria") {
        let has_ranges = site.node.items().iter().any(|item| item.get("score_ranges").is_some());
        if breaks.around(&site).is_some_and(|grader| grader.node.get("criteria").is_some()) {
            breaks.replace(Code::MissingGraderSetting, "no criteria", &site, list([]));
        }
        let items = site.node.items();
        if items.iter().all(|item| matches!(item.body, Body::Map(_))) {
            let path = site.path.clone();
            breaks.local(Code::ZeroTotalWeight, "criteria without weight", &site, move |root| {
                for item in root.items_at(&path) {
                    set(item, "weight", number("0"));
                }
                (path.clone(), Part::Value)
            });
        }
        let ids: Vec<(usize, usize, &str)> = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| item.find("id").map(|(at, id)| (index, at, id.text().unwrap_or_default())))
            .collect();
        for pair in ids.windows(2) {
            let ((_, _, first), (index, at, _)) = (pair[0], pair[1]);
            let second = Site { path: join(&join(&site.path, index), at), ..site.clone() };
            breaks.replace(Code::InvalidRubric, "an id of a criterion twice", &second, text(first));
        }
        for (index, item) in items.iter().enumerate().filter(|(_, item)| matches!(item.body, Body::Map(_))) {
            let criterion = Site { path: join(&site.path, index), node: item, ..site.clone() };
            if !has_ranges {
                breaks.insert(Code::SettingConflict, "a minimum without ranges", &criterion, "min_score", num("0.5"));
            } else if item.get("min_score").is_none() {
                breaks.insert(Code::DeprecatedValue, "`required_min_score`", &criterion, "required_min_score", num(7));
                for bad in ["11", "0.5", "-1"] {
                    let what = format!("`required_min_score: {bad}`");
                    breaks.insert_bad_value(Code::InvalidRubric, what, &criterion, "required_min_score", num(bad));
                }
            } else {
                breaks.insert(Code::ConflictingKeys, "two minimums", &criterion, "required_min_score", num(7));
            }
        }
    }
    for site in breaks.tagged("criterion minimum") {
        for bad in ["0", "1.5", "-1"] {
            breaks.replace(Code::InvalidRubric, format!("a minimum of {bad}"), &site, number(bad));
        }
        breaks.replace(Code::WrongType, "a minimum that is text", &site, text("0.5"));
    }
}

fn score_ranges(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("range map") {
        for bad in ["11", "x", "-1", "2.5"] {
            breaks.insert(Code::InvalidScoreRanges, format!("a range from {bad}"), &site, bad, any_text("what"));
        }
        let path = site.path.clone();
        breaks.local(Code::InvalidScoreRanges, "no range from 0", &site, move |root| {
            root.entries_at(&path).remove(0);
            (join(&path, 0), Part::Key)
        });
        breaks.replace(Code::InvalidScoreRanges, "no ranges", &site, map([]));
        let first = Site { path: join(&site.path, 0), ..site.clone() };
        breaks.replace(Code::BlankValue, "a range that says nothing", &first, text(" "));
    }
    for site in breaks.tagged("range list") {
        let path = site.path.clone();
        breaks.local(Code::InvalidScoreRanges, "a gap between ranges", &site, move |root| {
            root.items_at(&path).remove(1);
            (path.clone(), Part::Value)
        });
        breaks.replace(Code::InvalidScoreRanges, "no ranges", &site, list([]));
    }
    for site in breaks.tagged("score range") {
        for bad in [
            text("0-3"),
            number("3"),
            list([number("3")]),
            list([number("5"), number("2")]),
            list([number("0.5"), number("3")]),
        ] {
            breaks.replace(Code::InvalidScoreRanges, "bounds that are none", &site, bad);
        }
        let Some(range) = breaks.around(&site) else { continue };
        // The range before it ends here.
        let end = match range.path.last() {
            Some(1) => "3",
            Some(2) => "7",
            _ => continue,
        };
        let (path, place) = (join(&site.path, 0), range.path.clone());
        breaks.local(Code::InvalidScoreRanges, "ranges that overlap", &site, move |root| {
            root.at_mut(&path).body = number(end);
            (place.clone(), Part::Value)
        });
    }
}

fn composites(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("members") {
        breaks.replace(Code::InvalidComposite, "no members", &site, list([]));
        let Some(composite) = breaks.around(&site) else { continue };
        // Four around each other are the most.
        let inner = |inside: Body| {
            map([
                ("type", text("composite")),
                ("assertions", list([inside])),
                ("aggregator", map([("type", text("weighted_average"))])),
            ])
        };
        let mut nest = inner(text("Stays polite"));
        for _ in 0..3 {
            nest = inner(nest);
        }
        let (path, index) = (site.path.clone(), site.node.items().len());
        let depth = site.path.len();
        if composite.path.len() <= 3 && depth < 8 && breaks.within(&composite, "members").is_none() {
            breaks.local(Code::InvalidComposite, "composites nested too deeply", &site, move |root| {
                root.items_at(&path).push(Node::new(nest.clone()));
                let mut place = join(&path, index);
                for _ in 0..3 {
                    // The list of members of each, and the only one in it.
                    place.extend([1, 0]);
                }
                (place, Part::Value)
            });
        }
    }
    for site in breaks.tagged("weights") {
        breaks.insert(Code::InvalidComposite, "a weight of no member", &site, "nobody", num(1));
    }
}

fn aggregators(breaks: &mut Breaks<'_>) {
    for site in breaks.tagged("aggregator type") {
        for bad in ["mean", "weighted-average", "llm-judge", "Threshold"] {
            breaks.replace(Code::InvalidComposite, format!("the aggregator {bad}"), &site, text(bad));
        }
    }
    for site in breaks.tagged("aggregator") {
        let kind = site.node.get("type").and_then(Node::text).unwrap_or_default();
        let surplus = [
            ("weighted_average", "weights", map_node([])),
            ("threshold", "threshold", num("0.5")),
            ("code-grader", "command", any_text("true")),
            ("llm-grader", "model", any_text("gpt-5")),
            ("llm-grader", "prompt", any_text("Sum up")),
        ];
        for (owner, key, value) in surplus {
            if kind != owner {
                breaks.insert(Code::SettingConflict, format!("`{key}` of another aggregator"), &site, key, value);
            }
        }
    }
    for site in breaks.tagged("aggregator threshold") {
        let Some(composite) = breaks.around(&site).and_then(|aggregator| breaks.around(&aggregator)) else { continue };
        let (path, place) = (composite.path.clone(), site.path.clone());
        breaks.local(Code::SettingConflict, "two marks of a composite", &composite, move |root| {
            root.entries_at(&path).push(entry("min_score", num("0.5")));
            (place.clone(), Part::Key)
        });
    }
}

fn judges(breaks: &mut Breaks<'_>) {
    for tag in ["prompt text", "aggregator prompt"] {
        for site in breaks.tagged(tag) {
            breaks.replace(Code::PathLikePrompt, format!("{tag} is a path"), &site, text("./judge.md"));
            breaks.replace(
                Code::UnknownTemplateVariable,
                format!("{tag} with an unknown variable"),
                &site,
                text("Is {{ ouput }} good?"),
            );
            breaks.replace(Code::BlankValue, format!("{tag} is blank"), &site, text(" \n"));
        }
    }
    for site in breaks.tagged("prompt text") {
        breaks.replace(Code::DeprecatedKey, "an old variable", &site, text("Is {{ output_text }} good?"));
        let Some(grader) = breaks.around(&site) else { continue };
        let case = breaks.within(&site, "case");
        let in_list = breaks.around(&grader).is_some_and(|list| list.node.tag == "assertions");
        if let (Some(case), true) = (case, in_list)
            && case.node.get("criteria").is_none()
            && case.node.get("expected_output").is_none()
        {
            breaks.remove(Code::MissingGraderSetting, "nothing to judge by", &grader, &["prompt", "rubrics"]);
        }
    }
    for site in breaks.tagged("prompt file") {
        for (code, bad) in [
            (Code::MissingPath, "file://_shared/jugde.md"),
            (Code::MissingPath, "file://_shared"),
            (Code::PathEscape, "file:///etc/hostname"),
            (Code::PathEscape, "file://../../../../../../../../../../etc/hostname"),
        ] {
            breaks.replace(code, format!("the prompt {bad}"), &site, text(bad));
        }
        if site.syntax != Syntax::Json {
            breaks.replace(
                Code::InterpolationNotAllowed,
                "a prompt file by a variable",
                &site,
                text("file://${{ DIR }}/judge.md"),
            );
        }
    }
}

fn code_graders(breaks: &mut Breaks<'_>) {
    let graders: Vec<Site<'_>> = breaks
        .sites()
        .into_iter()
        .filter(|site| matches!(site.node.rule, Rule::Keys("code-grader")) && site.node.get("command").is_some())
        .collect();
    for site in graders {
        breaks.insert(Code::UnsupportedKey, "`target` of a code-grader", &site, "target", any_text("gpt"));
        if site.node.get("config").is_some() {
            breaks.insert(Code::ConflictingKeys, "a setting of a command twice", &site, "currency", any_text("USD"));
        }
    }
}

/// The file of a prompt says too little, or too much.
fn prompt_files(breaks: &mut Breaks<'_>) {
    let judges: Vec<Site<'_>> = breaks.tagged("prompt file");
    let file = breaks.project.inside("_shared/judge.md");
    let Some(judge) = judges.iter().find(|site| site.node.text().is_some_and(|text| text.ends_with("judge.md"))) else {
        return;
    };
    let texts = [
        (Code::PromptWithoutAnswer, "Grade this by {{ criteria }}.\n", (1, 1)),
        (Code::UnknownTemplateVariable, "Grade this.\n\n{{ output }} é {{ ouput }}\n", (3, 16)),
        (Code::DeprecatedKey, "{{ input_text }}\n{{output}}\n", (1, 1)),
        (Code::DeprecatedKey, "Grade\n  {{ output_text }}\n", (2, 3)),
    ];
    for (code, text, (line, column)) in texts {
        let file = file.clone();
        breaks.push(code, "a prompt file", vec![file.clone(), judge.file.to_owned()], move |project| {
            project.add_text(&file, text);
            vec![Expected { code, file: file.clone(), place: Place::Text(line, column) }]
        });
    }
    let (empty, site_file, path) =
        (breaks.project.inside("_shared/empty.md"), judge.file.to_owned(), judge.path.clone());
    breaks.push(Code::EmptyFile, "an empty prompt file", vec![site_file.clone(), empty.clone()], move |project| {
        project.add(&empty, File::Bytes(Vec::new()));
        project.data_mut(&site_file).root.at_mut(&path).body = text("file://_shared/empty.md");
        vec![
            Expected { code: Code::EmptyFile, file: site_file.clone(), place: Place::At(path.clone(), Part::Value, 0) },
            Expected { code: Code::PromptWithoutAnswer, file: empty.clone(), place: Place::Text(1, 1) },
        ]
    });
    let (file, judge_file) = (file.clone(), judge.file.to_owned());
    breaks.push(Code::InvalidUtf8, "a prompt file that is no text", vec![file.clone(), judge_file], move |project| {
        project.add(&file, File::Bytes(b"{{ output }} \xff\n".to_vec()));
        vec![Expected { code: Code::InvalidUtf8, file: file.clone(), place: Place::Whole }]
    });
}

fn weights(breaks: &mut Breaks<'_>) {
    let has_suite_graders = breaks.only("eval file").is_some_and(|root| root.node.get("assertions").is_some());
    for case in breaks.tagged("case") {
        let skips = case.node.get("execution").is_some_and(|execution| execution.get("skip_defaults").is_some());
        let Some((index, list)) = case.node.find("assertions") else { continue };
        let is_simple = list.items().iter().all(|item| item.tag == "grader");
        if !is_simple || has_suite_graders && !skips {
            continue;
        }
        let path = join(&case.path, index);
        breaks.local(Code::ZeroTotalWeight, "graders without weight", &case, move |root| {
            for grader in root.items_at(&path) {
                set(grader, "weight", number("0"));
            }
            (join(&path, 0), Part::Value)
        });
    }
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
            breaks.replace(Code::InvalidExternalFile, "a template that is no mapping", &site, bad);
        }
    }
}
