//! A keeper of notes that speaks the Agent Client Protocol over its standard input and output. Its model is a set of rules.

mod notes;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, StopReason,
};
use agent_client_protocol::{Agent, Error, Result, Stdio};

use crate::notes::{Session, Turn};

/// The sessions by id, each with its directory and what was asked so far.
type Sessions = Arc<Mutex<HashMap<String, Session>>>;

#[tokio::main]
async fn main() -> Result<()> {
    let sessions = Sessions::default();
    let (new_sessions, prompt_sessions) = (Arc::clone(&sessions), sessions);
    let next = AtomicU64::new(1);
    Agent
        .v1()
        .name("acp-agent")
        .on_receive_request(
            async move |initialize: InitializeRequest, responder, _connection| {
                let version = initialize.protocol_version;
                responder.respond(InitializeResponse::new(version).agent_capabilities(AgentCapabilities::new()))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _connection| {
                let id = format!("notes-{}", next.fetch_add(1, Ordering::Relaxed));
                let mut sessions = new_sessions.lock().unwrap_or_else(PoisonError::into_inner);
                sessions.insert(id.clone(), Session::new(request.cwd));
                drop(sessions);
                responder.respond(NewSessionResponse::new(id))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection| {
                let session = {
                    let mut sessions = prompt_sessions.lock().unwrap_or_else(PoisonError::into_inner);
                    sessions.get_mut(request.session_id.0.as_ref()).map(|session| session.ask(&request.prompt))
                };
                let Some(asked) = session else {
                    return responder.respond_with_error(Error::invalid_params());
                };
                let turn = Turn { connection: connection.clone(), session: request.session_id };
                // A handler that waits for the client would block the connection.
                connection.spawn(async move {
                    turn.answer(asked).await?;
                    responder.respond(PromptResponse::new(StopReason::EndTurn))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            // Every turn ends within milliseconds.
            async move |_: CancelNotification, _connection| Ok(()),
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await
}
