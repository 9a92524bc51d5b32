//! One page of the reference as Markdown.

use evalsuite_loader::keys::{GRADER_KEYS, GRADERS, Key, Status, Table, Type, tables};
use evalsuite_loader::keys::{OF_AGGREGATORS, OF_COMMANDS, OF_HOOKS, OF_PROMPTS, Placeholder};
use evalsuite_schema::diagnostics::Code;

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
    let row = |table: &&'static Table| {
        let passes_when = table.doc.split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("| `{}` | {passes_when} | `{}` |\n", table.id, table.example)
    };
    let rows: String = GRADERS.iter().map(row).collect();
    format!("| type | passes when | example |\n| --- | --- | --- |\n{rows}\n")
}

/// Codes that a missing key has instead of missing-key.
const INSTEAD_OF_MISSING: &[Code] = &[
    Code::MissingGraderSetting,
    Code::InvalidMessage,
    Code::InvalidContentPart,
    Code::ConversationMismatch,
    Code::InvalidRepo,
    Code::InvalidScoreRanges,
    Code::InvalidExternalFile,
    Code::IncludeNotFound,
    Code::InvalidComposite,
    Code::NoGraders,
    Code::TargetsFile,
];

impl Page {
    pub(crate) fn render(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n", self.title, self.intro);
        let all = tables();
        let find = |id: &&'static str| *all.iter().find(|table| table.id == *id).expect("a table");
        let mut shown: Vec<&'static Table> = self.tables.iter().map(find).collect();
        if shown.is_empty() {
            shown.extend(GRADERS.iter().copied().chain(BELOW_GRADERS.iter().map(find)));
            text.push_str(&contents(std::iter::once("every grader").chain(shown.iter().map(|table| table.id))));
            text.push_str(&overview());
            text.push_str("## Every grader\n\n");
            text.push_str(&rows(GRADER_KEYS.iter(), Code::MissingGraderSetting));
        } else {
            text.push_str(&contents(shown.iter().map(|table| table.id)));
        }
        for table in shown {
            text.push_str(&section(table));
        }
        format!("{}\n", text.trim_end())
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

fn section(table: &'static Table) -> String {
    let heading = format!("## {}\n\n{}\n\n", title(table.id), table.doc);
    let is_grader = GRADERS.iter().any(|known| known.id == table.id);
    let missing = if is_grader { Code::MissingGraderSetting } else { Code::MissingKey };
    // What every grader has stands at the top of the page.
    let keys: Vec<&'static Key> =
        if is_grader || table.id == "rust-grader" { table.keys.iter().collect() } else { table.all_keys().collect() };
    if keys.is_empty() {
        return format!("{heading}It has no settings of its own.\n\n");
    }
    format!("{heading}{}", rows(keys.into_iter(), missing))
}

fn rows<'k>(keys: impl Iterator<Item = &'k Key>, missing: Code) -> String {
    let mut text = "| key | value | default | since | meaning |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for key in keys {
        let name: Vec<String> = std::iter::once(key.name).chain(key.or).map(|name| format!("`{name}`")).collect();
        let default = if key.required { "required" } else { key.default.unwrap_or("–") };
        let unit = key.unit.map(|unit| format!(", in {unit}")).unwrap_or_default();
        let cells = [
            name.join(" or "),
            format!("{}{unit}", show(&key.value)),
            default.to_owned(),
            key.since.to_owned(),
            meaning(key, missing),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text + "\n"
}

fn meaning(key: &Key, missing: Code) -> String {
    let mut text = match key.status {
        Status::Replaced(by) => format!("{} Deprecated: write `{by}`.", key.doc),
        Status::NoEffect(instead) => format!("{} Accepted without effect: {instead}.", key.doc),
        Status::Refused(..) => format!("{} It is refused.", key.doc),
        _ => key.doc.to_owned(),
    };
    if !key.old.is_empty() {
        let old: Vec<String> = key.old.iter().map(|old| format!("`{old}`")).collect();
        text.push_str(&format!(" Old spelling: {}.", old.join(", ")));
    }
    let codes: Vec<String> = codes(key, missing).into_iter().map(link).collect();
    let example = match key.example.strip_prefix('\n') {
        Some(lines) => format!("<pre>{}:<br>{}</pre>", key.name, lines.replace('\n', "<br>")),
        None => format!("`{}: {}`", key.name, key.example),
    };
    format!(
        "{text}<br>Example: {example}<br>Checked: {}",
        if codes.is_empty() { "–".to_owned() } else { codes.join(", ") }
    )
}

fn link(code: Code) -> String {
    format!("[{}](diagnostics.md#{}-{})", code.as_str(), code.as_str().to_lowercase(), code.name())
}

/// The diagnostics that guard a key.
fn codes(key: &Key, missing: Code) -> Vec<Code> {
    if matches!(key.status, Status::Refused(..)) {
        return key.codes.to_vec();
    }
    let mut codes = key.codes.to_vec();
    if key.required && !codes.iter().any(|code| INSTEAD_OF_MISSING.contains(code)) {
        codes.push(missing);
    }
    if !key.old.is_empty() || matches!(key.status, Status::Replaced(_)) {
        codes.extend([Code::DeprecatedKey, Code::ConflictingKeys]);
    }
    if key.or.is_some() {
        codes.push(Code::ConflictingKeys);
    }
    if matches!(key.status, Status::NoEffect(_)) {
        codes.push(Code::NoEffect);
    }
    of_type(&key.value, &mut codes);
    codes.sort();
    codes.dedup();
    codes
}

/// The diagnostics that follow from a type.
fn of_type(value: &Type, codes: &mut Vec<Code>) {
    if !matches!(value, Type::Any) {
        codes.push(Code::WrongType);
    }
    match value {
        Type::NotEmpty | Type::Text => codes.push(Code::BlankValue),
        Type::Literal => codes.extend([Code::BlankValue, Code::InterpolationNotAllowed]),
        Type::Number(_) | Type::Integer(..) => codes.push(Code::OutOfRange),
        Type::Choice(_) => codes.extend([Code::InvalidChoice, Code::InterpolationNotAllowed]),
        Type::File | Type::Directory => {
            codes.extend([Code::BlankValue, Code::InterpolationNotAllowed, Code::MissingPath, Code::PathEscape]);
        }
        Type::List(of) | Type::Some(of) | Type::Map(of) => of_type(of, codes),
        Type::OneOf(types) => types.iter().for_each(|of| of_type(of, codes)),
        _ => {}
    }
}

/// A type in words.
fn show(value: &Type) -> String {
    match value {
        Type::Any => "anything".to_owned(),
        Type::AnyText => "text".to_owned(),
        Type::NotEmpty => "text that is not empty".to_owned(),
        Type::Text => "text that is not blank".to_owned(),
        Type::Literal => "text that is not blank, without `${{ }}`".to_owned(),
        Type::Pattern(_, words) => (*words).to_owned(),
        Type::Boolean => "`true` or `false`".to_owned(),
        Type::Number(range) => range.words.to_owned(),
        Type::Integer(low, high) if *high < u64::from(u32::MAX) => format!("whole number from {low} to {high}"),
        Type::Integer(low, _) => format!("whole number of at least {low}"),
        Type::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Type::File => "path of a file".to_owned(),
        Type::Directory => "path of a directory".to_owned(),
        Type::Command => "command line for the shell, or list of program and arguments".to_owned(),
        Type::Arguments => "list of program and arguments".to_owned(),
        Type::Data => "mapping of anything".to_owned(),
        Type::List(of) => format!("list of: {}", show(of)),
        Type::Some(of) => format!("list, not empty, of: {}", show(of)),
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
        "# Placeholders\n\nNames in braces that are filled with values of a trial. Since 0.1.\n\n\
         ## Environment variables\n\nWhen a trial starts, `${{{{ NAME }}}}` in a text of a suite's files is replaced by the \
         environment variable of this name. An unset variable is the error [E073](diagnostics.md#e073-unset-variable). Ids, paths and \
         other values that are needed at compile time cannot contain it: [E027](diagnostics.md#e027-interpolation-not-allowed). The \
         tasks layout does not have these placeholders.\n\n\
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
