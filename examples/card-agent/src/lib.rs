//! An agent that turns a note into a card.
//!
//! The agent is a loop between a [`Model`] and four file tools that work on a [`Desk`], the directory with the user's
//! cards. The model is either [`ScriptedModel`], which works by rules, offline and deterministically, or
//! [`OpenAiModel`], which calls an OpenAI-compatible `/chat/completions` endpoint. [`ConfiguredModel::from_env`] selects
//! the endpoint if `OPENAI_BASE_URL` is set.
//!
//! ```no_run
//! use card_agent::{CardAgent, Desk, Note, ScriptedModel, NoObserver};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let desk = Desk::open("my-cards")?;
//! let note = Note::new("Dentist on Wednesday at 15:30", "2026-01-12".parse()?);
//! let answer = CardAgent::new(ScriptedModel::new()).run(&note, &desk, &mut NoObserver).await?;
//! println!("{answer}");
//! # Ok(())
//! # }
//! ```

mod agent;
mod card;
mod chat;
mod model;
mod rules;
mod tools;

pub use agent::{AgentError, CardAgent, NoObserver, Note, Observer};
pub use card::{Card, Template};
pub use chat::{ChatMessage, Completion, ToolCall, Usage};
pub use model::{ConfigurationError, ConfiguredModel, Model, ModelError, OpenAiModel, ScriptedModel};
pub use tools::{Desk, ToolError, ToolResult, ToolSpec};
