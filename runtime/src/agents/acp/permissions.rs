//! The answer to an agent that asks for permission.

use evalsuite_schema::json::json;
use evalsuite_schema::{PermissionDecision, Permissions, ToolKind, Value, matches_stars};

/// What the target says about a tool call.
pub(crate) fn decide(permissions: &Permissions, kind: ToolKind, title: &str) -> PermissionDecision {
    match permissions {
        Permissions::Allow => PermissionDecision::Allow,
        Permissions::Deny => PermissionDecision::Deny,
        Permissions::Rules(rules) => {
            let matching = rules.iter().find(|rule| {
                rule.kind.is_none_or(|of| of == kind) && rule.title.as_ref().is_none_or(|of| matches_stars(title, of))
            });
            matching.map_or(PermissionDecision::Deny, |rule| rule.decision)
        }
    }
}

/// The option of a request that says this. One that holds for a single time comes first: every request is decided by the rules.
pub(crate) fn option_for(decision: PermissionDecision, options: &[Value]) -> Option<&str> {
    let kinds = match decision {
        PermissionDecision::Allow => ["allow_once", "allow_always"],
        PermissionDecision::Deny => ["reject_once", "reject_always"],
    };
    let of_kind = |kind: &&str| {
        let option = options.iter().find(|option| option.get("kind").and_then(Value::as_str) == Some(*kind))?;
        option.get("optionId")?.as_str()
    };
    kinds.iter().find_map(of_kind)
}

/// The result of a request. Without an option, the request is cancelled.
pub(crate) fn answer(option: Option<&str>) -> Value {
    match option {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::PermissionRule;

    use super::*;

    #[test]
    fn the_first_matching_rule_decides_and_what_none_matches_is_denied() {
        let rule =
            |kind, title: Option<&str>, decision| PermissionRule { kind, title: title.map(str::to_owned), decision };
        let (allow, deny) = (PermissionDecision::Allow, PermissionDecision::Deny);
        let rules = Permissions::Rules(vec![
            rule(Some(ToolKind::Execute), Some("git push*"), deny),
            rule(Some(ToolKind::Execute), Some("git *"), allow),
            rule(Some(ToolKind::Read), None, allow),
        ]);
        assert_eq!(decide(&rules, ToolKind::Execute, "git push origin"), deny);
        assert_eq!(decide(&rules, ToolKind::Execute, "git log"), allow);
        assert_eq!(decide(&rules, ToolKind::Read, "é"), allow);
        assert_eq!(decide(&rules, ToolKind::Edit, "git log"), deny);
        assert_eq!(decide(&Permissions::Allow, ToolKind::Edit, "x"), allow);
        assert_eq!(decide(&Permissions::Deny, ToolKind::Read, "x"), deny);
    }

    #[test]
    fn a_star_is_any_text() {
        for (pattern, title, expected) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "abcd", false),
            ("*", "", true),
            ("*é*", "aéb", true),
            ("a", "ab", false),
            ("*a*b*", "xaxbx", true),
        ] {
            assert_eq!(matches_stars(title, pattern), expected, "{pattern} {title}");
        }
    }

    #[test]
    fn an_option_for_once_is_preferred_and_an_unknown_one_is_not_taken() {
        let options = [
            json!({"optionId": "always", "kind": "allow_always"}),
            json!({"optionId": "once", "kind": "allow_once"}),
            json!({"optionId": "maybe", "kind": "allow_perhaps"}),
        ];
        assert_eq!(option_for(PermissionDecision::Allow, &options), Some("once"));
        assert_eq!(option_for(PermissionDecision::Allow, &options[..1]), Some("always"));
        assert_eq!(option_for(PermissionDecision::Deny, &options), None);
        assert_eq!(option_for(PermissionDecision::Allow, &options[2..]), None);
    }
}
