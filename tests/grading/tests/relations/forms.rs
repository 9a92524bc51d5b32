//! The forms of suites: a grader of a sample as each of the layouts has it, and as a conversation, a suite and a composite have it.

use evalsuite_schema::json::{Object, Value, json};

use crate::complete_run::SampleCase;

/// Name of the skill of suites in the skill layout, which is that of a sample.
const SKILL: &str = "pdf";

/// The form of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The list of an eval file.
    EvalFile,
    /// Graders of the suite of an eval file; its cases have the same ones.
    OfSuite,
    /// Graders of a turn.
    OfTurn,
    /// Members of a composite.
    Members,
    /// `suite.json` with case directories.
    Combined,
    /// Case directories without a suite file.
    CaseDirectories,
    /// A JSONL file.
    Jsonl,
    /// `suite.json` with a JSON file per task.
    Tasks,
    /// `SKILL.md` with `evals/evals.json`.
    Skill,
}

/// All forms.
pub(crate) const FORMS: [Form; 9] = [
    Form::EvalFile,
    Form::OfSuite,
    Form::OfTurn,
    Form::Members,
    Form::Combined,
    Form::CaseDirectories,
    Form::Jsonl,
    Form::Tasks,
    Form::Skill,
];

/// Types of graders that an Agent Skill has.
pub(crate) const OF_SKILLS: [&str; 3] = ["llm-grader", "rubrics", "skill-trigger"];

/// A suite: the path that names it, and its files.
pub(crate) struct SuiteFiles {
    pub(crate) eval: &'static str,
    pub(crate) files: Object,
}

impl Form {
    /// Whether suites of this form have such a grader.
    pub(crate) fn has(self, entry: &Value) -> bool {
        let kind = entry["type"].as_str().unwrap_or_default();
        self != Form::Skill || OF_SKILLS.contains(&kind) && entry["skill"].as_str().is_none_or(|skill| skill == SKILL)
    }

    /// The suite of these cases.
    pub(crate) fn suite(self, cases: &[SampleCase]) -> SuiteFiles {
        let each = || cases.iter().enumerate().map(|(index, case)| (format!("case-{index}"), case));
        let mut files = Object::new();
        let mut add = |path: &str, text: Value| {
            files.insert(path.to_owned(), text.to_string().into());
        };
        let of_case = |(id, case): (String, &SampleCase)| self.case(&id, case);
        let eval = match self {
            Form::EvalFile | Form::OfTurn | Form::Members => {
                add("EVAL.yaml", json!({"tests": each().map(of_case).collect::<Vec<_>>()}));
                "EVAL.yaml"
            }
            Form::OfSuite => {
                let graders = cases.first().map(|case| case.graders.clone()).unwrap_or_default();
                add("EVAL.yaml", json!({"assertions": graders, "tests": each().map(of_case).collect::<Vec<_>>()}));
                "EVAL.yaml"
            }
            Form::Combined | Form::CaseDirectories => {
                let folder = if self == Form::Combined { "suite/cases" } else { "suite" };
                for (id, case) in each() {
                    add(&format!("{folder}/{id}/case.yaml"), of_case((id.clone(), case)));
                }
                if self == Form::Combined {
                    add("suite/suite.json", json!({"name": "s", "agent_name": "a"}));
                }
                "suite"
            }
            Form::Jsonl => {
                let lines: Vec<String> = each().map(|case| of_case(case).to_string()).collect();
                files.insert("cases.jsonl".to_owned(), lines.join("\n").into());
                "cases.jsonl"
            }
            Form::Tasks => {
                add("suite/suite.json", json!({"name": "s", "agent_name": "a", "task_pass_threshold": 0.8}));
                for (id, case) in each() {
                    add(&format!("suite/tasks/{id}.json"), of_case((id.clone(), case)));
                }
                "suite"
            }
            Form::Skill => {
                add(
                    "skills/pdf/evals/evals.json",
                    json!({"skill_name": SKILL, "evals": each().map(of_case).collect::<Vec<_>>()}),
                );
                let text = format!("---\nname: {SKILL}\ndescription: Reads PDF files.\n---\n\n# PDF\n");
                files.insert("skills/pdf/SKILL.md".to_owned(), text.into());
                "skills/pdf"
            }
        };
        SuiteFiles { eval, files }
    }

    fn case(self, id: &str, case: &SampleCase) -> Value {
        let document = json!({"total": 19.9, "when": "2025-01-31"});
        let expected = json!([{"role": "assistant", "content": document}]);
        let mut written = json!({"id": id, "input": "q", "criteria": "c", "expected_output": expected});
        match self {
            Form::OfSuite => {}
            Form::OfTurn => {
                let turn = json!({"input": "q", "expected_output": expected, "assertions": case.graders});
                written = json!({"id": id, "input": "q", "criteria": "c", "mode": "conversation", "turns": [turn]});
            }
            Form::Members => {
                // Its verdict is that of its member.
                let aggregator = json!({"type": "threshold", "threshold": 1});
                written["assertions"] =
                    json!([{"type": "composite", "assertions": case.graders, "aggregator": aggregator}]);
            }
            Form::Tasks => {
                let graders: Vec<Value> = case.graders.iter().map(task_grader).collect();
                let solution = json!({"expected_outcome": document});
                written = json!({"id": id, "description": "c", "input": {"q": 1}, "reference_solution": solution, "graders": graders});
            }
            Form::Skill => written = skill_eval(id, &case.graders[0]),
            _ => written["assertions"] = json!(case.graders),
        }
        written
    }
}

fn task_grader(entry: &Value) -> Value {
    let mut config = entry.clone();
    if let Some(config) = config.as_object_mut() {
        config.retain(|key, _| key != "type" && key != "name");
    }
    json!({"name": entry["type"], "config": config})
}

fn skill_eval(id: &str, entry: &Value) -> Value {
    let mut eval = json!({"id": id, "prompt": "q"});
    match entry["type"].as_str() {
        // The name is the one that a judge of the sample gives.
        Some("rubrics") => {
            let texts = entry["criteria"].as_array().into_iter().flatten();
            let named = texts.zip(1..).map(|(text, number)| json!({"name": format!("rubric-{number}"), "text": text}));
            eval["expectations"] = named.collect();
        }
        Some("llm-grader") => eval["expected_output"] = entry["prompt"].clone(),
        _ => eval["should_trigger"] = json!(entry["should_trigger"] != false),
    }
    eval
}
