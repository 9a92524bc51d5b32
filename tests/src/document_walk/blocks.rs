//! The code blocks of a document: files to write, commands to run, and other text.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// A code block and the headings above it.
#[derive(Debug)]
pub struct Block {
    /// The last heading of the second level.
    pub section: String,
    /// The last heading, of any level.
    pub heading: String,
    /// What is in it.
    pub content: Content,
}

/// What a block is for.
#[derive(Debug)]
pub enum Content {
    /// Lines of a file.
    File(File),
    /// Commands.
    Console(Vec<Command>),
    /// Something to read.
    Text(String),
}

/// A block whose first line is a comment with a path: `// src/lib.rs`, ``// src/lib.rs, above `TEXT` ``.
#[derive(Debug)]
pub struct File {
    /// Where the file belongs.
    pub path: String,
    /// The lines belong above the first line with this text; otherwise, they are the whole file.
    pub above: Option<String>,
    /// The lines, with the comment.
    pub text: String,
}

impl File {
    /// What the file contains. In formats without comments, the line with the path is not part of it.
    pub fn content(&self) -> &str {
        let has_comments = ![".json", ".md"].iter().any(|end| self.path.ends_with(end));
        if has_comments { &self.text } else { self.text.split_once('\n').map_or("", |(_, rest)| rest) }
    }
}

/// A line that starts with `$`, and the output that the document shows below it.
#[derive(Debug)]
pub struct Command {
    /// The line without `$`.
    pub line: String,
    /// What is shown below it.
    pub output: String,
}

/// All code blocks in order. A block of a language is a file, so that its first line says where it is pasted.
pub fn blocks(markdown: &str) -> Vec<Block> {
    let (mut blocks, mut section, mut heading) = (Vec::new(), String::new(), String::new());
    let (mut is_section, mut text, mut language) = (false, String::new(), String::new());
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                is_section = level == pulldown_cmark::HeadingLevel::H2;
                text.clear();
            }
            Event::End(TagEnd::Heading(_)) => {
                heading.clone_from(&text);
                if is_section {
                    section.clone_from(&text);
                }
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                language = info.into_string();
                text.clear();
            }
            Event::End(TagEnd::CodeBlock) => {
                let content = match &*language {
                    "text" => Content::Text(text.clone()),
                    "console" => Content::Console(commands(&text)),
                    _ => Content::File(file(&language, &text)),
                };
                blocks.push(Block { section: section.clone(), heading: heading.clone(), content });
            }
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            _ => {}
        }
    }
    blocks
}

fn file(language: &str, text: &str) -> File {
    let first = text.lines().next().unwrap_or_default();
    let comment = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "));
    let place = comment.unwrap_or_else(|| panic!("a block of {language} starts with the path of its file: {first}"));
    let (path, above) = match place.split_once(", above `") {
        Some((path, line)) => (path, line.strip_suffix('`')),
        None => (place, None),
    };
    assert!(path.contains('.') && !path.contains(' '), "expected the path of a file: {first}");
    File { path: path.to_owned(), above: above.map(str::to_owned), text: text.to_owned() }
}

fn commands(text: &str) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(line), _) => commands.push(Command { line: line.to_owned(), output: String::new() }),
            (None, Some(command)) => command.output.extend([line, "\n"]),
            (None, None) => panic!("a console block starts with a command: {line}"),
        }
    }
    commands
}
