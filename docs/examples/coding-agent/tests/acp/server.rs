//! Model servers on loopback: one that follows the words of the prompt, and one that says what the test tells it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
};

use serde_json::Value;

/// A request as it came: its headers, lower case, and its body.
pub(crate) struct Received {
    pub(crate) headers: String,
    pub(crate) body: Value,
}

/// Starts the server that follows the words of the prompt.
pub(crate) fn scripted() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    thread::spawn(move || accord_coding_agent::server::serve(&listener));
    url
}

/// Starts a server that lets `answer` do what it likes with each connection once its request is read.
pub(crate) fn telling(
    answer: impl Fn(usize, &mut TcpStream) + Send + 'static,
) -> (String, mpsc::Receiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1/", listener.local_addr().expect("an address"));
    let (tell, received) = mpsc::channel();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.expect("a connection");
            let Some(request) = read(&stream) else { continue };
            if tell.send(request).is_err() {
                return;
            }
            answer(number, &mut stream);
        }
    });
    (url, received)
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut headers = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
        headers.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { headers, body: serde_json::from_slice(&body).ok()? })
}

pub(crate) fn status(stream: &mut TcpStream, status: &str, body: &str) {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).expect("the agent reads");
}

/// The head of a stream in chunks, as most servers send it.
pub(crate) fn head(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("the agent reads");
}

pub(crate) fn event(stream: &mut TcpStream, data: &str) {
    let event = format!("data: {data}\n\n");
    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
    stream.write_all(chunk.as_bytes()).expect("the agent reads");
}

pub(crate) fn end(stream: &mut TcpStream) {
    event(stream, "[DONE]");
    stream.write_all(b"0\r\n\r\n").expect("the agent reads");
}
