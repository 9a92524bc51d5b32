//! The calls of models that agents make, as the command line records or replays them: it runs the server that the agents call, and the
//! test programs say on a connection of their own which trial runs.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::str::FromStr;

use evalsuite_records::record::ModelCalls;
use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson};

/// Environment variable with a [`ModelCallServer`].
pub const MODEL_CALLS: &str = "EVALSUITE_MODEL_CALLS";

/// End of the names of files with the calls of models of a trial.
pub const MODEL_CALLS_FILE: &str = ".calls.json";

/// Where test programs say which trial runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCallServer {
    /// What becomes of the calls.
    pub calls: ModelCalls,
    /// Address of the server.
    pub address: SocketAddr,
}

/// A trial that is about to run. The server replies with a [`BegunTrial`] once no other trial runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct BeginTrial {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Path of the test.
    pub test: String,
    /// Name of the target.
    pub target: String,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// The file of the recording.
    pub file: PathBuf,
    /// Names of the variables of the case whose values are secret.
    pub secrets: Vec<String>,
    /// JSON pointers to parts of request bodies that are not compared.
    pub ignored: Vec<String>,
}

/// The reply to a [`BeginTrial`].
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct BegunTrial {
    /// Why the trial cannot run.
    pub problem: Option<String>,
}

/// The trial has ended. The server replies with an [`EndedCalls`].
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct EndTrial {
    /// Whether its agent was called and its answer graded.
    pub is_complete: bool,
}

/// The reply to an [`EndTrial`].
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct EndedCalls {
    /// The first call that is not in the recording, and the difference to the recorded one.
    pub difference: Option<String>,
    /// Anything else that is worth a note: calls that were not made, or why there is no recording.
    pub note: Option<String>,
}

/// A trial whose calls are recorded or replayed. Without its end, as if its process had died, nothing is recorded.
#[derive(Debug)]
pub(crate) struct TrialCalls(BufReader<TcpStream>);

impl ModelCallServer {
    /// Waits until no other trial runs, and begins one. The inner error is why it cannot run.
    pub(crate) fn begin(self, trial: &BeginTrial) -> io::Result<Result<TrialCalls, String>> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        let mut calls = TrialCalls(BufReader::new(stream));
        let begun: BegunTrial = calls.ask(trial)?;
        Ok(match begun.problem {
            Some(problem) => Err(problem),
            None => Ok(calls),
        })
    }
}

impl TrialCalls {
    /// Ends the trial.
    pub(crate) fn end(mut self, is_complete: bool) -> io::Result<EndedCalls> {
        self.ask(&EndTrial { is_complete })
    }

    fn ask<T: FromJson>(&mut self, message: &dyn ToJson) -> io::Result<T> {
        let line = evalsuite_schema::json::to_string(message)? + "\n";
        self.0.get_mut().write_all(line.as_bytes())?;
        let mut reply = String::new();
        if self.0.read_line(&mut reply)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(evalsuite_schema::json::from_str(&reply)?)
    }
}

impl fmt::Display for ModelCallServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.calls {
            ModelCalls::Replayed => "replay",
            _ => "record",
        };
        write!(f, "{word} {}", self.address)
    }
}

impl FromStr for ModelCallServer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (word, address) = text.split_once(' ').ok_or(())?;
        let calls = match word {
            "record" => ModelCalls::Recorded,
            "replay" => ModelCalls::Replayed,
            _ => return Err(()),
        };
        Ok(Self { calls, address: address.parse().map_err(|_| ())? })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn the_variable_is_read_as_it_is_written() {
        for text in ["record 127.0.0.1:4000", "replay [::1]:4000"] {
            assert_eq!(text.parse::<ModelCallServer>().unwrap().to_string(), text);
        }
        for wrong in ["", "record", "127.0.0.1:1", "play 127.0.0.1:1", "record localhost:1"] {
            assert_eq!(wrong.parse::<ModelCallServer>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn a_trial_begins_and_ends_on_one_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let mut replies = ["{\"problem\":null}\n", "{\"difference\":\"call 1\",\"note\":null}\n"].into_iter();
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let mut lines = Vec::new();
            for reply in &mut replies {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                stream.get_mut().write_all(reply.as_bytes()).unwrap();
                lines.push(line);
            }
            lines
        });
        let trial = BeginTrial { case_id: "refund".into(), ..BeginTrial::default() };
        let calls = ModelCallServer { calls: ModelCalls::Replayed, address }.begin(&trial).unwrap().unwrap();
        assert_eq!(calls.end(true).unwrap().difference.as_deref(), Some("call 1"));
        let lines = server.join().unwrap();
        assert_eq!(serde_json::from_str::<BeginTrial>(&lines[0]).unwrap(), trial);
        assert!(serde_json::from_str::<EndTrial>(&lines[1]).unwrap().is_complete);
    }
}
