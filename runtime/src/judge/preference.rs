//! Which of two answers is better: a judge is asked twice, with each of them first.

use evalsuite_schema::grader::JudgeSettings;
use evalsuite_schema::json::{Value, json};

use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_call::JudgeFailure;
use crate::judge::judge_choice::ChosenJudge;
use crate::judge::prompt_texts::{PREFERENCE, PREFERENCE_SYSTEM, object, or_undecided, text};
use crate::judge::reply_reader::{decided, text_of};
use crate::judge::user_prompt::{ShownAnswer, add_section};
use crate::model::judge::{InvalidReply, JudgeRequest, fenced};

/// What two answers are answers to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComparedTask<'a> {
    /// Empty: the better answer is the one that does more of what the task asks.
    pub(crate) criteria: &'a str,
    pub(crate) question: &'a str,
    /// Empty: there is none.
    pub(crate) reference: &'a str,
}

/// The two questions about two answers: at index 0 the first answer is shown first, at index 1 the second one.
pub(crate) fn questions(
    task: ComparedTask<'_>,
    answers: &[ShownAnswer; 2],
    settings: &JudgeSettings,
) -> [JudgeRequest; 2] {
    [0, 1].map(|first| {
        let mut user = PREFERENCE.to_owned();
        add_section(&mut user, "criteria", task.criteria);
        add_section(&mut user, "question", task.question);
        add_section(&mut user, "reference_answer", task.reference);
        let shown = [&answers[first], &answers[1 - first]];
        for (name, answer) in ["first_answer", "second_answer"].into_iter().zip(shown) {
            let images = match answer.images.len() {
                0 => String::new(),
                count => format!("\n[{count} of the images belong to this answer]"),
            };
            // An empty answer is an answer.
            add_section(&mut user, name, &format!("{}{images}", fenced(&answer.text)));
        }
        let images = shown.iter().flat_map(|answer| answer.images.clone()).collect();
        let request = JudgeRequest::new(PREFERENCE_SYSTEM, user).with_response_schema(schema());
        JudgeRequest { images, ..request.with_settings(settings) }
    })
}

/// The reply of a judge to two answers in one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderedReply {
    /// Index of the answer that is better; `None`: a tie.
    pub(crate) better: Option<usize>,
    pub(crate) reasoning: Option<String>,
}

/// Whether a judge prefers the same answer in both orders, or none of them in both.
pub(crate) fn is_consistent([one, other]: &[OrderedReply; 2]) -> bool {
    one.better == other.better
}

/// Index of the answer that is better in both orders; `None`: a tie.
pub(crate) fn better([one, other]: &[OrderedReply; 2]) -> Option<usize> {
    one.better.filter(|better| other.better == Some(*better))
}

/// Asks a judge about two answers in both orders. Returns its replies, at index 0 the one where the first answer was shown first, or
/// the reason why the judge is undecided. It is then not asked again.
pub(crate) fn ask(
    inquiry: &GraderInquiry,
    judge: &ChosenJudge,
    questions: &[JudgeRequest; 2],
) -> Result<Result<[OrderedReply; 2], String>, JudgeFailure> {
    let answer = |first: usize| inquiry.answer(judge, &questions[first], |reply| read(first, reply));
    Ok(match answer(0)? {
        Ok(one) => answer(1)?.map(|other| [one, other]),
        Err(reason) => Err(reason),
    })
}

/// Reads a reply to the question that shows the answer at index `first` first, or the reason why the judge is undecided.
fn read(first: usize, reply: &str) -> Result<Result<OrderedReply, String>, InvalidReply> {
    let mut object = match decided(reply, "better", str::to_owned)? {
        Ok(object) => object,
        Err(reason) => return Ok(Err(reason)),
    };
    let better = match object.remove("better") {
        None => return Err("the reply has no `better`".into()),
        Some(Value::String(better)) => better,
        Some(other) => return Err(format!("`better` is {other}, not a text").into()),
    };
    let better = match better.trim().to_lowercase().as_str() {
        "first" => Some(first),
        "second" => Some(1 - first),
        "tie" => None,
        _ => return Err(format!("`better` is {better:?}, not \"first\", \"second\" or \"tie\"").into()),
    };
    Ok(Ok(OrderedReply { better, reasoning: text_of(&mut object, "reasoning")? }))
}

/// JSON Schema of a reply.
fn schema() -> Value {
    let better = json!({"type": ["string", "null"], "enum": ["first", "second", "tie", null]});
    or_undecided(object(&[("reasoning", text()), ("better", better)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(better: Option<usize>) -> OrderedReply {
        OrderedReply { better, reasoning: None }
    }

    #[test]
    fn replies_name_positions_and_mean_answers() {
        for (first, text, expected) in [
            (0, r#"{"better": "first", "reasoning": "x"}"#, Some(0)),
            (1, r#"{"better": "first"}"#, Some(1)),
            (1, r#"Well: {"better": " Second "}"#, Some(0)),
            (0, r#"<think>{"better": "first"}</think>{"better": "second"}"#, Some(1)),
            (0, r#"not {"better": "first"} but {"better": "second"}"#, Some(1)),
            (0, r#"{"better": "tie", "undecided": false, "reason": null}"#, None),
        ] {
            assert_eq!(read(first, text).unwrap().unwrap().better, expected, "{text}");
        }
        let undecided = r#"{"better": null, "undecided": true, "reason": "nothing is shown"}"#;
        assert_eq!(read(0, undecided).unwrap(), Err("nothing is shown".to_owned()));
    }

    #[test]
    fn replies_of_another_form_are_refused() {
        for (text, expected) in [
            ("", "the reply is empty"),
            ("NaN", "the reply is not JSON"),
            ("{\"better\": NaN}", "the reply is not JSON"),
            ("[1]", "the reply is a list, not a JSON object"),
            ("{}", "the reply has no `better`"),
            (
                r#"{"better": "first", "better": "second"}"#,
                "the reply is not JSON: an object has the key `better` twice at line 1 column",
            ),
            (r#"{"better": null}"#, "`better` is null, not a text"),
            (r#"{"better": "both"}"#, r#"`better` is "both", not "first", "second" or "tie""#),
            (r#"{"better": "first", "reasoning": 1}"#, "has a number as `reasoning`, not a text"),
        ] {
            let problem = read(0, text).unwrap_err().to_string();
            assert!(problem.starts_with(expected), "{text}: {problem}");
        }
    }

    #[test]
    fn only_an_answer_that_is_better_in_both_orders_wins() {
        for (one, other, winner, consistent) in [
            (Some(0), Some(0), Some(0), true),
            (Some(1), Some(1), Some(1), true),
            (None, None, None, true),
            (Some(0), Some(1), None, false),
            (Some(0), None, None, false),
        ] {
            let replies = [reply(one), reply(other)];
            assert_eq!((better(&replies), is_consistent(&replies)), (winner, consistent));
        }
    }

    #[test]
    fn both_orders_show_the_same_and_differ_in_the_positions() {
        let settings = JudgeSettings::default();
        let task = ComparedTask { criteria: "Is polite", question: "Hi", reference: "" };
        let answer = |text: &str| ShownAnswer { text: text.to_owned(), images: Vec::new() };
        let [one, other] = questions(task, &[answer("aaa"), answer("bbb")], &settings);
        assert!(one.user.contains("[[ ## criteria ## ]]\nIs polite\n") && !one.user.contains("reference_answer ##"));
        assert!(one.user.find("aaa") < one.user.find("bbb") && other.user.find("bbb") < other.user.find("aaa"));
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&one.user), sorted(&other.user));
        jsonschema::validate(
            &schema().into(),
            &json!({"reasoning": "", "better": "tie", "undecided": false, "reason": null}).into(),
        )
        .expect("a reply that has the schema");
    }
}
