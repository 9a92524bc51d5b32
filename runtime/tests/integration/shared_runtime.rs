//! Agents run on one runtime of the process, so that what they share between calls outlives a call.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use deadpool::managed::{Manager, Metrics, Pool, RecycleResult};
use evalsuite::record::GraderState;
use evalsuite::{Evals, Evidence, JudgeError, JudgeRequest, Report, RunOptions, Status, ToolCall, Trial};
use evalsuite_schema::json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::common::{case_json, contains, grader, only, run, run_with, suite};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Connections that the server below has accepted.
static ACCEPTED: AtomicUsize = AtomicUsize::new(0);

/// An HTTP/1.1 server with keep-alive that answers every request with `hello`.
static SERVER: LazyLock<SocketAddr> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            ACCEPTED.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || answer_all(connection));
        }
    });
    address
});

fn answer_all(mut connection: TcpStream) {
    let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
    while let Some(Ok(line)) = lines.next() {
        if line.is_empty() && connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").is_err() {
            return;
        }
    }
}

static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(reqwest::Client::new);

async fn fetch() -> Result<String, reqwest::Error> {
    CLIENT.get(format!("http://{}/", *SERVER)).send().await?.text().await
}

fn cases(count: usize) -> Vec<evalsuite_schema::Value> {
    (0..count).map(|number| case_json(&format!("case-{number}"), json!([contains("hello")]), json!({}))).collect()
}

/// What did not pass, with its reason.
fn troubles(report: &Report) -> Vec<String> {
    let failed = report.cases().iter().filter(|case| case.status() != Status::Passed);
    failed.map(|case| format!("{}: {:?}", case.case().id, case.record().reason)).collect()
}

fn run_at_once(evals: &Evals, threads: usize) -> Report {
    let directory = tempfile::tempdir().unwrap();
    run_with(evals, directory.path(), RunOptions::new().with_concurrency(threads.try_into().unwrap()))
}

#[test]
fn a_client_with_keep_alive_can_be_shared_by_all_trials() {
    let directory = tempfile::tempdir().unwrap();
    let agent = async |_: &mut Trial<'_>| fetch().await;
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases(200))).with_agent(agent);
    for _ in 0..10 {
        assert_eq!(troubles(&run_at_once(&evals, 8)), [] as [String; 0]);
    }
    let accepted = ACCEPTED.load(Ordering::SeqCst);
    assert!(accepted < 200, "{accepted} connections for 2,000 calls: they are not kept");
}

/// Connections of a pool, each of which reads in the background as database clients do.
struct Lines;

struct Connection {
    requests: tokio::sync::mpsc::Sender<tokio::sync::oneshot::Sender<String>>,
}

impl Manager for Lines {
    type Type = Connection;
    type Error = std::io::Error;

    async fn create(&self) -> std::io::Result<Connection> {
        let stream = tokio::net::TcpStream::connect(*SERVER).await?;
        let (requests, mut waiting) = tokio::sync::mpsc::channel::<tokio::sync::oneshot::Sender<String>>(1);
        tokio::spawn(async move {
            let mut stream = tokio::io::BufReader::new(stream);
            while let Some(reply) = waiting.recv().await {
                let mut line = String::new();
                let sent = stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
                while sent.is_ok() && !line.ends_with("\r\n\r\n") && stream.read_line(&mut line).await.is_ok() {}
                let mut body = [0; 5];
                if tokio::io::AsyncReadExt::read_exact(&mut stream, &mut body).await.is_ok() {
                    let _ = reply.send(String::from_utf8_lossy(&body).into_owned());
                }
            }
        });
        Ok(Connection { requests })
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<std::io::Error> {
        match connection.requests.is_closed() {
            true => Err(std::io::Error::other("the connection is gone").into()),
            false => Ok(()),
        }
    }
}

#[test]
fn a_pool_of_connections_can_be_shared_by_all_trials() {
    static POOL: LazyLock<Pool<Lines>> = LazyLock::new(|| Pool::builder(Lines).max_size(3).build().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let agent = async |_: &mut Trial<'_>| -> Result<String, BoxError> {
        let connection = POOL.get().await.map_err(|error| error.to_string())?;
        let (reply, answer) = tokio::sync::oneshot::channel();
        connection.requests.send(reply).await?;
        Ok(answer.await?)
    };
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases(60))).with_agent(agent);
    for _ in 0..3 {
        assert_eq!(troubles(&run_at_once(&evals, 8)), [] as [String; 0]);
    }
    assert!(POOL.status().size <= 3);
}

#[test]
fn everything_that_tokio_can_spawn_can_be_spawned() {
    let directory = tempfile::tempdir().unwrap();
    let agent = async |_: &mut Trial<'_>| -> Result<String, BoxError> {
        // Not `Send`, as the futures of agents need not be.
        let text = std::rc::Rc::new(String::from("hel"));
        let local = tokio::task::spawn_local({
            let text = text.clone();
            async move {
                tokio::task::yield_now().await;
                text.len()
            }
        });
        assert_eq!(tokio::task::block_in_place(|| 1 + 1), 2);
        let nested = tokio::spawn(async {
            let inner = tokio::spawn(async { tokio::task::block_in_place(|| "l") });
            let fetched = tokio::spawn(fetch()).await;
            (inner.await, fetched)
        });
        let blocking = tokio::task::spawn_blocking(|| "o").await?;
        let (inner, fetched) = nested.await?;
        assert_eq!(fetched??, "hello");
        assert_eq!(local.await?, 3);
        tokio::time::timeout(Duration::from_secs(5), tokio::task::yield_now()).await?;
        Ok(format!("{text}{}{blocking}", inner?))
    };
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases(16))).with_agent(agent);
    assert_eq!(troubles(&run_at_once(&evals, 8)), [] as [String; 0]);
}

#[test]
fn an_agent_may_have_a_runtime_of_its_own() {
    static OWN: LazyLock<tokio::runtime::Runtime> =
        LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    static OWN_CLIENT: LazyLock<reqwest::Client> = LazyLock::new(reqwest::Client::new);
    async fn fetch_there() -> Result<String, reqwest::Error> {
        OWN_CLIENT.get(format!("http://{}/", *SERVER)).send().await?.text().await
    }
    let directory = tempfile::tempdir().unwrap();
    let suite = suite("cases", "mixed", directory.path(), &cases(16));
    let spawning = async |_: &mut Trial<'_>| -> Result<String, BoxError> { Ok(OWN.spawn(fetch_there()).await??) };
    let blocking = |_: &mut Trial<'_>| -> Result<String, BoxError> { Ok(OWN.block_on(fetch_there())?) };
    assert_eq!(troubles(&run_at_once(&Evals::new(suite).with_agent(spawning), 8)), [] as [String; 0]);
    assert_eq!(troubles(&run_at_once(&Evals::new(suite).with_agent(blocking), 8)), [] as [String; 0]);
}

#[test]
fn graders_and_judges_share_the_clients_of_the_agent() {
    let directory = tempfile::tempdir().unwrap();
    let graders = json!([
        grader("fetched", 3, json!({"custom": {"type": "fetched", "config": {}}})),
        grader("judged", 4, json!({"llm-grader": {"prompt": "is it {{ answer }}?"}})),
    ]);
    let cases: Vec<_> = (0..40).map(|number| case_json(&format!("c{number}"), graders.clone(), json!({}))).collect();
    let judge = async |_: JudgeRequest| match fetch().await {
        Ok(_) => Ok(json!({"score": 1.0, "assertions": []}).to_string()),
        Err(error) => Err(JudgeError::permanent(error.to_string())),
    };
    let grade = async |evidence: &Evidence<'_>| fetch().await.is_ok_and(|text| text == evidence.answer());
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases))
        .with_agent(async |_: &mut Trial<'_>| fetch().await)
        .with_grader("fetched", grade)
        .with_judge(judge);
    assert_eq!(troubles(&run_at_once(&evals, 8)), [] as [String; 0]);
}

#[test]
fn local_tasks_end_with_the_call() {
    static ENDED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    struct Left(&'static str);
    impl Drop for Left {
        fn drop(&mut self) {
            ENDED.lock().unwrap().push(self.0);
        }
    }
    async fn forever(left: Left) {
        let _left = left;
        std::future::pending::<()>().await;
    }
    let directory = tempfile::tempdir().unwrap();
    let agent = async |_: &mut Trial<'_>| {
        tokio::task::spawn_local(forever(Left("local")));
        tokio::task::yield_now().await;
        Ok::<_, BoxError>("hello")
    };
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases(1))).with_agent(agent);
    assert_eq!(only(&run(&evals, directory.path())).status(), Status::Passed);
    assert_eq!(*ENDED.lock().unwrap(), ["local"]);
}

#[test]
fn an_agent_that_exceeds_its_limit_can_clean_up_with_a_task() {
    struct Session(std::sync::mpsc::Sender<()>);
    impl Drop for Session {
        fn drop(&mut self) {
            let closed = self.0.clone();
            tokio::spawn(async move { closed.send(()) });
        }
    }
    let (closed, receiver) = std::sync::mpsc::channel();
    let directory = tempfile::tempdir().unwrap();
    let agent = async move |_: &mut Trial<'_>| {
        let _session = Session(closed.clone());
        std::future::pending::<Result<String, BoxError>>().await
    };
    let case = case_json("c", json!([contains("x")]), json!({"timeout_seconds": 0.1}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(agent);
    assert_eq!(only(&run(&evals, directory.path())).status(), Status::Error);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(()));
}

/// Tests share a runtime, and other tests of this program run beside this one, so the agent has a runtime of its own.
#[test]
fn tasks_that_an_agent_leaves_running_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let suite = suite("cases", "mixed", directory.path(), &cases(1));
    let own = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let agent = async |_: &mut Trial<'_>| {
        let forever = (0..2).map(|_| tokio::spawn(std::future::pending::<()>()));
        drop(forever.collect::<Vec<_>>());
        tokio::spawn(std::future::pending::<()>()).abort();
        tokio::spawn(async {}).await?;
        Ok::<_, BoxError>("hello")
    };
    let evals = Evals::new(suite).with_agent(agent).with_runtime(own.handle().clone());
    // Another call at the same time, of a test beside this one, makes the number unknown.
    let give_up = Instant::now() + Duration::from_secs(240);
    let note = std::iter::repeat(()).take_while(|()| Instant::now() < give_up).find_map(|()| {
        let report = run(&evals, directory.path());
        only(&report).trials()[0].notes.iter().find(|note| note.code == "tasks_left_running").cloned()
    });
    assert!(note.is_some_and(|note| note.message.starts_with("2 tasks that the agent spawned were still running")));
}

#[test]
fn a_runtime_of_the_program_can_be_used() {
    static OWN: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("mine").enable_all().build().unwrap()
    });
    let directory = tempfile::tempdir().unwrap();
    let suite = suite("cases", "mixed", directory.path(), &cases(4));
    let agent = async |_: &mut Trial<'_>| -> Result<String, BoxError> {
        let name = tokio::spawn(async { std::thread::current().name().map(str::to_owned) }).await?;
        Ok(if name.as_deref() == Some("mine") { "hello" } else { "elsewhere" }.to_owned())
    };
    let evals = Evals::new(suite).with_agent(agent).with_runtime(OWN.handle().clone());
    assert_eq!(troubles(&run_at_once(&evals, 4)), [] as [String; 0]);
    let single = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let evals = Evals::new(suite).with_agent(agent).with_runtime(single.handle().clone());
    let troubles = troubles(&run_at_once(&evals, 4));
    assert!(troubles.len() == 4 && troubles[0].contains("multi-thread"), "{troubles:?}");
}

#[test]
fn what_is_recorded_after_the_call_is_noted_and_makes_the_calls_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let outlives = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&outlives);
    let agent = move |trial: &mut Trial<'_>| -> Result<&'static str, BoxError> {
        trial.transcript_complete();
        *kept.lock().unwrap() = Some(trial.recorder());
        Ok("done")
    };
    let no_deletion = || json!({"tool-trajectory": {"mode": "any_order", "maximums": [["delete", 0]]}});
    let graders = json!([
        grader("before", 5, no_deletion()),
        grader("late", 6, json!({"user": {"grader": "late"}})),
        grader("after", 7, no_deletion()),
    ]);
    let late = move |_: &Evidence<'_>| {
        outlives.lock().unwrap().as_ref().unwrap().tool_call(ToolCall::new("delete"));
        true
    };
    let evals = || Evals::new(suite("cases", "mixed", directory.path(), &[case_json("c", graders.clone(), json!({}))]));
    let report = run(&evals().with_agent(agent).with_grader("late", late), directory.path());
    let trial = &only(&report).trials()[0];
    let states: Vec<_> = trial.graders.iter().map(|grader| (grader.name.as_str(), grader.state)).collect();
    assert_eq!(
        states,
        [("before", GraderState::Decided), ("late", GraderState::Decided), ("after", GraderState::Error)]
    );
    assert!(trial.graders[2].error.as_ref().unwrap().contains("recorded after the agent's call had ended"));
    assert!(trial.notes.iter().any(|note| note.code == "recorded_too_late"), "{:?}", trial.notes);

    let never = |_: &mut Trial<'_>| -> Result<&'static str, BoxError> { unreachable!("a regrade calls no agent") };
    let again = evals().with_agent(never).with_grader("late", |_: &Evidence<'_>| true);
    let options = RunOptions::new().with_regrade(report.run_id());
    let again = run_with(&again, directory.path(), options);
    let states: Vec<_> = only(&again).trials()[0].graders.iter().map(|grader| grader.state).collect();
    assert_eq!(states, [GraderState::Error, GraderState::Decided, GraderState::Error], "the evidence knows it");
}
