//! The suite in a program instead of tests.

use super::outcomes;

/// Runs the suite without an async runtime and prints the outcomes.
const PROGRAM: &str = r#"
fn main() {
    let options = evalsuite::RunOptions::new().with_filter("errs").with_concurrency(2.try_into().expect("not 0"));
    let report = block_on(by_task::evals().run(&options)).expect("the options make sense");
    report.cases().iter().for_each(|case| println!("{} {:?}", case.case().id(), case.status()));
    let report = block_on(by_task::evals().run(&evalsuite::RunOptions::new().with_filter("positive").with_threshold(0.0)));
    println!("success {}", report.expect("the options make sense").is_success());
}

fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}
"#;

#[test]
fn a_program_runs_the_suite_with_its_agent_and_gets_a_report() {
    let package = outcomes("outcomes_program");
    let code = std::fs::read_to_string(package.root().join("tests/evals.rs")).expect("the code of the test");
    package.remove("tests").write("src/main.rs", &format!("{code}{PROGRAM}"));
    let ran = package.cargo(["run", "--quiet"]).run().succeeds("the program decides what failing cases mean");
    assert_eq!(ran.stdout, "agent-errs Error\nsuccess true\n", "{}", ran.transcript());
    assert_eq!(package.records().runs().len(), 2, "each call is a run");
}
