//! What the agent does with a prompt: it reads and writes notes through its client, after it has asked for permission.

use std::path::PathBuf;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, PermissionOption, PermissionOptionKind, Plan, PlanEntry, PlanEntryPriority,
    PlanEntryStatus, ReadTextFileRequest, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
    SessionNotification, SessionUpdate, TextContent, ToolCall, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind, WriteTextFileRequest,
};
use agent_client_protocol::{Client, Result};
use serde_json::json;

/// A session: its directory, and the prompts so far.
pub struct Session {
    directory: PathBuf,
    prompts: Vec<String>,
}

/// What a prompt asks for.
pub enum Asked {
    Write {
        path: PathBuf,
        name: String,
        text: String,
    },
    Read {
        path: PathBuf,
        name: String,
    },
    /// The first prompt of the session.
    First(String),
    Unknown,
}

impl Session {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, prompts: Vec::new() }
    }

    /// Reads a prompt.
    pub fn ask(&mut self, prompt: &[ContentBlock]) -> Asked {
        let text: String = prompt
            .iter()
            .filter_map(|block| if let ContentBlock::Text(text) = block { Some(text.text.as_str()) } else { None })
            .collect();
        self.prompts.push(text.clone());
        let words: Vec<&str> = text.trim().trim_end_matches(['.', '?']).split_whitespace().collect();
        let name = words.last().copied().unwrap_or_default().to_owned();
        let path = self.directory.join(&name);
        match words.as_slice() {
            ["Write", text @ .., "to", _] => Asked::Write { path, name, text: text.join(" ") },
            ["Read", _] => Asked::Read { path, name },
            ["What", "did", "I", "ask", "first"] => Asked::First(self.prompts[0].clone()),
            _ => Asked::Unknown,
        }
    }
}

/// A turn of a session.
pub struct Turn {
    pub connection: ConnectionTo<Client>,
    pub session: SessionId,
}

impl Turn {
    pub async fn answer(&self, asked: Asked) -> Result<()> {
        match asked {
            Asked::Write { path, name, text } => self.write(path, &name, &text).await,
            Asked::Read { path, name } => self.read(path, &name).await,
            Asked::First(prompt) => self.say(&format!("You asked: {prompt}")),
            Asked::Unknown => self.say("I can write a text to a file, and read a file."),
        }
    }

    async fn write(&self, path: PathBuf, name: &str, text: &str) -> Result<()> {
        self.think("The note has to be written, which needs permission.")?;
        let step = |text: &str, status| PlanEntry::new(text, PlanEntryPriority::Medium, status);
        let steps = vec![
            step("ask for permission", PlanEntryStatus::InProgress),
            step("write the note", PlanEntryStatus::Pending),
        ];
        self.update(SessionUpdate::Plan(Plan::new(steps)))?;
        let call = ToolCall::new("write-1", format!("Write {name}"))
            .kind(ToolKind::Edit)
            .raw_input(json!({"path": name, "text": text}))
            .locations(vec![ToolCallLocation::new(path.clone())]);
        self.update(SessionUpdate::ToolCall(call))?;
        let options = vec![
            PermissionOption::new("no", "Do not write", PermissionOptionKind::RejectOnce),
            PermissionOption::new("yes", "Write", PermissionOptionKind::AllowOnce),
        ];
        let asked = ToolCallUpdate::new("write-1", ToolCallUpdateFields::new());
        let request = RequestPermissionRequest::new(self.session.clone(), asked, options);
        let response = self.connection.send_request(request).block_task().await?;
        let is_allowed = match response.outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.0.as_ref() == "yes",
            _ => false,
        };
        if !is_allowed {
            self.end_call("write-1", ToolCallStatus::Failed, "not allowed")?;
            return self.say(&format!("I may not write {name}."));
        }
        let write = WriteTextFileRequest::new(self.session.clone(), path, text);
        self.connection.send_request(write).block_task().await?;
        self.end_call("write-1", ToolCallStatus::Completed, "written")?;
        self.say(&format!("Wrote {name}."))
    }

    async fn read(&self, path: PathBuf, name: &str) -> Result<()> {
        let call = ToolCall::new("read-1", format!("Read {name}"))
            .kind(ToolKind::Read)
            .raw_input(json!({"path": name}))
            .locations(vec![ToolCallLocation::new(path.clone())]);
        self.update(SessionUpdate::ToolCall(call))?;
        let read = ReadTextFileRequest::new(self.session.clone(), path);
        match self.connection.send_request(read).block_task().await {
            Ok(response) => {
                self.end_call("read-1", ToolCallStatus::Completed, &response.content)?;
                self.say(&format!("{name} says: {}", response.content.trim_end()))
            }
            Err(error) => {
                self.end_call("read-1", ToolCallStatus::Failed, &error.message)?;
                self.say(&format!("I cannot read {name}."))
            }
        }
    }

    fn end_call(&self, id: &'static str, status: ToolCallStatus, output: &str) -> Result<()> {
        let fields = ToolCallUpdateFields::new().status(status).raw_output(json!(output));
        self.update(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)))
    }

    fn say(&self, text: &str) -> Result<()> {
        // In pieces, as a model writes it.
        for word in text.split_inclusive(' ') {
            let block = ContentBlock::Text(TextContent::new(word));
            self.update(SessionUpdate::AgentMessageChunk(ContentChunk::new(block)))?;
        }
        Ok(())
    }

    fn think(&self, text: &str) -> Result<()> {
        let block = ContentBlock::Text(TextContent::new(text));
        self.update(SessionUpdate::AgentThoughtChunk(ContentChunk::new(block)))
    }

    fn update(&self, update: SessionUpdate) -> Result<()> {
        self.connection.send_notification(SessionNotification::new(self.session.clone(), update))
    }
}
