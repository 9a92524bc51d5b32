fn join(names: Vec<String>) -> String {
    names.join(", ")
}

/// The names in one line, and how many there are.
pub fn describe(names: Vec<String>) -> String {
    let joined = join(names);
    format!("{joined} ({})", names.len())
}

#[cfg(test)]
mod tests;
