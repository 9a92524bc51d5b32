//! Services that answer requests over HTTP on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Starts a service that answers the text of a request with what `reply` returns; its URL. It ends with the test program.
///
/// # Panics
///
/// If no port is free.
pub fn serve(reply: impl Fn(&str) -> String + Copy + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(&stream, reply));
        }
    });
    url
}

/// Answers the request of a connection.
///
/// # Panics
///
/// If it is not an HTTP request with a length.
pub fn answer(mut stream: &TcpStream, reply: impl Fn(&str) -> String) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).expect("a request") > 0 {}
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:").map(str::to_owned));
    let mut body = vec![0; length.expect("a length").trim().parse().expect("a number")];
    reader.read_exact(&mut body).expect("a body");
    let reply = reply(&String::from_utf8(body).expect("UTF-8"));
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", reply.len());
    // A client that has gone away hears nothing.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(reply.as_bytes()));
}
