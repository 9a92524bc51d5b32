//! Help for names that are not known.

/// ``unknown argument `agnet` `` and, as help, what was probably meant or else what is known.
pub fn unknown(what: &str, written: &str, known: &[&str]) -> String {
    format!("unknown {what} `{written}`\n  = help: {}", help(written, known))
}

/// "did you mean …?" if something is near, else what is known.
pub fn help(written: &str, known: &[&str]) -> String {
    match nearest(written, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known: {}", list(known)),
    }
}

/// The name that was probably meant. `-` and `_`, upper and lower case are alike.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let fold = |name: &str| name.to_lowercase().replace('_', "-");
    let written = fold(written);
    let limit = (written.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&written, &fold(name)), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `` `a`, `b` ``.
pub fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
