//! An HTTP/1.1 server with persistent connections, a thread for each.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::Value;

pub struct Request {
    /// Method and path, such as `POST /v1/chat/completions`.
    pub route: String,
    /// The lines of the headers.
    pub headers: String,
    /// The body, or null where it is not JSON.
    pub body: Value,
}

pub enum Response {
    /// A status without a body.
    Status(&'static str),
    Json(Value),
    /// Chunks of a body, each sent at once. A body that stalls ends when the client closes the connection.
    Stream {
        content_type: &'static str,
        chunks: Vec<String>,
        stalls: bool,
    },
}

/// Starts a server and returns its address, such as `http://127.0.0.1:40123`.
pub fn serve(answer: fn(&Request) -> Response) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                // A client that has gone away does not need the rest.
                let _ = answer_all(stream, answer);
            });
        }
    });
    Ok(format!("http://{address}"))
}

/// Answers the requests of a connection until the client closes it.
fn answer_all(stream: TcpStream, answer: fn(&Request) -> Response) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader)? {
        write(reader.get_mut(), answer(&request))?;
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let route = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let (mut length, mut headers) = (0, String::new());
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let header = line.trim().to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if header.is_empty() {
            break;
        }
        headers.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { route, headers, body: serde_json::from_slice(&body).unwrap_or_default() }))
}

fn write(stream: &mut TcpStream, response: Response) -> io::Result<()> {
    match response {
        Response::Status(status) => write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"),
        Response::Json(body) => {
            let body = body.to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
            write!(stream, "{head}\r\n\r\n{body}")
        }
        Response::Stream { content_type, chunks, stalls } => {
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n")?;
            for chunk in chunks {
                write!(stream, "{:x}\r\n{chunk}\r\n", chunk.len())?;
            }
            if stalls {
                return stream.read(&mut [0]).and(Err(io::ErrorKind::ConnectionAborted.into()));
            }
            write!(stream, "0\r\n\r\n")
        }
    }
}
