//! The arguments of `include_eval_suite!`.

mod literal;
mod split;
mod value;

use evalsuite_build::expansion::suggest;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};

pub(crate) use value::Text;

/// The arguments of a call.
#[derive(Debug)]
pub(crate) struct Args {
    /// The entry path.
    pub(crate) entry: Text,
    /// The agent; `None`: found by name.
    pub(crate) agent: Option<Agent>,
    /// Agents of single targets.
    pub(crate) agents: Vec<(Text, TokenStream)>,
    /// The registered graders.
    pub(crate) graders: Vec<Grader>,
    /// The default judge, or the names of several.
    pub(crate) judge: Option<Judge>,
    /// Judges that graders name.
    pub(crate) judges: Vec<(Text, TokenStream)>,
    /// Judgements after a failing one.
    pub(crate) judge_confirm: Option<u32>,
    pub(crate) targets: Vec<Text>,
    pub(crate) require_env: Vec<Text>,
    pub(crate) require_commands: Vec<Text>,
    /// Name of the generated module; `None`: from the entry path.
    pub(crate) name: Option<Ident>,
    /// Why the tests are ignored.
    pub(crate) ignore: Option<Text>,
    pub(crate) fixtures: bool,
    /// Whether the files that cases need travel in the program.
    pub(crate) embed: bool,
    pub(crate) deny_warnings: bool,
    /// Names of warnings to leave out.
    pub(crate) allow: Vec<Text>,
}

/// The agent of every target.
#[derive(Debug)]
pub(crate) enum Agent {
    /// `agent = path`.
    Expression(TokenStream),
    /// `agent = "cli"`: commands of a targets file.
    Commands,
    /// `agent = none`: no tests.
    Nobody,
}

/// The judge of graders that name none.
#[derive(Debug)]
pub(crate) enum Judge {
    /// `judge = path`.
    Expression(TokenStream),
    /// `judge = "name"` or `judge = ["a", "b", "c"]`.
    Named(Vec<Text>),
}

/// A registered grader.
#[derive(Debug)]
pub(crate) struct Grader {
    /// The name that files use.
    pub(crate) name: Text,
    pub(crate) item: TokenStream,
}

/// Something wrong with the arguments.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) span: Span,
    pub(crate) message: String,
}

impl Error {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

const NAMES: &[&str] = &[
    "agent",
    "agents",
    "graders",
    "judge",
    "judges",
    "judge_confirm",
    "targets",
    "require_env",
    "require_commands",
    "name",
    "ignore",
    "fixtures",
    "embed",
    "deny_warnings",
    "allow",
];

/// Reads the arguments. Without an entry path there are none; else wrong arguments are left out and reported.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Vec<Error>) -> Option<Args> {
    let mut arguments = split::at_commas(tokens).into_iter();
    let Some(first) = arguments.next() else {
        errors.push(Error::new(Span::call_site(), "missing the path of a suite, such as `\"suites/my_agent\"`"));
        return None;
    };
    let entry = match value::text(&first, "the path of a suite") {
        Ok(entry) => entry,
        Err(error) => {
            errors.push(error);
            return None;
        }
    };
    let mut args = Args::new(entry);
    let mut seen: Vec<String> = Vec::new();
    for argument in arguments {
        if let Err(error) = args.read(&argument, &mut seen, errors) {
            errors.push(error);
        }
    }
    Some(args)
}

impl Args {
    fn new(entry: Text) -> Self {
        Self {
            entry,
            agent: None,
            agents: Vec::new(),
            graders: Vec::new(),
            judge: None,
            judges: Vec::new(),
            judge_confirm: None,
            targets: Vec::new(),
            require_env: Vec::new(),
            require_commands: Vec::new(),
            name: None,
            ignore: None,
            fixtures: true,
            embed: true,
            deny_warnings: false,
            allow: Vec::new(),
        }
    }

    fn read(&mut self, argument: &[TokenTree], seen: &mut Vec<String>, errors: &mut Vec<Error>) -> Result<(), Error> {
        let (name, value) = name_and_value(argument)?;
        let text = name.to_string();
        if !NAMES.contains(&text.as_str()) {
            return Err(Error::new(name.span(), suggest::unknown("argument", &text, NAMES)));
        }
        if seen.contains(&text) {
            return Err(Error::new(name.span(), format!("argument `{text}` is given twice")));
        }
        seen.push(text.clone());
        if text == "deny_warnings" {
            return match value {
                None => {
                    self.deny_warnings = true;
                    Ok(())
                }
                Some(_) => Err(Error::new(name.span(), "`deny_warnings` is a flag and takes no value")),
            };
        }
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return Err(Error::new(name.span(), format!("argument `{text}` needs a value: `{text} = …`")));
        };
        match text.as_str() {
            "agent" => self.agent = Some(value::agent(value)?),
            "agents" => self.agents = value::map(value, "agents", errors)?,
            "graders" => self.graders = value::graders(value, errors)?,
            "judge" => self.judge = Some(value::judge(value, errors)?),
            "judges" => self.judges = value::map(value, "judges", errors)?,
            "judge_confirm" => self.judge_confirm = Some(value::confirm(value)?),
            "targets" => self.targets = value::texts(value, "targets", errors)?,
            "require_env" => self.require_env = value::texts(value, "require_env", errors)?,
            "require_commands" => self.require_commands = value::texts(value, "require_commands", errors)?,
            "allow" => self.allow = value::texts(value, "allow", errors)?,
            "name" => self.name = Some(value::identifier(value)?),
            "ignore" => self.ignore = Some(value::text(value, "the reason why the tests are ignored")?),
            "fixtures" => self.fixtures = value::on_off(value)?,
            "embed" => self.embed = value::on_off(value)?,
            // NAMES has no other name.
            _ => {}
        }
        Ok(())
    }
}

fn name_and_value(argument: &[TokenTree]) -> Result<(Ident, Option<&[TokenTree]>), Error> {
    let expected = "expected an argument such as `agent = my_agent`";
    let Some(first) = argument.first() else {
        return Err(Error::new(Span::call_site(), expected));
    };
    let TokenTree::Ident(name) = split::peel(first) else {
        return Err(Error::new(first.span(), expected));
    };
    match argument.get(1) {
        None => Ok((name, None)),
        Some(TokenTree::Punct(equals)) if equals.as_char() == '=' => Ok((name, Some(&argument[2..]))),
        Some(other) => Err(Error::new(other.span(), format!("expected `=` after `{name}`"))),
    }
}

#[cfg(test)]
mod tests;
