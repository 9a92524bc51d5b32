//! A model behind an OpenAI-compatible endpoint on the loopback interface. It asks for the clock once, then answers.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

/// Starts an endpoint and returns its URL.
pub(crate) fn serve() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that has gone away does not need the rest.
            let _ = stream.and_then(answer);
        }
    });
    Ok(format!("http://{address}/v1"))
}

fn answer(stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body)?;
    let reply = reply(&request);
    let stream = reader.get_mut();
    if request["stream"] == true {
        let stalls = request["messages"].to_string().contains("Take your time");
        return send_chunks(stream, &reply, stalls);
    }
    let reply = reply.to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{reply}",
        reply.len()
    )
}

/// The reply as server-sent events, word by word. A reply that stalls never gets to its last three words.
fn send_chunks(stream: &mut TcpStream, reply: &Value, stalls: bool) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let choice = &reply["choices"][0];
    let message = &choice["message"];
    let mut send = |delta: Value, reason: Option<&Value>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        write!(stream, "data: {}\n\n", chunk(reply, &json!([choice]), &Value::Null))
    };
    let words: Vec<&str> = message["content"].as_str().unwrap_or_default().split_inclusive(' ').collect();
    if stalls && words.len() > 3 {
        words[..words.len() - 3].iter().try_for_each(|word| send(json!({"content": word}), None))?;
        // Waits until the client closes the connection.
        return stream.read(&mut [0]).map(drop);
    }
    words.iter().try_for_each(|word| send(json!({"content": word}), None))?;
    if let Some(call) = message["tool_calls"].get(0) {
        let mut call = call.clone();
        call["index"] = json!(0);
        send(json!({"tool_calls": [call]}), None)?;
    }
    send(json!({}), Some(&choice["finish_reason"]))?;
    write!(stream, "data: {}\n\ndata: [DONE]\n\n", chunk(reply, &json!([]), &reply["usage"]))
}

fn chunk(reply: &Value, choices: &Value, usage: &Value) -> Value {
    let (id, model) = (&reply["id"], &reply["model"]);
    json!({"id": id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": choices, "usage": usage})
}

fn reply(request: &Value) -> Value {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let result = messages.iter().rev().find(|message| message["role"] == "tool");
    let (message, reason, tokens) = match result {
        Some(result) => {
            let place =
                result["content"].to_string().split(" in ").last().unwrap_or_default().replace(['"', ']', '}'], "");
            (json!({"role": "assistant", "content": format!("It is half past twelve in {place}.")}), "stop", 5)
        }
        None => {
            let asked = messages.last().map(|message| message["content"].to_string()).unwrap_or_default();
            let zone = ["UTC", "Oslo", "Lima"].into_iter().find(|zone| asked.contains(zone));
            let arguments = json!({"zone": zone}).to_string();
            let call =
                json!({"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": arguments}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls", 4)
        }
    };
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "clockwork-1-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": tokens,
            "total_tokens": 10 + tokens,
            "prompt_tokens_details": {"cached_tokens": 3},
        },
    })
}
