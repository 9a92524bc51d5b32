//! What a Dockerfile puts into the working directory of a container.

use std::path::{Component, Path, PathBuf};

/// A Dockerfile as far as a workspace can have what it says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dockerfile {
    /// The last working directory.
    pub(super) workdir: Option<String>,
    /// Sources relative to the Dockerfile with their targets relative to the working directory, and their lines.
    pub(super) copies: Vec<(PathBuf, PathBuf, u32)>,
    /// Instructions that only a container has, with their lines.
    pub(super) others: Vec<(String, u32)>,
}

/// Reads a Dockerfile. `workdir`: that of the task, if it names one.
pub(super) fn read(text: &str, workdir: Option<&str>) -> Dockerfile {
    let mut file = Dockerfile { workdir: workdir.map(str::to_owned), ..Dockerfile::default() };
    let mut copies: Vec<(String, Option<String>, u32)> = Vec::new();
    for (line, instruction) in instructions(text) {
        let (name, arguments) = instruction.split_once(char::is_whitespace).unwrap_or((&instruction, ""));
        let arguments = arguments.trim();
        match name.to_uppercase().as_str() {
            "WORKDIR" if workdir.is_none() => {
                let current = Path::new(file.workdir.as_deref().unwrap_or("/"));
                let next = current.join(arguments.trim_matches(['"', '\'']));
                file.workdir = Some(next.to_string_lossy().into_owned());
            }
            "WORKDIR" => {}
            // Another image: what is in the one before is not in this one.
            "FROM" if workdir.is_none() || !copies.is_empty() => {
                file.workdir = workdir.map(str::to_owned);
                for (arguments, _, line) in copies.drain(..) {
                    file.others.push((format!("COPY {arguments}"), line));
                }
                file.others.push((instruction.lines().next().unwrap_or_default().to_owned(), line));
            }
            "COPY" | "ADD" if !arguments.starts_with(['-', '[', '<']) && !arguments.contains("://") => {
                copies.push((arguments.to_owned(), file.workdir.clone(), line));
            }
            _ => file.others.push((instruction.lines().next().unwrap_or_default().to_owned(), line)),
        }
    }
    let root = file.workdir.clone().unwrap_or_else(|| "/".to_owned());
    for (arguments, current, line) in copies {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let Some((target, sources)) = words.split_last() else { continue };
        let absolute = Path::new(current.as_deref().unwrap_or("/")).join(target);
        let inside = absolute.strip_prefix(&root).ok().map(Path::to_path_buf);
        let is_plain = sources.iter().all(|source| !source.contains(['*', '?', '$']));
        match inside.filter(|_| is_plain && !sources.is_empty()) {
            Some(inside) => {
                for source in sources {
                    let target = if target.ends_with('/') || *target == "." || sources.len() > 1 {
                        inside.join(Path::new(source).file_name().unwrap_or_default())
                    } else {
                        inside.clone()
                    };
                    // Docker takes a path for one in the directory of the Dockerfile, whatever it starts with.
                    let source = source.trim_start_matches('/');
                    file.copies.push((PathBuf::from(source), normal(&target), line));
                }
            }
            None => file.others.push((format!("COPY {arguments}"), line)),
        }
    }
    file
}

/// The path without `.`.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|component| matches!(component, Component::Normal(_))).collect()
}

/// The instructions with the lines where they start; a `\` continues a line. The texts of here-documents are left out.
fn instructions(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut continues = false;
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') || trimmed.is_empty() {
            continue;
        }
        let (part, goes_on) = trimmed.strip_suffix('\\').map_or((trimmed, false), |part| (part.trim_end(), true));
        match found.last_mut().filter(|_| continues) {
            Some((_, instruction)) => {
                instruction.push(' ');
                instruction.push_str(part);
            }
            None => found.push((number, part.to_owned())),
        }
        continues = goes_on;
        let whole = found.last().filter(|_| !continues).map_or("", |(_, instruction)| instruction);
        for end in here_documents(whole) {
            let mut below = lines.clone();
            // Without its end it is no document, but an operator.
            if below.any(|(line, _)| line.trim_start_matches('\t') == end) {
                lines = below;
            }
        }
    }
    found
}

/// The words that end the here-documents of an instruction, in their order.
fn here_documents(instruction: &str) -> impl Iterator<Item = &str> {
    instruction.split("<<").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
        let word = rest.trim_start_matches(['"', '\'']);
        let end = word.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        let word = &word[..end.unwrap_or(word.len())];
        // `1<<4` shifts.
        word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_').then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_into_the_working_directory_are_files_of_a_workspace() {
        let text = "FROM ubuntu:24.04\n# comment\nWORKDIR /app\nRUN apt-get update && \\\n    apt-get install -y git\nCOPY data.csv src/ ./\nCOPY a.txt /app/b.txt\nCOPY --from=x y z\nCOPY skills /skills\n";
        let file = read(text, None);
        assert_eq!(file.workdir.as_deref(), Some("/app"));
        let copies: Vec<(&str, &str)> =
            file.copies.iter().map(|(from, to, _)| (from.to_str().unwrap(), to.to_str().unwrap())).collect();
        assert_eq!(copies, [("data.csv", "data.csv"), ("src/", "src"), ("a.txt", "b.txt")]);
        let others: Vec<(&str, u32)> = file.others.iter().map(|(text, line)| (text.as_str(), *line)).collect();
        assert_eq!(
            others,
            [
                ("FROM ubuntu:24.04", 1),
                ("RUN apt-get update && apt-get install -y git", 4),
                ("COPY --from=x y z", 8),
                ("COPY skills /skills", 9)
            ]
        );
    }

    #[test]
    fn a_stage_has_nothing_of_the_one_before() {
        let file = read("FROM a AS b\nWORKDIR /build\nCOPY x .\nFROM c\nWORKDIR /srv\nWORKDIR app\nCOPY y .\n", None);
        assert_eq!(file.workdir.as_deref(), Some("/srv/app"));
        assert_eq!(file.copies, [(PathBuf::from("y"), PathBuf::from("y"), 7)]);
        assert!(file.others.contains(&("COPY x .".to_owned(), 3)), "{:?}", file.others);
        assert_eq!(read("FROM a AS b\nWORKDIR /build\nFROM c\n", None).workdir, None);
    }

    #[test]
    fn the_text_of_a_here_document_has_no_instructions() {
        let text = "WORKDIR /app\nRUN python3 <<'END' && \\\n  cat <<-\"SECOND\"\nCOPY data.csv .\nEND\nWORKDIR /root\n\tSECOND\n\
                    COPY <<EOF notes.txt\nADD x y\nEOF\nRUN echo $((1<<4)) $((1 << n))\nCOPY a.txt .\n";
        let file = read(text, None);
        assert_eq!(file.workdir.as_deref(), Some("/app"));
        assert_eq!(file.copies, [(PathBuf::from("a.txt"), PathBuf::from("a.txt"), 12)]);
        let others: Vec<(&str, u32)> = file.others.iter().map(|(text, line)| (text.as_str(), *line)).collect();
        assert_eq!(
            others,
            [
                ("RUN python3 <<'END' && cat <<-\"SECOND\"", 2),
                ("COPY <<EOF notes.txt", 8),
                ("RUN echo $((1<<4)) $((1 << n))", 11)
            ]
        );
    }
}
