//! A model behind an OpenAI-compatible endpoint on the loopback interface. It works by rules and streams word by word.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

/// Starts the endpoint and returns its URL.
pub(crate) fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that has gone away does not need the rest.
            thread::spawn(move || reply(stream));
        }
    });
    Ok(url)
}

fn reply(mut stream: TcpStream) -> Result<()> {
    let request = read_request(&stream)?;
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let last = messages.last().cloned().unwrap_or_default();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    if last["role"] == "tool" {
        let order: Value = serde_json::from_str(last["content"].as_str().unwrap_or_default())?;
        let Some(item) = order["item"].as_str() else {
            return say(&mut stream, &format!("I am sorry, {}.", order["error"].as_str().unwrap_or_default()));
        };
        let (place, arrives) =
            (order["place"].as_str().unwrap_or_default(), order["arrives"].as_str().unwrap_or_default());
        let place = format!("Your {item} is in {place}.");
        if messages.iter().any(|message| message["content"].to_string().contains("everything")) {
            stream_words(&mut stream, &place)?;
            // Waits until the client closes the connection.
            return stream.read(&mut [0]).map(drop);
        }
        return say(&mut stream, &format!("{place} It arrives {arrives}."));
    }
    let question = last["content"].as_str().unwrap_or_default();
    let number = question.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty());
    let Some(number) = number else { return say(&mut stream, "What is the number of your order?") };
    // The name first, then the arguments in two pieces.
    let pieces = [
        json!({ "index": 0, "id": "call-1", "type": "function", "function": { "name": "find_order", "arguments": "" } }),
        json!({ "index": 0, "function": { "arguments": "{\"id\": " } }),
        json!({ "index": 0, "function": { "arguments": format!("{number}}}") } }),
    ];
    for piece in pieces {
        send(&mut stream, &json!({ "choices": [{ "delta": { "tool_calls": [piece] } }] }))?;
    }
    end(&mut stream)
}

fn say(stream: &mut TcpStream, text: &str) -> Result<()> {
    stream_words(stream, text)?;
    end(stream)
}

fn stream_words(stream: &mut TcpStream, text: &str) -> Result<()> {
    text.split_inclusive(' ')
        .try_for_each(|word| send(stream, &json!({ "choices": [{ "delta": { "content": word } }] })))
}

fn end(stream: &mut TcpStream) -> Result<()> {
    send(stream, &json!({ "choices": [], "usage": { "prompt_tokens": 50, "completion_tokens": 10 } }))?;
    stream.write_all(b"data: [DONE]\n\n")
}

fn send(stream: &mut TcpStream, chunk: &Value) -> Result<()> {
    write!(stream, "data: {chunk}\n\n")
}

fn read_request(stream: &TcpStream) -> Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
