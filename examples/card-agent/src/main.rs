//! `card-agent [--today YYYY-MM-DD] DIRECTORY NOTE…`: turns a note into a card in a directory.

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use card_agent::{CardAgent, ConfiguredModel, Desk, Note, Observer, ToolCall, ToolResult};
use jiff::civil::Date;

const USAGE: &str = "usage: card-agent [--today YYYY-MM-DD] DIRECTORY NOTE…

Turns a note into a card below DIRECTORY/cards. Works by rules, or, if OPENAI_BASE_URL is set, with the model OPENAI_MODEL
at that OpenAI-compatible endpoint (key: OPENAI_API_KEY).";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = error.to_string();
            let mut next = error.source();
            while let Some(source) = next {
                text.push_str(&format!(": {source}"));
                next = source.source();
            }
            eprintln!("error: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (today, rest) = match arguments {
        [flag, date, rest @ ..] if flag == "--today" => (date.parse()?, rest),
        rest => (today()?, rest),
    };
    let [directory, note @ ..] = rest else { return Err(USAGE.into()) };
    let desk = Desk::open(directory).map_err(|error| format!("cannot open {directory}: {error}"))?;
    let agent = CardAgent::new(ConfiguredModel::from_env()?);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let answer = runtime.block_on(agent.run(&Note::new(note.join(" "), today), &desk, &mut Printer))?;
    println!("{answer}");
    Ok(())
}

/// The current day in UTC; `--today` overrides it.
fn today() -> Result<Date, Box<dyn Error>> {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    let days = i64::try_from(seconds / 86_400)?;
    Ok(Date::constant(1970, 1, 1).checked_add(jiff::Span::new().try_days(days)?)?)
}

/// Prints what the agent does to stderr.
struct Printer;

impl Observer for Printer {
    fn on_message(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            eprintln!("· {text}");
        }
    }

    fn on_tool_call(&mut self, call: &ToolCall, result: &ToolResult, _took: Duration) {
        let status = match result {
            Ok(_) => "ok".to_owned(),
            Err(error) => format!("failed: {error}"),
        };
        let shown: String = call.arguments.chars().take(100).collect();
        eprintln!("  {} {shown} → {status}", call.name);
    }
}
