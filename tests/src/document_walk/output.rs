//! Output as it is compared: without what differs between two runs.

/// The output without the root of the package, times, ids of runs, the order in which tests end, and which cases were slow.
pub(super) fn comparable(output: &str) -> String {
    let mut lines: Vec<String> = output.trim().lines().map(line).collect();
    let is_slow_case = |line: &str| line.ends_with(" N s") && line.split_whitespace().count() == 3;
    lines.retain(|line| line.trim_start() != "slowest time" && !is_slow_case(line));
    let is_result = |line: &String| line.starts_with("test ") && line.contains(" ... ");
    let (mut start, end) = (0, lines.len());
    while start < end {
        let count = lines[start..].iter().take_while(|line| is_result(line)).count();
        lines[start..start + count].sort();
        start += count + 1;
    }
    lines.join("\n")
}

/// Words with one blank between them: the widths of columns follow from times.
fn line(line: &str) -> String {
    let line = line.trim_end().split_once("; finished in ").map_or(line, |(result, _)| result);
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_measured = |at: usize| {
        let number = words[at].trim_start_matches('(').parse::<f64>();
        number.is_ok() && words.get(at + 1).is_some_and(|unit| ["s", "ms", "kB)"].contains(unit))
    };
    let shown = words.iter().enumerate().map(|(at, word)| if is_measured(at) { "N".to_owned() } else { path(word) });
    let indent = line.len() - line.trim_start().len();
    format!("{:indent$}{}", "", shown.collect::<Vec<_>>().join(" "))
}

/// A path without ids of runs and hashes.
fn path(word: &str) -> String {
    let names = word.split('/').map(|name| match name.rsplit_once('-') {
        Some((start, hash)) if is_hash(hash) => {
            start.trim_start_matches(|c: char| c.is_ascii_digit() || "TZ".contains(c))
        }
        _ => name,
    });
    names.collect::<Vec<_>>().join("/")
}

/// Whether this is the end of a run id or of a directory of records.
fn is_hash(text: &str) -> bool {
    [6, 8].contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// What a command prints, as a user sees it in `root`: standard output, else the errors of the compiler.
pub(super) fn shown(stdout: &str, stderr: &str, root: &str) -> String {
    let status = ["Blocking ", "Compiling ", "Finished ", "Running ", "error: could not compile"];
    let errors = stderr.lines().filter(|line| !status.iter().any(|status| line.trim_start().starts_with(status)));
    let output = if stdout.trim().is_empty() { errors.collect::<Vec<_>>().join("\n") } else { stdout.to_owned() };
    output.replace(&format!("{root}/"), "").trim().to_owned()
}
