//! Writing one message as one line, straight into a buffer.

mod line;
mod text;

use std::io;

use serde::Serialize;

use crate::rpc::{Error, Id};
use line::Line;

/// Writes a request and its line end.
///
/// # Errors
/// `params` does not serialise; the buffer then ends with half a line that the caller must take back.
pub fn write_request(out: &mut Vec<u8>, id: &Id, method: &str, params: &impl Serialize) -> io::Result<()> {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_id(out, id)?;
    out.extend_from_slice(br#","method":"#);
    text::write(out, method);
    out.extend_from_slice(br#","params":"#);
    write_body(out, params)
}

/// Writes a notification and its line end.
///
/// # Errors
/// As [`write_request`].
pub fn write_notification(out: &mut Vec<u8>, method: &str, params: &impl Serialize) -> io::Result<()> {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    text::write(out, method);
    out.extend_from_slice(br#","params":"#);
    write_body(out, params)
}

/// Writes the answer to the request `id` and its line end.
///
/// # Errors
/// As [`write_request`].
pub fn write_answer(out: &mut Vec<u8>, id: &Id, outcome: Result<&impl Serialize, &Error>) -> io::Result<()> {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_id(out, id)?;
    match outcome {
        Ok(result) => {
            out.extend_from_slice(br#","result":"#);
            write_body(out, result)
        }
        Err(error) => {
            out.extend_from_slice(br#","error":"#);
            write_body(out, error)
        }
    }
}

fn write_id(out: &mut Vec<u8>, id: &Id) -> io::Result<()> {
    Ok(id.serialize(&mut Line::new(out))?)
}

/// Writes the last member and closes the object.
fn write_body(out: &mut Vec<u8>, body: &impl Serialize) -> io::Result<()> {
    body.serialize(&mut Line::new(out))?;
    out.extend_from_slice(b"}\n");
    Ok(())
}
