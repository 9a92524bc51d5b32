//! A help desk agent with tools and a memory. It keeps no conversation of its own: each call gets the messages so far, in the form of
//! OpenAI's chat API. It knows nothing of evalsuite.

mod agent;
mod chat;
mod memory;
mod model;

pub use agent::{Answer, DeskAgent, ToolUse};
pub use chat::ChatMessage;
pub use memory::Memory;
pub use model::{Model, RuleModel};
