//! An agent that answers questions about orders and streams its answer.
//!
//! [`SupportAgent`] is a loop between a model and one tool. The model is any OpenAI-compatible `/chat/completions` endpoint;
//! its replies are read while they arrive.
//!
//! ```no_run
//! use streaming_agent::{Event, SupportAgent};
//!
//! # async fn example() -> anyhow::Result<()> {
//! let mut events = SupportAgent::new("http://localhost:11434/v1", "qwen3").answer("Where is order 1182?");
//! while let Some(event) = events.recv().await {
//!     if let Event::Text(text) = event? {
//!         print!("{text}");
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod agent;
mod completion;
mod orders;

pub use agent::{Event, SupportAgent};
pub use completion::Usage;
