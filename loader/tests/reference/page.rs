//! One page of the reference as Markdown.

use std::collections::BTreeMap;

use evalsuite_loader::key_tables::{
    GRADER_KEYS, GRADERS, Key, OF_AGGREGATORS, OF_COMMANDS, OF_HOOKS, OF_PROMPTS, Placeholder, Status, Table, Type,
    tables,
};

use crate::{BELOW_GRADERS, page_of};

/// A page of the reference.
pub(crate) struct Page {
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) tables: &'static [&'static str],
}

/// The built-in graders at a glance.
fn overview() -> String {
    let row = |table: &&'static Table| format!("| [`{0}`](#{0}) | `{1}` |\n", table.id, table.example);
    let rows: String = GRADERS.iter().map(row).collect();
    format!("| type | example |\n| --- | --- |\n{rows}\n")
}

impl Page {
    /// `earlier` has the tables of the pages before this one, and gets those of this one.
    pub(crate) fn render(&self, earlier: &mut Vec<Section>) -> String {
        let mut text = format!("# {}\n\n{}\n\n", self.title, self.intro);
        let all = tables();
        let find = |id: &&'static str| *all.iter().find(|table| table.id == *id).expect("a table");
        let mut shown: Vec<&'static Table> = self.tables.iter().map(find).collect();
        if shown.is_empty() {
            shown.extend(GRADERS.iter().copied().chain(BELOW_GRADERS.iter().map(find)));
            text.push_str(&overview());
            text.push_str(&contents(std::iter::once("every grader").chain(BELOW_GRADERS.iter().copied())));
            text.push_str("## Every grader\n\n");
            text.push_str(&keys(self.file, "every-grader", GRADER_KEYS.iter(), earlier));
        }
        for table in shown {
            text.push_str(&self.section(table, earlier));
        }
        format!("{}\n", text.trim_end())
    }

    fn section(&self, table: &'static Table, earlier: &mut Vec<Section>) -> String {
        let heading = format!("## {}\n\n{}\n\n", title(table.id), table.doc);
        let is_grader = GRADERS.iter().any(|known| known.id == table.id);
        // What every grader has stands at the top of the page.
        let own: Vec<&'static Key> = if is_grader || table.id == "rust-grader" {
            table.keys.iter().collect()
        } else {
            table.all_keys().collect()
        };
        if own.is_empty() {
            return format!("{heading}It has no settings of its own.\n\n");
        }
        format!("{heading}{}", keys(self.file, table.id, own.into_iter(), earlier))
    }
}

fn contents<'t>(ids: impl Iterator<Item = &'t str>) -> String {
    let links: Vec<String> = ids.map(|id| format!("[{}](#{})", title(id), id.replace(' ', "-"))).collect();
    format!("{}\n\n", links.join(" · "))
}

fn title(id: &str) -> String {
    if GRADERS.iter().any(|table| table.id == id) {
        return format!("`{id}`");
    }
    let mut title = id.replace('-', " ");
    title[..1].make_ascii_uppercase();
    title
}

/// A key of every file, which README.md describes.
const SCHEMA: &str = "$schema";

/// The rows of a table, by the name of their key.
pub(crate) struct Section {
    file: &'static str,
    id: &'static str,
    rows: Vec<(String, String)>,
}

/// The keys of a table: the names of those that an earlier section describes alike, and the others as rows.
fn keys(
    file: &'static str,
    id: &'static str,
    keys: impl Iterator<Item = &'static Key>,
    earlier: &mut Vec<Section>,
) -> String {
    let (read, other): (Vec<&Key>, Vec<&Key>) = keys
        .filter(|key| key.name != SCHEMA)
        .partition(|key| !matches!(key.status, Status::Replaced(_) | Status::NoEffect(_) | Status::Refused(..)));
    let all: Vec<(String, String)> = read.into_iter().map(row).chain(other.into_iter().map(note)).collect();
    let describes = |row: &(String, String)| earlier.iter().position(|section| section.rows.contains(row));
    let (described, own): (Vec<_>, Vec<_>) = all.iter().partition(|row| describes(row).is_some());
    let (own, notes): (Vec<_>, Vec<_>) = own.into_iter().partition(|(_, row)| row.starts_with('|'));
    let mut text = String::new();
    let mut like: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for row in described {
        like.entry(describes(row).expect("a section")).or_default().push(&row.0);
    }
    if !like.is_empty() {
        let names = |(index, names): (usize, Vec<&str>)| {
            let section: &Section = &earlier[index];
            let page = if section.file == file { "" } else { section.file };
            format!("[{}]({page}#{}): {}", title(section.id), section.id, names.join(", "))
        };
        text = format!("As in {}.\n\n", like.into_iter().map(names).collect::<Vec<_>>().join("; as in "));
    }
    if !own.is_empty() {
        text.push_str("| key | value | meaning, example |\n| --- | --- | --- |\n");
        text.extend(own.into_iter().map(|(_, row)| row.as_str()));
        text.push('\n');
    }
    for alike in notes.chunk_by(|one, other| one.1 == other.1) {
        let names: Vec<&str> = alike.iter().map(|(names, _)| names.as_str()).collect();
        text.push_str(&format!("- {}: {}\n", names.join(", "), alike[0].1));
    }
    text.push_str(if notes.is_empty() { "" } else { "\n" });
    earlier.push(Section { file, id, rows: all });
    text
}

/// The names of a key, and its row.
fn row(key: &Key) -> (String, String) {
    let names: Vec<String> = std::iter::once(key.name).chain(key.or).map(|name| format!("`{name}`")).collect();
    let names = names.join(" or ");
    let unit = key.unit.map(|unit| format!(", in {unit}")).unwrap_or_default();
    let default = match key.default {
        _ if key.required => "; required".to_owned(),
        Some(default) => format!("; default: {default}"),
        None => String::new(),
    };
    let cells = [names.clone(), format!("{}{unit}{default}", show(&key.value)), meaning(key)];
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    (names, format!("| {} |\n", cells.join(" | ")))
}

/// The names of a key that a suite should not have, and what is wrong with it.
fn note(key: &Key) -> (String, String) {
    let names: Vec<String> = std::iter::once(&key.name).chain(key.old).map(|name| format!("`{name}`")).collect();
    let what = match key.status {
        Status::Replaced(by) => format!("deprecated, write `{by}`."),
        Status::NoEffect(instead) => format!("without effect; {instead}."),
        _ => format!("refused. {}", key.doc),
    };
    (names.join(", "), what)
}

fn meaning(key: &Key) -> String {
    let mut text = key.doc.to_owned();
    if !key.old.is_empty() {
        let old: Vec<String> = key.old.iter().map(|old| format!("`{old}`")).collect();
        text.push_str(&format!(" Old spelling: {}.", old.join(", ")));
    }
    if key.since != "0.1" {
        text.push_str(&format!(" Since {}.", key.since));
    }
    let example = match key.example.strip_prefix('\n') {
        Some(lines) => format!("<pre>{}:<br>{}</pre>", key.name, lines.replace('\n', "<br>")),
        None => format!("`{}: {}`", key.name, key.example),
    };
    // Words, paths and lists of them, but no number in quotes.
    let is_plain = key.example.chars().any(char::is_alphabetic)
        && key.example.chars().all(|character| character.is_alphanumeric() || " \"'.,-_/~[]".contains(character));
    // The type shows how such values are written.
    let is_obvious =
        is_plain || matches!(key.value, Type::Boolean | Type::Number(_) | Type::Integer(..) | Type::Choice(_));
    if !is_obvious {
        text.push_str(&format!("<br>{example}"));
    }
    text
}

/// A type in words.
fn show(value: &Type) -> String {
    match value {
        Type::Any => "anything".to_owned(),
        Type::AnyText => "any text".to_owned(),
        Type::NotEmpty => "nonempty text".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Literal => "fixed text".to_owned(),
        Type::Pattern(_, words) => (*words).to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Number(range) => {
            let words = range.words.trim_start_matches("a ").replace("of at least", "≥");
            words.replace("greater than", ">").replace("at most", "≤")
        }
        Type::Integer(low, high) if *high < u64::from(u32::MAX) => format!("integer from {low} to {high}"),
        Type::Integer(low, _) => format!("integer ≥ {low}"),
        Type::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Type::File => "file path".to_owned(),
        Type::Directory => "directory path".to_owned(),
        Type::Command => "command".to_owned(),
        Type::Arguments => "list of program and arguments".to_owned(),
        Type::Data => "mapping".to_owned(),
        Type::List(Type::OneOf(types)) if types.iter().any(|of| matches!(of, Type::Grader)) => {
            "[assertions](graders.md)".to_owned()
        }
        Type::List(of) => format!("list of: {}", show(of)),
        Type::Some(of) => format!("nonempty list of: {}", show(of)),
        Type::Map(of) => format!("mapping of names to: {}", show(of)),
        Type::Object(table) => {
            let name = title(table.id);
            format!("[{}]({}#{})", name.to_lowercase(), page_of(table.id), table.id)
        }
        Type::OneOf(types) => types.iter().map(show).collect::<Vec<_>>().join("; or "),
        Type::Grader => "[grader](graders.md)".to_owned(),
        Type::GraderSettings => "the settings of the [grader](graders.md)".to_owned(),
    }
}

/// The page about placeholders.
pub(crate) fn placeholders() -> String {
    let rows = |open: &str, close: &str, known: &[Placeholder]| {
        let row =
            |placeholder: &Placeholder| format!("| `{open}{}{close}` | {} |\n", placeholder.name, placeholder.doc);
        let rows: String = known.iter().map(row).collect();
        format!("| placeholder | filled with |\n| --- | --- |\n{rows}")
    };
    format!(
        "# Placeholders\n\nNames in braces that are filled with values of a trial.\n\n\
         ## Environment variables\n\nWhen a trial starts, `${{{{ NAME }}}}` in a text of a suite's files is replaced by the \
         environment variable of this name. An unset variable is the error [E073](diagnostics.md#e073-unset-variable). Ids, paths and \
         other values that are needed at compile time cannot contain it: [E027](diagnostics.md#e027-interpolation-not-allowed). The \
         tasks layout has no such placeholders.\n\n\
         ## Commands of a targets file\n\n{}\nAn unknown name in capitals is the error \
         [E072](diagnostics.md#e072-unknown-placeholder).\n\n\
         ## Commands of hooks\n\n{}\n## Prompts of judges\n\n{}\nA prompt with `{{{{ output }}}}` is sent as it is.\n\n\
         ## Prompts of aggregators\n\n{}\nAn unknown name in double braces stays unchanged, with the warning \
         [W007](diagnostics.md#w007-unknown-template-variable).\n",
        rows("{", "}", OF_COMMANDS),
        rows("{{ ", " }}", OF_HOOKS),
        rows("{{ ", " }}", OF_PROMPTS),
        rows("{{", "}}", OF_AGGREGATORS),
    )
}
