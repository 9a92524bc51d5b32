//! The text of generated cases: about 500 bytes each, three text graders, no two alike.

use serde_json::json;

/// What a case is about.
pub(crate) struct Topic {
    /// Start of the case's name.
    pub(crate) name: &'static str,
    bucket: &'static str,
    criteria: &'static str,
    complaint: &'static str,
}

/// The topics; case `n` has topic `n` modulo their number.
pub(crate) const TOPICS: &[Topic] = &[
    Topic {
        name: "damaged_parcel",
        bucket: "refunds",
        criteria: "Approves the refund and states the amount and the order number.",
        complaint: "arrived with a cracked lid",
    },
    Topic {
        name: "late_delivery",
        bucket: "shipping",
        criteria: "Apologises once, names the carrier's new date, promises nothing else.",
        complaint: "has been stuck in a depot for a week",
    },
    Topic {
        name: "wrong_size",
        bucket: "exchanges",
        criteria: "Offers an exchange before a refund and explains the return label.",
        complaint: "is two sizes smaller than the label says",
    },
    Topic {
        name: "double_charge",
        bucket: "billing",
        criteria: "Confirms the duplicate charge and says when the money is back.",
        complaint: "was charged twice on the same evening",
    },
];

const CUSTOMERS: &[&str] = &["Ines Okafor", "Bjørn Dahl", "Mei-Ling Wu", "Tomás Řezníček", "Ada Brunner", "Jo Smith"];

/// The suite file of the cases layout.
pub(crate) fn eval_yaml(name: &str) -> String {
    format!("name: {name}\ndescription: Letters to a shop's support, answered by an agent.\n")
}

/// The suite file of the tasks layout.
pub(crate) fn suite_json(name: &str) -> String {
    format!("{}\n", json!({ "name": name, "agent_name": "agent", "kind": "regression" }))
}

/// A case of the cases layout.
pub(crate) fn case_yaml(case: usize, revision: usize) -> String {
    let Letter { topic, order, paid, customer } = Letter::new(case);
    let Topic { criteria, complaint, bucket, .. } = topic;
    format!(
        r#"criteria: {criteria}
input: |
  Hello, my order {order} {complaint}.
  I paid {paid} EUR by card and would like the money back, please.
  Reminder number {revision}. Regards, {customer}
assertions:
  - {{ type: contains, value: "{order}", required: true }}
  - type: regex
    value: '\b{pattern}\b'
    flags: i
    weight: 2
  - type: contains-any
    value: [refund, "money back", exchange]
metadata:
  failure_bucket: {bucket}
  source: {{ channel: email, ticket: {case} }}
"#,
        pattern = paid.replace('.', "[.,]"),
    )
}

/// A task of the tasks layout.
pub(crate) fn task_json(case: usize, id: &str, revision: usize) -> String {
    let Letter { topic, order, paid, customer } = Letter::new(case);
    let Topic { criteria, complaint, bucket, .. } = topic;
    let letter = format!(
        "Hello, my order {order} {complaint}. I paid {paid} EUR and would like the money back. Reminder number {revision}. \
         Regards, {customer}"
    );
    let pattern = format!(r"\b{}\b", paid.replace('.', "[.,]"));
    format!(
        r#"{{
  "id": "{id}",
  "description": "{criteria}",
  "input": {{ "prompt": {letter} }},
  "metadata": {{ "failure_bucket": "{bucket}" }},
  "graders": [
    {{ "name": "contains", "config": {{ "value": "{order}" }} }},
    {{ "name": "regex", "config": {{ "value": {pattern}, "flags": "i" }} }},
    {{ "name": "contains-any", "config": {{ "value": ["refund", "money back", "exchange"] }} }}
  ]
}}
"#,
        letter = json!(letter),
        pattern = json!(pattern),
    )
}

struct Letter {
    topic: &'static Topic,
    order: usize,
    paid: String,
    customer: &'static str,
}

impl Letter {
    fn new(case: usize) -> Self {
        let cents = 1_000 + case * 7_919 % 90_000;
        Self {
            topic: &TOPICS[case % TOPICS.len()],
            order: 100_000 + case * 17,
            paid: format!("{}.{:02}", cents / 100, cents % 100),
            customer: CUSTOMERS[case % CUSTOMERS.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_about_500_bytes() {
        for case in [0, 1, 2, 3, 19_999] {
            for text in [case_yaml(case, 0), task_json(case, "id", 0)] {
                assert!((430..=600).contains(&text.len()), "{} bytes:\n{text}", text.len());
            }
        }
    }

    #[test]
    fn a_revision_changes_the_text() {
        assert_ne!(case_yaml(3, 1), case_yaml(3, 2));
        assert_ne!(task_json(3, "id", 1), task_json(3, "id", 2));
    }
}
