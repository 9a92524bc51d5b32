//! Graders whose scores are known: leaves of every kind that the rules distinguish, in composites.

use evalsuite::__private::AgentWork;
use evalsuite::{Content, Message, Role, ToolCall};
use evalsuite_schema::Grader;
use evalsuite_schema::json::{Value, json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::grader;
use crate::decimal::{Decimal, mark, share};

/// A grader with its common keys.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) weight: Decimal,
    pub(crate) required: bool,
    pub(crate) min_score: Option<Decimal>,
    pub(crate) negate: bool,
}

/// What a grader does with [`work`].
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Scores `hit / (hit + miss)`, without a verdict of its own.
    Plain { hit: u8, miss: u8 },
    /// A guard that scores `kept / (kept + broken)`.
    Guard { kept: u8, broken: u8 },
    /// A guard with `calls / expected` of them, which fails whatever its score.
    Forced { expected: u8 },
    /// A guard that asks for a skill not to be used.
    Skill { used: bool },
    /// Undecided.
    Undecided,
    /// An error.
    Error,
    /// The weighted mean, with the weights of the aggregator.
    Average { members: Vec<Node>, weights: Vec<Option<Decimal>> },
    /// The share of members that pass.
    Share { members: Vec<Node>, threshold: Decimal },
}

fn weight() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        5 => Just(Decimal { units: 1, places: 0 }),
        2 => (0..4_i64).prop_map(|units| Decimal { units, places: 0 }),
        1 => (0..40_i64).prop_map(|units| Decimal { units, places: 1 }),
        1 => select(vec![Decimal { units: 1, places: 3 }, Decimal { units: 1000, places: 0 }]),
    ]
}

fn leaf() -> impl Strategy<Value = Kind> {
    let plain = |least| {
        (least..12_u8, 0..12_u8)
            .prop_filter_map("no field", |(hit, miss)| (hit + miss > 0).then_some(Kind::Plain { hit, miss }))
    };
    prop_oneof![
        6 => plain(0),
        3 => (0..20_u8).prop_map(|miss| Kind::Plain { hit: 20 - miss, miss }),
        3 => (1..4_u8, 0..3_u8).prop_map(|(kept, broken)| Kind::Guard { kept, broken }),
        1 => (1..4_u8).prop_map(|expected| Kind::Forced { expected }),
        1 => any::<bool>().prop_map(|used| Kind::Skill { used }),
        1 => Just(Kind::Undecided),
    ]
}

/// Common keys around a kind.
fn with_keys(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = Node> {
    (kind, weight(), prop::bool::weighted(0.15), option::weighted(0.25, mark()), prop::bool::weighted(0.2)).prop_map(
        |(kind, weight, required, min_score, negate)| {
            // The build refuses a composite with two marks.
            let min_score = min_score.filter(|_| !matches!(kind, Kind::Share { .. }));
            Node { kind, weight, required, min_score, negate }
        },
    )
}

/// Graders, up to two composites deep. One of fifty is an error.
pub(crate) fn nodes() -> impl Strategy<Value = Node> {
    let leaf = with_keys(prop_oneof![60 => leaf(), 1 => Just(Kind::Error)]);
    leaf.prop_recursive(2, 8, 4, |inner| {
        let average = vec((inner.clone(), option::weighted(0.2, weight())), 1..4).prop_map(|members| {
            let (mut members, weights): (Vec<Node>, Vec<Option<Decimal>>) = members.into_iter().unzip();
            for (member, weight) in members.iter_mut().zip(&weights) {
                if weight.is_some() {
                    member.weight = Decimal { units: 1, places: 0 };
                }
            }
            Kind::Average { members, weights }
        });
        let part = (vec(inner, 1..4), share()).prop_map(|(members, threshold)| Kind::Share { members, threshold });
        with_keys(prop_oneof![2 => average, 1 => part])
    })
}

/// The work that all graders see: two calls of `a`, one of them of the skill `used`, and an answer of which one field is right.
pub(crate) fn work() -> AgentWork {
    let mut message = Message::new(Role::Assistant, Content::Text("done".to_owned()));
    let mut skill = ToolCall::new("Skill");
    skill.input = Some(json!({"skill": "used"}));
    message.tool_calls = vec![skill];
    AgentWork {
        answer: r#"{"hit": 1, "miss": 0}"#.to_owned(),
        transcript: Some(vec![message]),
        expected_output: vec![Message::new(Role::Assistant, Content::Data(json!({"hit": 1, "miss": 1, "none": 1})))],
        ..AgentWork::default()
    }
}

impl Node {
    /// The grader of the product. `name` is unique among its neighbours.
    pub(crate) fn grader(&self, name: &str) -> Grader {
        let mut grader = grader(self.config());
        grader.name = name.to_owned();
        grader.weight = self.weight.float();
        grader.required = self.required;
        grader.min_score = self.min_score.map(Decimal::float);
        grader.negate = self.negate;
        grader
    }

    fn config(&self) -> Value {
        let field = |path: &str, weight: u8| json!({"path": path, "match": "exact", "weight": f64::from(weight), "required": false});
        let members = |members: &[Self]| -> Vec<Grader> {
            members.iter().enumerate().map(|(index, member)| member.grader(&format!("m{index}"))).collect()
        };
        match &self.kind {
            Kind::Plain { hit, miss } => {
                json!({"field-accuracy": {"fields": [field("hit", *hit), field("miss", *miss)]}})
            }
            Kind::Guard { kept, broken } => {
                let minimums: Vec<(String, u64)> = (0..*kept)
                    .map(|index| (format!("S{}", "*".repeat(usize::from(index) + 1)), 1))
                    .chain((0..*broken).map(|index| (format!("missing-{index}"), 1)))
                    .collect();
                json!({"tool-trajectory": {"mode": "any_order", "minimums": minimums}})
            }
            Kind::Forced { expected } => {
                let items: Vec<Value> = (0..=*expected).map(|_| json!({"tool": "Skill"})).collect();
                json!({"tool-trajectory": {"mode": "exact", "expected": items}})
            }
            Kind::Skill { used } => {
                json!({"skill-trigger": {"skill": if *used { "used" } else { "other" }, "should_trigger": false}})
            }
            Kind::Undecided => json!({"field-accuracy": {"fields": [field("none", 1)]}}),
            Kind::Error => json!({"regex": {"value": "("}}),
            Kind::Average { members: inner, weights } => {
                let weights = weights
                    .iter()
                    .enumerate()
                    .filter_map(|(index, weight)| Some((format!("m{index}"), (*weight)?.float())));
                let weights: Vec<(String, f64)> = weights.collect();
                json!({"composite": {"members": members(inner), "aggregator": {"weighted_average": {"weights": weights}}}})
            }
            Kind::Share { members: inner, threshold } => {
                let aggregator = json!({"threshold": {"threshold": threshold.float()}});
                json!({"composite": {"members": members(inner), "aggregator": aggregator}})
            }
        }
    }
}
