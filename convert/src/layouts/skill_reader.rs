//! Reads `evals/evals.json` of an Agent Skill as settings and cases of an eval file.

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::json;

use super::SuiteSource;
use crate::case_ids::suite_name;
use crate::error::ConvertError;
use crate::report::{Place, Report};
use crate::suite_draft::{CaseDraft, entry};

impl SuiteSource {
    /// Reads the evals of a skill, whose name is that of its directory.
    pub(super) fn skill(&mut self, entries: Vec<(String, Value)>) -> Result<(), ConvertError> {
        let skill = self.default_name.clone();
        let name = Some(suite_name(&skill)).filter(|name| !name.is_empty()).unwrap_or_else(|| "skill".to_owned());
        if name != skill {
            self.report.approximated(&self.place, format!("`{skill}` is not the name of a suite, `{name}` is"));
        }
        self.draft.settings.push(("name".to_owned(), Value::text(name)));
        for (key, value) in entries {
            let at = self.place.below(value.position.line, &key);
            self.report.mapped(&at);
            match key.as_str() {
                "skill_name" => {}
                "description" | "version" | "metadata" => self.draft.settings.push((key, value)),
                "$schema" => self.report.approximated(&at, "the schema of an eval file is another one"),
                "evals" => {
                    for (eval, place) in at.items(&value) {
                        self.draft.cases.push(case(eval, &skill, place, &mut self.report)?);
                    }
                }
                _ => self.report.dropped(&at, "no key of evals.json"),
            }
        }
        let reason = "agents get the skill only if a `template` of the suite has it in";
        self.report.approximated(&self.place, format!("{reason} `.agents/skills/{skill}`"));
        Ok(())
    }
}

/// Expectations with names as criteria with ids.
fn criteria(expectations: &Value) -> Value {
    let mut criteria = expectations.clone();
    let Data::List(items) = &mut criteria.data else { return criteria };
    for item in items {
        let Data::Mapping(entries) = &mut item.data else { continue };
        for (key, _) in entries {
            match key.as_str() {
                "name" => *key = "id".to_owned(),
                "text" | "description" => *key = "outcome".to_owned(),
                _ => {}
            }
        }
    }
    criteria
}

fn case(eval: &Value, skill: &str, place: Place, report: &mut Report) -> Result<(String, CaseDraft), ConvertError> {
    let id = eval.get("id").and_then(|id| {
        let number = id.as_number().map(|number| number.to_string());
        id.as_text().map(str::to_owned).or(number)
    });
    let Some(id) = id else {
        return Err(ConvertError::unsupported(format!("{} is not an eval: it has no `id`", place.name)));
    };
    let (mut entries, mut assertions, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
    let expectations = eval.get("expectations").or(eval.get("assertions"));
    let has_expectations = expectations.and_then(Value::items).is_some_and(|items| !items.is_empty());
    for (key, value, at) in place.entries(eval) {
        report.mapped(&at);
        match key {
            "id" => {}
            "prompt" => entries.push(("input".to_owned(), value.clone())),
            "expected_output" => {
                entries.push(("criteria".to_owned(), value.clone()));
                if !has_expectations {
                    assertions.push(Value::from(json!({"type": "llm-grader", "name": "expected-output"})));
                }
            }
            "expectations" | "assertions" if has_expectations => {
                let criteria = vec![
                    entry("type", "rubrics"),
                    entry("name", "expectations"),
                    ("criteria".to_owned(), criteria(value)),
                ];
                assertions.push(Value::new(Data::Mapping(criteria)));
            }
            "expectations" | "assertions" => {}
            "should_trigger" => {
                let should_trigger = value.to_json();
                let grader = json!({"type": "skill-trigger", "skill": skill, "should_trigger": should_trigger});
                assertions.push(Value::from(grader));
            }
            "files" => report.dropped(&at, "only the `template` of a workspace has files: put them there"),
            "timeout" => entries.push(entry("execution", json!({"timeout_seconds": value.to_json()}))),
            "metadata" => metadata.extend(value.entries().iter().cloned()),
            "name" | "description" | "category" | "tags" => metadata.push((key.to_owned(), value.clone())),
            _ => report.dropped(&at, "no key of an eval"),
        }
    }
    entries.push(("assertions".to_owned(), Value::new(Data::List(assertions))));
    if !metadata.is_empty() {
        entries.push(("metadata".to_owned(), Value::new(Data::Mapping(metadata))));
    }
    Ok((id, CaseDraft { entries, above: Vec::new(), place }))
}
