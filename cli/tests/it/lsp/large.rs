//! Suites of many cases.

use std::fs;

use evalsuite_schema::json::json;

use super::client::Client;
use crate::package::Package;

fn files_read(client: &mut Client) -> Vec<String> {
    client.synchronize();
    let message = |trace: evalsuite_schema::Value| trace["params"]["message"].as_str().expect("a text").to_owned();
    client.take("$/logTrace").into_iter().map(message).collect()
}

#[test]
fn after_a_change_only_the_changed_file_is_read() {
    const CASES: usize = 300;
    let package = Package::new(&[("suites/big/EVAL.yaml", "name: big\n")]);
    for number in 0..CASES {
        let next = (number + 1) % CASES;
        let depends = if next == 0 { String::new() } else { format!("depends_on: [case-{next}]\n") };
        let text = format!("id: case-{number}\ninput: Hi\n{depends}assertions: [{{ type: contains, value: x }}]\n");
        package.write(&format!("suites/big/cases/{number}/case.yaml"), &text);
    }
    let mut client = Client::open(package.root(), json!({}));
    assert_eq!(files_read(&mut client), [format!("checked 1 suite, {} files read", CASES + 1)]);
    let path = "suites/big/cases/7/case.yaml";
    let saved = fs::read_to_string(package.root().join(path)).expect("the case");
    client.open_file(path, &saved);
    assert_eq!(files_read(&mut client), Vec::<String>::new(), "the text of the disk is known");
    client.change(path, 2, &saved.replace("contains", "contans"));
    client.change(path, 3, &saved.replace("id: case-7", "id: case-x"));
    let found = client.diagnostics();
    let dependent = "suites/big/cases/6/case.yaml";
    assert!(found.iter().any(|(file, lines)| file == dependent && lines[0].contains("`case-7`")), "{found:?}");
    let read = files_read(&mut client);
    assert!(!read.is_empty() && read.iter().all(|line| line == "checked 1 suite, 1 file read"), "{read:?}");
    client.change(path, 4, &saved);
    assert_eq!(client.diagnostics(), [(dependent.to_owned(), Vec::new())]);
    client.open_file("suites/big/EVAL.yaml", "name: bigger\n");
    let last = files_read(&mut client).pop();
    assert_eq!(last, Some(format!("checked 1 suite, {} files read", CASES + 1)), "all cases depend on it");
    client.shut_down();
}
