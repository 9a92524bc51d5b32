//! URLs with their secrets apart: a user name with a password, and the values of the query.
//!
//! Hand-written: a parsed URL is normalized, and messages have to show it as the user wrote it.

/// The parts of a text that is a URL, or that should be one.
struct UrlParts<'u> {
    /// With `://`; empty without one.
    scheme: &'u str,
    /// User name and password, without `@`.
    user: Option<&'u str>,
    /// Host and path.
    place: &'u str,
    query: Option<&'u str>,
}

impl<'u> UrlParts<'u> {
    fn of(url: &'u str) -> Self {
        let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
        let rest = rest.split('#').next().unwrap_or_default();
        let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
        let authority = place.split('/').next().unwrap_or_default();
        match authority.rsplit_once('@') {
            Some((user, _)) => Self { scheme, user: Some(user), place: &place[user.len() + 1..], query },
            None => Self { scheme, user: None, place, query },
        }
    }
}

/// The URL without its secrets, which are shown as `***`.
pub(crate) fn without_credentials(url: &str) -> String {
    let parts = UrlParts::of(url);
    let user = if parts.user.is_some() { "***@" } else { "" };
    let shown = |pair: &str| pair.split_once('=').map_or(pair.to_owned(), |(name, _)| format!("{name}=***"));
    let query = parts.query.map(|query| format!("?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&")));
    format!("{}{user}{}{}", parts.scheme, parts.place, query.unwrap_or_default())
}

/// Whether the URL has a user name or a password.
pub(crate) fn has_user(url: &str) -> bool {
    UrlParts::of(url).user.is_some()
}

/// The URL with `end` at the end of its path, before the query.
pub(crate) fn with_path_end(url: &str, end: &str) -> String {
    let (path, query) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let path = path.trim_end_matches('/');
    if path.ends_with(end) { format!("{path}{query}") } else { format!("{path}{end}{query}") }
}

/// The values of the query that may be secret, as they are written. The version of an API is not: it is a date that answers
/// contain, too.
pub(crate) fn secrets_of_query(url: &str) -> impl Iterator<Item = String> {
    let pairs = UrlParts::of(url).query.into_iter().flat_map(|query| query.split('&'));
    let values = pairs.filter_map(|pair| pair.split_once('=')).filter(|(name, _)| *name != "api-version");
    values.map(|(_, value)| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_values_of_queries_are_not_shown() {
        for (url, shown) in [
            ("https://host/v1", "https://host/v1"),
            ("https://me:pass@host/v1?a=b@c&d", "https://***@host/v1?a=***&d"),
            ("host:1/v1?code=abc#x", "host:1/v1?code=***"),
            ("https://host?api-version=2024-06-01&key=s=1", "https://host?api-version=***&key=***"),
        ] {
            assert_eq!(without_credentials(url), shown);
        }
        assert!(has_user("http://a@x") && !has_user("http://x/a@b?c@d"));
    }

    #[test]
    fn a_path_goes_before_the_query() {
        for (url, whole) in [
            ("https://host/v1", "https://host/v1/chat"),
            ("https://host/v1/?code=a/b", "https://host/v1/chat?code=a/b"),
            ("https://host/v1/chat?code=abc", "https://host/v1/chat?code=abc"),
        ] {
            assert_eq!(with_path_end(url, "/chat"), whole);
        }
    }

    #[test]
    fn versions_are_no_secrets() {
        let url = "https://host/v1?api-version=2024-06-01&code=abc=&d";
        assert_eq!(secrets_of_query(url).collect::<Vec<_>>(), ["abc="]);
    }
}
