//! Which trial runs: the calls of one process do not say which of its trials makes them, so one trial runs at a time.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use evalsuite::tooling::{BeginTrial, BegunTrial, EndTrial, EndedCalls};
use evalsuite_records::record::ModelCalls;
use evalsuite_schema::json::FromJson;
use serde::Serialize;

use super::recorded_calls::KnownSecrets;
use super::recorded_trial::{RecordedTrial, lock};
use super::replayed_trial::ReplayedTrial;
use crate::platform::output::say;

/// The trial whose turn it is.
#[derive(Debug, Clone)]
pub(super) enum RunningTrial {
    Recorded(Arc<RecordedTrial>),
    Replayed(Arc<ReplayedTrial>),
}

/// The turns of all trials of a run.
#[derive(Debug)]
pub(super) struct TrialTurns {
    pub(super) calls: ModelCalls,
    base_paths: BTreeMap<String, String>,
    secrets: KnownSecrets,
    running: Mutex<Option<RunningTrial>>,
    ended: Condvar,
    results: Mutex<TurnResults>,
}

/// What became of the trials.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnResults {
    /// Number of trials that were recorded or replayed.
    pub(super) trials: usize,
    /// Number of their calls.
    pub(super) calls: usize,
    /// Trials with a problem, and the problem.
    pub(super) problems: Vec<(String, String)>,
}

impl TrialTurns {
    pub(super) fn new(calls: ModelCalls, base_paths: BTreeMap<String, String>, secrets: KnownSecrets) -> Self {
        let (running, ended, results) = (Mutex::default(), Condvar::new(), Mutex::default());
        Self { calls, base_paths, secrets, running, ended, results }
    }

    /// Listens to test programs until the process ends.
    pub(super) fn listen(self: Arc<Self>) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        thread::Builder::new().name("trials".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                let turns = Arc::clone(&self);
                let serve = move || {
                    // A test program that has died needs no reply.
                    let _ = turns.take_turn(stream);
                };
                if let Err(error) = thread::Builder::new().spawn(serve) {
                    say!("error: no thread for a trial: {error}");
                }
            }
        })?;
        Ok(address)
    }

    pub(super) fn current(&self) -> Option<RunningTrial> {
        lock(&self.running).clone()
    }

    pub(super) fn results(&self) -> TurnResults {
        lock(&self.results).clone()
    }

    /// The turn of one trial, from its beginning to its end or to the death of its process.
    fn take_turn(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut connection = BufReader::new(stream);
        let Some(begin) = read::<BeginTrial>(&mut connection)? else { return Ok(()) };
        let label = format!("{}, trial {}", begin.test, begin.trial + 1);
        let trial = match self.calls {
            ModelCalls::Replayed => match ReplayedTrial::open(&begin, self.secrets.clone()) {
                Ok(trial) => RunningTrial::Replayed(Arc::new(trial)),
                Err(problem) => {
                    self.add_problem(&label, &problem);
                    return write(&mut connection, &BegunTrial { problem: Some(problem) });
                }
            },
            _ => RunningTrial::Recorded(Arc::new(RecordedTrial::new(
                begin,
                self.base_paths.clone(),
                self.secrets.clone(),
            ))),
        };
        let turn = self.wait_for_turn(trial.clone());
        write(&mut connection, &BegunTrial::default())?;
        let ended = read::<EndTrial>(&mut connection);
        // The next trial must not begin before the calls of this one are written.
        let reply = ended.map(|end| end.map(|end| self.end(&trial, &label, end.is_complete)));
        drop(turn);
        match reply? {
            Some(reply) => write(&mut connection, &reply),
            None => Ok(()),
        }
    }

    fn wait_for_turn(&self, trial: RunningTrial) -> Turn<'_> {
        let running = lock(&self.running);
        let mut running =
            self.ended.wait_while(running, |running| running.is_some()).unwrap_or_else(PoisonError::into_inner);
        *running = Some(trial);
        Turn(self)
    }

    fn end(&self, trial: &RunningTrial, label: &str, is_complete: bool) -> EndedCalls {
        let (calls, ended) = match trial {
            RunningTrial::Replayed(trial) => (trial.count(), trial.end()),
            RunningTrial::Recorded(trial) => match trial.end(is_complete) {
                Ok(calls) => (calls, EndedCalls::default()),
                Err(reason) => {
                    let note = format!("the model calls were not recorded: {reason}");
                    self.add_problem(label, &note);
                    return EndedCalls { note: Some(note), difference: None };
                }
            },
        };
        for problem in ended.difference.iter().chain(&ended.note) {
            self.add_problem(label, problem);
        }
        let mut results = lock(&self.results);
        results.trials += 1;
        results.calls += calls;
        ended
    }

    fn add_problem(&self, label: &str, problem: &str) {
        lock(&self.results).problems.push((label.to_owned(), problem.to_owned()));
    }
}

/// The turn of a trial, until it is dropped.
struct Turn<'t>(&'t TrialTurns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.running) = None;
        self.0.ended.notify_one();
    }
}

/// The next message of a test program; `None` if it has closed the connection.
fn read<T: FromJson>(connection: &mut BufReader<TcpStream>) -> io::Result<Option<T>> {
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(evalsuite_schema::json::from_str(&line)?))
}

fn write(connection: &mut BufReader<TcpStream>, reply: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    connection.get_mut().write_all(&line)
}
