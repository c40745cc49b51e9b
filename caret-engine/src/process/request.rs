//! What the program and its supervisors say to each other: one length-prefixed JSON object at a time.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// The longest message that is believed.
const LONGEST: usize = 16 << 20;

/// What to run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) environment: Vec<(String, String)>,
}

/// What became of it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Report {
    /// It runs, as this process group.
    Started(u32),
    /// It could not be started.
    NotStarted(String),
    /// It ended by itself; `left` says whether descendants of it still run.
    Exited { code: i32, left: bool },
    /// A signal ended it.
    Signalled { signal: i32, left: bool },
}

/// A message as bytes.
pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let mut bytes = Vec::with_capacity(body.len() + 4);
    bytes.extend_from_slice(&(u32::try_from(body.len()).map_err(io::Error::other)?).to_le_bytes());
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

/// Takes the first whole message off `bytes`, if there is one.
pub(super) fn decode<T: DeserializeOwned>(bytes: &mut Vec<u8>) -> io::Result<Option<T>> {
    let Some((prefix, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*prefix) as usize;
    if length > LONGEST {
        return Err(io::Error::other("a message that is too long"));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let message = serde_json::from_slice(body)?;
    bytes.drain(..length + 4);
    Ok(Some(message))
}

/// Waits for one message.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut prefix = [0; 4];
    from.read_exact(&mut prefix)?;
    let length = u32::from_le_bytes(prefix) as usize;
    if length > LONGEST {
        return Err(io::Error::other("a message that is too long"));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// Sends one message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&encode(message)?)
}
