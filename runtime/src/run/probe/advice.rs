//! Why a grader passes an agent that did no work, and what would help.

use evalsuite_schema::{EmptyProbe, Grader, GraderConfig};

use crate::grade::probed::{Passing, shown};
use crate::grade::text_graders::folded;
use crate::grade::to_probes::probed;
use crate::run::probe::empty_probes::REFUSAL;
use crate::run::probe::reference::of_grader;

/// What is wrong with a grader that passes these probes, as a sentence; `None` if that is not known.
pub(super) fn advice(grader: &Grader, passing: &Passing<'_>) -> Option<String> {
    let members = grader.config.settings().members();
    if !members.is_empty() {
        let own = probed(&grader.config).advice(grader, passing);
        return own.or_else(|| members.iter().find_map(|member| advice(member, passing)));
    }
    if grader.negate {
        return Some("the grader only forbids: add what has to be there".to_owned());
    }
    match &grader.config {
        GraderConfig::Contains(_)
        | GraderConfig::Icontains(_)
        | GraderConfig::ContainsAny(_)
        | GraderConfig::IcontainsAny(_)
        | GraderConfig::ContainsAll(_)
        | GraderConfig::IcontainsAll(_)
        | GraderConfig::StartsWith(_)
        | GraderConfig::EndsWith(_)
        | GraderConfig::Equals(_) => of_texts(grader, passing),
        GraderConfig::User { grader: name, .. } => {
            Some(format!("the grader `{name}` passes an agent that does nothing: compare with what it has to do"))
        }
        config => probed(config).advice(grader, passing),
    }
}

fn of_texts(grader: &Grader, passing: &Passing<'_>) -> Option<String> {
    let fold = |text: &str| match grader.config {
        GraderConfig::Icontains(_) | GraderConfig::IcontainsAny(_) | GraderConfig::IcontainsAll(_) => folded(text),
        _ => text.to_owned(),
    };
    let texts = of_grader(grader);
    let is_found = |text: &&String, place: &str| fold(place).contains(&fold(text));
    let found_in = |place: &str| texts.iter().find(|text| is_found(text, place));
    if passing.has(EmptyProbe::Refusal)
        && let Some(text) = found_in(REFUSAL)
    {
        let place = if text.chars().count() <= 2 { "every text contains" } else { "a refusal contains" };
        return Some(format!("{place} {}: look for what only a right answer contains", shown(text)));
    }
    if passing.has(EmptyProbe::Echo)
        && let Some(text) = found_in(passing.prompt)
    {
        let text = shown(text);
        return Some(format!("the prompt itself contains {text}: a `tool-trajectory` or `equals` would distinguish"));
    }
    passing.by_listing()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Location;
    use evalsuite_schema::grader::{Aggregator, Composite, ContainsJson, Regex, SkillTrigger, TextList, TextValue};
    use evalsuite_schema::json::{Value, from_value, json};

    use super::*;

    fn of(config: GraderConfig, probes: &[EmptyProbe]) -> String {
        let grader = Grader::new("g", Location::new("f", 1, 1), config);
        advice(&grader, &Passing { probes, prompt: "Refund 19.90, please" }).unwrap_or_default()
    }

    fn text(value: &str) -> TextValue {
        TextValue { value: value.to_owned() }
    }

    fn trajectory(value: Value) -> GraderConfig {
        GraderConfig::ToolTrajectory(from_value(value).unwrap())
    }

    use EmptyProbe::{Busy, Echo, Hedge, Refusal, Silent};

    #[test]
    fn the_text_that_is_found_is_named() {
        assert!(of(GraderConfig::Contains(text("e")), &[Echo, Refusal]).starts_with("every text contains `e`"));
        assert!(of(GraderConfig::Icontains(text("HELP")), &[Refusal]).starts_with("a refusal contains `HELP`"));
        let any = TextList { value: vec!["paid".into(), "19.90".into()] };
        assert_eq!(
            of(GraderConfig::ContainsAny(any), &[Echo, Hedge]),
            "the prompt itself contains `19.90`: a `tool-trajectory` or `equals` would distinguish"
        );
        assert!(
            of(GraderConfig::Contains(text("paid")), &[Hedge]).starts_with("a text that lists every expected text")
        );
    }

    #[test]
    fn graders_that_ask_for_nothing_are_explained() {
        let pattern = GraderConfig::Regex(Regex { value: ".*".into(), flags: String::new() });
        assert!(of(pattern, &[Silent]).contains("matches the empty text"));
        let none = trajectory(json!({ "mode": "any_order", "maximums": [["delete", 0]] }));
        assert!(of(none, &[Silent]).starts_with("the grader only forbids calls"));
        let zero = trajectory(json!({ "mode": "any_order", "minimums": [["search", 0]] }));
        assert!(of(zero, &[Silent]).starts_with("a minimum of 0"));
        let subset = trajectory(json!({ "mode": "subset", "expected": [{ "tool": "a" }] }));
        assert!(of(subset, &[Silent]).starts_with("no calls at all"));
        let names = trajectory(json!({ "mode": "in_order", "expected": [{ "tool": "a" }] }));
        assert!(of(names, &[Busy]).starts_with("only the names of tools"));
        let skill = SkillTrigger { skill: "csv".into(), should_trigger: false };
        assert!(of(GraderConfig::SkillTrigger(skill), &[Silent]).starts_with("the grader only forbids"));
        assert!(of(GraderConfig::ContainsJson(ContainsJson::default()), &[Hedge]).starts_with("any object"));
        let threshold = Aggregator::Threshold { threshold: 0.0 };
        let members = vec![Grader::new("m", Location::new("f", 1, 1), GraderConfig::IsJson)];
        let composite = Composite { members, aggregator: threshold };
        assert!(of(GraderConfig::Composite(composite), &[Silent]).starts_with("a `threshold` of 0"));
    }
}
