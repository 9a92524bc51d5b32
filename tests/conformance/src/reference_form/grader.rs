//! Our graders in the form of the records.

use evalsuite_schema::grader::{
    Aggregator, Args, ArgsMatch, Composite, Criterion, Field, FieldMatch, GraderConfig, JudgeSettings, PreparedCommand,
    Preprocessor, Prompt, ToolTrajectory,
};
use evalsuite_schema::json::{Object, Value, json};
use evalsuite_schema::{Argument, Command, Grader};

use super::RecordPaths;

pub(super) fn form(grader: &Grader, paths: RecordPaths<'_>) -> Value {
    let mut form = settings(&grader.config, paths);
    let mut set = |key: &str, value: Value| form.insert(key.to_owned(), value);
    set("name", json!(grader.name));
    set("weight", json!(grader.weight));
    set("required", json!(grader.required));
    set("negate", json!(grader.negate));
    set("min_score", json!(grader.min_score));
    set("type", json!(type_name(&grader.config)));
    let mut form = Value::Object(form);
    super::remove_empty(&mut form);
    form
}

/// How a grader of a turn is identified: by its type, or as the group of strings.
pub(super) fn turn_type(grader: &Grader) -> Value {
    let is_group = grader.name == "turn-rubrics" && matches!(grader.config, GraderConfig::Rubrics(_));
    if is_group { json!("strings") } else { json!(grader.config.type_name().replace('_', "-")) }
}

/// `rubrics` is an `llm-grader` with criteria; in names of custom types, `_` becomes `-`.
fn type_name(config: &GraderConfig) -> String {
    match config {
        GraderConfig::Rubrics(_) => "llm-grader".to_owned(),
        GraderConfig::User { grader, .. } => grader.replace('_', "-"),
        other => other.type_name().to_owned(),
    }
}

fn settings(config: &GraderConfig, paths: RecordPaths<'_>) -> Object {
    let settings = match config {
        GraderConfig::Contains(text)
        | GraderConfig::Icontains(text)
        | GraderConfig::StartsWith(text)
        | GraderConfig::EndsWith(text)
        | GraderConfig::Equals(text) => json!(text),
        GraderConfig::ContainsAny(list)
        | GraderConfig::ContainsAll(list)
        | GraderConfig::IcontainsAny(list)
        | GraderConfig::IcontainsAll(list) => json!(list),
        GraderConfig::Regex(regex) => {
            json!({ "value": regex.value, "flags": (!regex.flags.is_empty()).then_some(&regex.flags) })
        }
        GraderConfig::IsJson => json!({}),
        GraderConfig::Latency(latency) => json!(latency),
        GraderConfig::Cost(cost) => json!(cost),
        GraderConfig::TokenUsage(usage) => json!(usage),
        GraderConfig::ExecutionMetrics(metrics) => json!(metrics),
        GraderConfig::ToolTrajectory(trajectory) => tool_trajectory(trajectory),
        GraderConfig::SkillTrigger(trigger) => json!(trigger),
        GraderConfig::FieldAccuracy(accuracy) => {
            json!({ "fields": accuracy.fields.iter().map(field).collect::<Vec<_>>(), "aggregation": accuracy.aggregation })
        }
        GraderConfig::CodeGrader(code) => {
            let mut form = run(&code.run, paths);
            form.insert("config".to_owned(), json!(code.config));
            form.insert("preprocessors".to_owned(), own_preprocessors(code.preprocessors.as_deref(), paths));
            Value::Object(form)
        }
        GraderConfig::Composite(composite) => self::composite(composite, paths),
        GraderConfig::LlmGrader(judge) => {
            let mut form = judge_settings(&judge.judge, paths);
            form.insert("rubrics".to_owned(), judge.rubrics.iter().map(criterion).collect());
            prompt(judge.prompt.as_ref(), paths, &mut form);
            Value::Object(form)
        }
        GraderConfig::Rubrics(rubrics) => {
            let mut form = judge_settings(&rubrics.judge, paths);
            form.insert("rubrics".to_owned(), rubrics.criteria.iter().map(criterion).collect());
            Value::Object(form)
        }
        GraderConfig::User { config, .. } => json!({ "config": config }),
        _ => json!({}),
    };
    match settings {
        Value::Object(settings) => settings,
        _ => Object::new(),
    }
}

fn tool_trajectory(trajectory: &ToolTrajectory) -> Value {
    let minimums: Object = trajectory.minimums.iter().map(|(tool, n)| (tool.clone(), json!(n))).collect();
    let expected: Vec<Value> = trajectory
        .expected
        .iter()
        .map(|call| {
            let args = call.args.as_ref().map(|args| match args {
                Args::Any => json!("any"),
                Args::Object(object) => json!(object),
            });
            let mut item = json!({
                "tool": call.tool,
                "argsMatch": call.args_match.as_ref().map(args_match),
                "maxDurationMs": call.max_duration_ms,
            });
            super::remove_empty(&mut item);
            if let (Some(args), Value::Object(item)) = (args, &mut item) {
                item.insert("args".to_owned(), args);
            }
            item
        })
        .collect();
    json!({
        "mode": trajectory.mode,
        "minimums": minimums,
        "expected": expected,
        "argsMatch": args_match(&trajectory.args_match),
    })
}

fn args_match(matching: &ArgsMatch) -> Value {
    match matching {
        ArgsMatch::Paths(paths) => json!(paths),
        other => json!(other),
    }
}

fn field(field: &Field) -> Value {
    let mut form = json!({ "path": field.path, "required": field.required, "weight": field.weight });
    let (name, tolerance, relative, formats) = match &field.matching {
        FieldMatch::Exact => ("exact", 0.0, false, Value::Null),
        FieldMatch::NumericTolerance { tolerance, relative } => {
            ("numeric_tolerance", *tolerance, *relative, Value::Null)
        }
        FieldMatch::Date { formats } => ("date", 0.0, false, json!(formats)),
    };
    form["match"] = json!(name);
    form["tolerance"] = json!(tolerance);
    form["relative"] = json!(relative);
    form["formats"] = formats;
    super::remove_empty(&mut form);
    form
}

/// The words of a command as written. The reference passes a shell line to its shell.
pub(super) fn words(command: &Command) -> Value {
    match command {
        Command::Shell(line) => json!(["sh", "-lc", line]),
        Command::Argv(words) => words
            .iter()
            .map(|word| match word {
                Argument::Text(word) => json!(word),
                Argument::Path(path) => json!(path.written),
            })
            .collect(),
    }
}

fn resolved_words(command: &Command, paths: RecordPaths<'_>) -> Value {
    match command {
        Command::Shell(_) => words(command),
        Command::Argv(words) => words
            .iter()
            .map(|word| match word {
                Argument::Text(word) => json!(word),
                Argument::Path(path) => json!(paths.absolute(path)),
            })
            .collect(),
    }
}

fn run(run: &PreparedCommand, paths: RecordPaths<'_>) -> Object {
    let mut form = Object::new();
    form.insert("command".to_owned(), words(&run.command));
    form.insert("cwd".to_owned(), json!(run.cwd.as_ref().map(|cwd| &cwd.written)));
    let resolved = run.cwd.as_ref().map_or_else(|| paths.below_root(paths.eval_dir), |cwd| paths.absolute(cwd));
    form.insert("resolvedCwd".to_owned(), json!(resolved));
    form
}

pub(super) fn preprocessors(list: &[Preprocessor], paths: RecordPaths<'_>) -> Value {
    list.iter()
        .map(|entry| {
            json!({
                // The reference trims it.
                "type": entry.media_type.trim(),
                "command": words(&entry.command),
                "resolvedCommand": resolved_words(&entry.command, paths),
            })
        })
        .collect()
}

fn own_preprocessors(list: Option<&[Preprocessor]>, paths: RecordPaths<'_>) -> Value {
    list.map_or(Value::Null, |list| preprocessors(list, paths))
}

/// `model` is left out: the reference drops it if there is no `target`.
fn judge_settings(judge: &JudgeSettings, paths: RecordPaths<'_>) -> Object {
    let mut form = Object::new();
    form.insert("target".to_owned(), json!(judge.target));
    form.insert("temperature".to_owned(), json!(judge.temperature));
    form.insert("max_steps".to_owned(), json!(judge.max_steps));
    form.insert("config".to_owned(), json!(judge.config));
    form.insert("preprocessors".to_owned(), own_preprocessors(judge.preprocessors.as_deref(), paths));
    form
}

fn prompt(prompt: Option<&Prompt>, paths: RecordPaths<'_>, form: &mut Object) {
    match prompt {
        None => {}
        Some(Prompt::Text(text)) => {
            form.insert("prompt".to_owned(), json!(text));
        }
        Some(Prompt::File { file, .. }) => {
            let written = file.written.strip_prefix("file://").unwrap_or(&file.written);
            form.insert("prompt".to_owned(), json!(written));
            form.insert("promptPath".to_owned(), json!(paths.absolute(file)));
        }
        Some(Prompt::Command { run, config }) => {
            form.insert("promptCommand".to_owned(), resolved_words(&run.command, paths));
            form.insert("config".to_owned(), json!(config));
        }
    }
}

fn criterion(criterion: &Criterion) -> Value {
    let ranges: Vec<Value> = criterion
        .score_ranges
        .iter()
        .map(|range| json!({ "score_range": [range.low, range.high], "outcome": range.outcome }))
        .collect();
    let mut form = json!({
        "id": criterion.id,
        "outcome": criterion.outcome,
        "weight": criterion.weight,
        "required": criterion.required,
        "min_score": criterion.min_score,
        "score_ranges": ranges,
    });
    super::remove_empty(&mut form);
    form
}

fn composite(composite: &Composite, paths: RecordPaths<'_>) -> Value {
    let members: Vec<Value> = composite.members.iter().map(|member| form(member, paths)).collect();
    let aggregator = match &composite.aggregator {
        Aggregator::WeightedAverage { weights } => {
            let weights: Object = weights.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect();
            json!({ "type": "weighted_average", "weights": weights })
        }
        Aggregator::Threshold { threshold } => json!({ "type": "threshold", "threshold": threshold }),
        Aggregator::CodeGrader { run: command, .. } => {
            let path = match &command.command {
                Command::Shell(line) => json!(line),
                Command::Argv(_) => words(&command.command),
            };
            let directory =
                command.cwd.as_ref().map_or_else(|| paths.below_root(paths.eval_dir), |cwd| paths.absolute(cwd));
            json!({ "type": "code-grader", "path": path, "cwd": directory })
        }
        Aggregator::LlmGrader { prompt, model } => {
            let mut form = Object::new();
            form.insert("type".to_owned(), json!("llm-grader"));
            form.insert("model".to_owned(), json!(model));
            self::prompt(prompt.as_ref(), paths, &mut form);
            Value::Object(form)
        }
    };
    json!({ "assertions": members, "aggregator": aggregator })
}
