//! A model behind the API that `rig` speaks to, on this machine: it asks for the clock once, then answers.

use std::{io, thread};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// Starts a server of its own and gives its address.
pub(crate) fn serve() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that goes away is no defect of the model.
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
    let reply = reply(&serde_json::from_slice(&body)?).to_string();
    write!(
        reader.get_mut(),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{reply}",
        reply.len()
    )
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
