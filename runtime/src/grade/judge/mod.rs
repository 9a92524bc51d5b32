//! Graders that ask a judge: `llm-grader`, `rubrics`, and composites that let one combine their members.

pub(crate) mod answer;
pub(crate) mod asking;
pub(crate) mod inquiry;
pub(crate) mod leniency;
pub(crate) mod material;
pub(crate) mod prompt;
pub(crate) mod prompts;
pub(crate) mod reply;
pub(crate) mod schema;
pub(crate) mod scoring;
pub(crate) mod template;
pub(crate) mod votes;

use evalsuite_schema::{
    Grader, GraderConfig, Location,
    grader::{Criterion, JudgeSettings, LlmGrader, Preprocessor, Prompt},
    record::{GraderKind, GraderRecord, Verdict},
};
use serde_json::Value;

use crate::{
    grade::{
        Context, Graded,
        judge::{
            asking::{Calls, Question},
            material::Material,
            prompts::Shape,
            votes::{Standing, representative, standing},
        },
        settle::settle,
    },
    judge::{CONFIRM, Choice, Site, recorded_judges},
    model::{judge::fenced, messages::pretty, score::Score},
};

pub(crate) use crate::grade::judge::inquiry::GraderInquiry;

/// What judge graders need beside the evidence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judging<'a> {
    pub(crate) choice: Choice<'a>,
    /// Commands that turn output files into text, where a grader has none of its own.
    pub(crate) preprocessors: &'a [Preprocessor],
}

/// The grader of a case that lists none.
pub(crate) fn implicit(location: Location) -> Grader {
    Grader::new("llm-grader", location, GraderConfig::LlmGrader(LlmGrader::default()))
}

/// What a grader wants to know of a judge.
pub(crate) struct Asked<'a> {
    prompt: Option<&'a Prompt>,
    criteria: &'a [Criterion],
    settings: &'a JudgeSettings,
}

impl<'a> Asked<'a> {
    /// `None` for graders that ask no judge themselves.
    pub(crate) fn by(grader: &'a Grader) -> Option<Self> {
        match &grader.config {
            GraderConfig::LlmGrader(config) => {
                Some(Self { prompt: config.prompt.as_ref(), criteria: &config.rubrics, settings: &config.judge })
            }
            GraderConfig::Rubrics(config) => {
                Some(Self { prompt: None, criteria: &config.criteria, settings: &config.judge })
            }
            _ => None,
        }
    }

    fn shape(&self) -> Shape {
        match self.criteria {
            [] => Shape::FreeForm,
            criteria if criteria.iter().any(|criterion| !criterion.score_ranges.is_empty()) => Shape::Ranges,
            _ => Shape::Checklist,
        }
    }
}

/// Asks the judges of a grader and settles what they say.
pub(crate) fn grade(path: &str, grader: &Grader, asked: &Asked<'_>, context: &Context<'_>) -> GraderRecord {
    let question = match question(path, asked, context) {
        Ok(question) => question,
        Err(problem) => return settle(grader, of_model(Score::error(problem)), context.layout),
    };
    decide(path, grader, &question, context, |graded| graded)
}

fn of_model(graded: impl Into<Graded>) -> Graded {
    Graded { kind: Some(GraderKind::Model), ..graded.into() }
}

fn question<'a>(path: &str, asked: &Asked<'a>, context: &Context<'_>) -> Result<Question<'a>, String> {
    // The first that fits counts: the judge's own go before the suite's.
    let own = asked.settings.preprocessors.as_deref().unwrap_or_default();
    let preprocessors = [own, context.judging.preprocessors].concat();
    let shown = answer::show(&preprocessors, context)?;
    let material = Material::new(&shown.text, context);
    let user = prompt::build(path, asked.prompt, (asked.shape(), asked.criteria), &material, context)?;
    Ok(Question {
        shape: asked.shape(),
        criteria: asked.criteria,
        user,
        images: shown.images,
        settings: asked.settings,
    })
}

/// Collects judgements until their majority is clear.
fn decide(
    path: &str,
    grader: &Grader,
    question: &Question<'_>,
    context: &Context<'_>,
    complete: impl Fn(Graded) -> Graded,
) -> GraderRecord {
    let site = Site {
        directory: context.grader_directory(path),
        workspace: context.evidence.workspace(),
        environment: context.environment,
        redactor: context.redactor,
    };
    let judges = match context.judging.choice.of(question.settings, &site) {
        Ok(judges) => judges,
        Err(problem) => return settle(grader, of_model(Score::error(problem)), context.layout),
    };
    let recorded = recorded_judges(&judges, path, &context.cassette.replies());
    let asks_all = recorded.as_ref().is_some_and(|judges| judges.len() > 1);
    let judges = recorded.unwrap_or(judges);
    let choice = context.judging.choice;
    let confirm = question.settings.confirm.or(choice.options.confirm).or(choice.judges.confirm).unwrap_or(CONFIRM);
    let mut calls = Calls::new(path, question, context);
    let mut votes: Vec<GraderRecord> = Vec::new();
    let mut total = judges.len();
    while standing(&votes, total) == Standing::Open || asks_all && votes.len() < total {
        let judge = &judges[votes.len() % judges.len()];
        let (graded, code) = match calls.judgement(judge, question) {
            Ok(judgement) => (scoring::score(judgement, question.criteria), None),
            Err(broken) => (Score::error(broken.message).into(), Some(broken.code)),
        };
        let mut vote = settle(grader, complete(of_model(graded)), context.layout);
        vote.code = code;
        vote.judge.get_or_insert_default().name.clone_from(&judge.name);
        let is_first_fail = votes.is_empty() && vote.verdict == Some(Verdict::Fail);
        votes.push(vote);
        if judges.len() == 1 && is_first_fail {
            total += confirm as usize;
        }
    }
    let standing = standing(&votes, total);
    let mut record = representative(votes, standing)
        .unwrap_or_else(|| settle(grader, of_model(Score::error("no judge gave a judgement")), context.layout));
    record.judge = Some(calls.into_record());
    record
}

/// Lets a judge make one score of the results of a composite's members.
pub(crate) fn aggregate(
    path: &str,
    grader: &Grader,
    (prompt, model): (Option<&Prompt>, Option<&str>),
    results: &Value,
    context: &Context<'_>,
    complete: impl Fn(Graded) -> Graded,
) -> GraderRecord {
    const RESULTS: &str = "EVALUATOR_RESULTS_JSON";
    let mut text = match prompt {
        None => prompts::AGGREGATE.to_owned(),
        Some(Prompt::Text(text) | Prompt::File { text, .. }) => text.clone(),
        Some(Prompt::Command { .. }) => {
            let problem = "a command cannot write the prompt of an aggregator";
            return settle(grader, of_model(Score::error(problem)), context.layout);
        }
    };
    if !template::uses(&text, |name| name == RESULTS) {
        text.push_str("\n\n{{EVALUATOR_RESULTS_JSON}}");
    }
    let results = fenced(&pretty(results));
    let user = template::fill(&text, |name| (name == RESULTS).then(|| results.clone()));
    let settings = JudgeSettings { model: model.map(str::to_owned), ..JudgeSettings::default() };
    let question = Question { shape: Shape::FreeForm, criteria: &[], user, images: Vec::new(), settings: &settings };
    decide(path, grader, &question, context, complete)
}
