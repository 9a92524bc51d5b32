//! A Markdown document: its links, its code, its headings, and the lists that say what an addition touches.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

#[derive(Default)]
pub(crate) struct Document {
    /// How many lines it has.
    pub(crate) lines: usize,
    pub(crate) links: Vec<At<String>>,
    /// Text in backticks.
    pub(crate) code: Vec<At<String>>,
    /// Lines of code blocks.
    pub(crate) blocks: Vec<At<String>>,
    pub(crate) anchors: BTreeSet<String>,
    /// Anchors of the headings `##`.
    pub(crate) sections: Vec<At<String>>,
    /// Blocks of Rust code.
    pub(crate) rust: Vec<At<String>>,
    /// The sections `### Add a …`.
    pub(crate) additions: Vec<At<Addition>>,
}

/// Something and its line, counted from 1.
pub(crate) struct At<T> {
    pub(crate) line: usize,
    pub(crate) what: T,
}

pub(crate) struct Addition {
    pub(crate) heading: String,
    /// Links and text in backticks in the lists of the section.
    pub(crate) listed: Vec<String>,
}

impl Document {
    pub(crate) fn parse(text: &str) -> Self {
        let mut document = Self { lines: text.lines().count(), ..Self::default() };
        let (mut heading, mut in_block, mut lists, mut in_rust) = (None::<String>, false, 0_usize, false);
        let mut slugs = BTreeMap::new();
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            let line = text[..range.start].matches('\n').count() + 1;
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(level)) => {
                    let heading = heading.take().unwrap_or_default();
                    document.section(line, level, heading, &mut slugs);
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    in_block = true;
                    in_rust = matches!(kind, CodeBlockKind::Fenced(language) if &*language == "rust");
                    document.rust.extend(in_rust.then(|| At { line, what: String::new() }));
                }
                Event::End(TagEnd::CodeBlock) => in_block = false,
                Event::Start(Tag::List(_)) => lists += 1,
                Event::End(TagEnd::List(_)) => lists -= 1,
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.list(lists, &dest_url);
                    document.links.push(At { line, what: dest_url.into_string() });
                }
                Event::Text(text) if in_block => {
                    if let Some(rust) = document.rust.last_mut().filter(|_| in_rust) {
                        rust.what.push_str(&text);
                    }
                    let lines = text.lines().enumerate();
                    document.blocks.extend(lines.map(|(index, text)| At { line: line + index, what: text.to_owned() }));
                }
                Event::Text(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
                Event::Code(code) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&code));
                    document.list(lists, &code);
                    document.code.push(At { line, what: code.into_string() });
                }
                Event::Html(html) | Event::InlineHtml(html) => document.anchors.extend(html_anchors(&html)),
                _ => {}
            }
        }
        document
    }

    fn section(&mut self, line: usize, level: HeadingLevel, heading: String, slugs: &mut BTreeMap<String, usize>) {
        let slug = slug(&heading);
        let before = slugs.entry(slug.clone()).or_default();
        let anchor = if *before == 0 { slug } else { format!("{slug}-{before}") };
        *before += 1;
        self.sections.extend((level == HeadingLevel::H2).then(|| At { line, what: anchor.clone() }));
        self.anchors.insert(anchor);
        let is_addition = ["Add a ", "Add an "].iter().any(|start| heading.starts_with(start));
        // Any other heading ends the section before it.
        let heading = if is_addition && level == HeadingLevel::H3 { heading } else { String::new() };
        self.additions.push(At { line, what: Addition { heading, listed: Vec::new() } });
    }

    /// Notes a path in a list of the current section.
    fn list(&mut self, lists: usize, text: &str) {
        if lists > 0
            && let Some(addition) = self.additions.last_mut()
        {
            addition.what.listed.push(text.to_owned());
        }
    }

    /// The sections `### Add a …`.
    pub(crate) fn additions(&self) -> impl Iterator<Item = &At<Addition>> {
        self.additions.iter().filter(|addition| !addition.what.heading.is_empty())
    }
}

/// The anchor that GitHub gives to a heading.
fn slug(heading: &str) -> String {
    let characters = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    characters.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Values of `id="…"` and `name="…"`.
fn html_anchors(html: &str) -> Vec<String> {
    let starts = ["id=\"", "name=\""].into_iter().flat_map(|start| html.split(start).skip(1));
    starts.filter_map(|rest| rest.split_once('"').map(|(value, _)| value.to_owned())).collect()
}
