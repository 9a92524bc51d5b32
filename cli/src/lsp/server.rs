//! The loop of the server: from `initialize` to `exit`.

use std::io::{self, BufReader};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use lsp_server::{ErrorCode, Message, Request, Response};

use super::framing;
use super::messages::{Event, error, invalid_params, send, send_text};
use super::session::Session;
use crate::platform::cli_error::{CliError, Exit, Result};

/// Serves the client at standard input and output.
pub(crate) fn run() -> Result<Exit> {
    let (sender, receiver) = channel();
    let of_input = sender.clone();
    thread::spawn(move || read_input(&of_input));
    Server { state: ServerState::New, sender }.serve(&receiver)
}

fn read_input(events: &Sender<Event>) {
    let mut input = BufReader::new(io::stdin());
    loop {
        let event = match framing::read(&mut input) {
            Ok(Some(received)) => Event::Received(received),
            Ok(None) => Event::InputEnded(None),
            Err(error) => Event::InputEnded(Some(error)),
        };
        let is_end = matches!(event, Event::InputEnded(_));
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

enum ServerState {
    New,
    Open(Box<Session>),
    /// After `shutdown`.
    Closed,
}

struct Server {
    state: ServerState,
    sender: Sender<Event>,
}

impl Server {
    fn serve(mut self, events: &Receiver<Event>) -> Result<Exit> {
        loop {
            match self.next(events)? {
                Event::Received(Ok(Message::Request(request))) => self.request(request)?,
                Event::Received(Ok(Message::Notification(notification))) if notification.method == "exit" => {
                    return Ok(Exit::good_if(matches!(self.state, ServerState::Closed)));
                }
                Event::Received(Ok(Message::Notification(notification))) => {
                    if let ServerState::Open(session) = &mut self.state {
                        session.notification(notification)?;
                    }
                }
                // To the registration of watchers, and to requests to ask for lenses again.
                Event::Received(Ok(Message::Response(_))) => {}
                Event::Received(Err(reason)) => {
                    let error = serde_json::json!({ "code": ErrorCode::ParseError as i32, "message": reason });
                    let reply = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
                    send_text(&reply)?;
                }
                Event::InputEnded(error) => {
                    let reason = error.map_or_else(|| "it ended without `exit`".to_owned(), |error| error.to_string());
                    return Err(CliError::new(format!("the input of the language server: {reason}")));
                }
                Event::CaseEnded(ended) => {
                    if let ServerState::Open(session) = &mut self.state {
                        session.case_ended(ended)?;
                    }
                }
            }
        }
    }

    /// The next event. What was typed is checked once there is no other.
    fn next(&mut self, events: &Receiver<Event>) -> io::Result<Event> {
        if let Ok(event) = events.try_recv() {
            return Ok(event);
        }
        if let ServerState::Open(session) = &mut self.state {
            session.check()?;
        }
        Ok(events.recv().unwrap_or(Event::InputEnded(None)))
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let id = request.id.clone();
        let response = match &mut self.state {
            ServerState::New if request.method == "initialize" => {
                match Session::initialize(request.params, self.sender.clone()) {
                    Ok(session) => {
                        let response = Response::new_ok(id, session.capabilities());
                        self.state = ServerState::Open(Box::new(session));
                        response
                    }
                    Err(error) => invalid_params(id, &error),
                }
            }
            ServerState::New => error(id, ErrorCode::ServerNotInitialized, "`initialize` comes first"),
            ServerState::Open(_) if request.method == "initialize" => {
                error(id, ErrorCode::InvalidRequest, "the server is initialized")
            }
            ServerState::Open(_) if request.method == "shutdown" => {
                self.state = ServerState::Closed;
                Response::new_ok(id, ())
            }
            ServerState::Open(session) => session.answer(request)?,
            ServerState::Closed => error(id, ErrorCode::InvalidRequest, "the server is shut down"),
        };
        send(response)
    }
}
