//! What a model is asked.

use evalsuite_schema::diagnostics::Code;

use super::super::{Breaks, Expected, Place, Site, join, list, map, number, text};
use super::graders::set;
use crate::project::File;
use crate::render::{Part, Syntax};
use crate::tree::{Body, any_text, number as num};

pub(super) fn add(breaks: &mut Breaks<'_>) {
    criteria(breaks);
    score_ranges(breaks);
    judges(breaks);
    prompt_files(breaks);
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
    breaks.push(Code::InvalidUtf8, "a prompt file that is not text", vec![file.clone(), judge_file], move |project| {
        project.add(&file, File::Bytes(b"{{ output }} \xff\n".to_vec()));
        vec![Expected { code: Code::InvalidUtf8, file: file.clone(), place: Place::Whole }]
    });
}
