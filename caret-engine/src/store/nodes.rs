//! The node blobs of the documented store: what the user said, steps, turns, and the root that lists them.
//!
//! Other programs read and write these too, so fields that are not ours are kept where they are.
//!
//! Invariant: a node is read by field number only; bytes that happen to be 32 long are no reference.

use super::protobuf::{Field, Value, WireError, Writer, fields};
use sha2::{Digest, Sha256};

/// The content address of a blob.
pub(super) type Ref = [u8; 32];

/// The content address of some bytes.
pub(super) fn address(bytes: &[u8]) -> Ref {
    Sha256::digest(bytes).into()
}

/// What the user said.
pub(super) fn user(text: &str, at_ms: u64) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.bytes(1, text.as_bytes()).varint(25, at_ms).varint(26, at_ms);
    writer.finish()
}

/// What a turn did, one thing at a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step<'a> {
    /// Words for the user.
    Said { text: &'a str },
    /// The model's own thoughts.
    Thought { text: &'a str },
    /// A tool call.
    Called { call: &'a str, read: Option<ReadStep<'a>> },
}

/// What a read call did; the only tool whose number is documented.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadStep<'a> {
    pub(super) asked: &'a str,
    pub(super) content: &'a str,
    pub(super) total_lines: u64,
    pub(super) file_size: u64,
    pub(super) path: &'a str,
    pub(super) lines: (u64, u64),
}

/// When something began and ended, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) start_ms: u64,
    pub(super) end_ms: u64,
}

/// A step as a node.
pub(super) fn step(step: &Step<'_>, span: Span) -> Vec<u8> {
    let mut writer = Writer::default();
    match step {
        Step::Said { text } => writer.message(1, |inner| {
            inner.bytes(1, text.as_bytes()).varint(2, span.start_ms).varint(3, span.end_ms);
        }),
        Step::Thought { text } => writer.message(3, |inner| {
            inner.bytes(1, text.as_bytes()).varint(2, 1).varint(3, span.start_ms).varint(4, span.end_ms);
        }),
        Step::Called { call, read } => writer.message(2, |inner| {
            if let Some(read) = read {
                inner.message(8, |numbered| read_body(numbered, read));
            }
            inner.bytes(57, call.as_bytes()).varint(59, span.start_ms).varint(60, span.end_ms);
        }),
    };
    writer.finish()
}

fn read_body(writer: &mut Writer, read: &ReadStep<'_>) {
    writer.message(1, |arguments| {
        arguments.bytes(1, read.asked.as_bytes());
    });
    writer.message(2, |result| {
        result.message(1, |success| {
            success.bytes(1, read.content.as_bytes()).varint(4, read.total_lines);
            success.varint(5, read.file_size).bytes(7, read.path.as_bytes());
            success.message(8, |lines| {
                lines.varint(1, read.lines.0).varint(2, read.lines.1);
            });
        });
    });
}

/// One prompt and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Turn {
    /// The user's node.
    pub(super) user: Option<Ref>,
    /// The steps' nodes.
    pub(super) steps: Vec<Ref>,
    /// The turn's id; absent in the old form.
    pub(super) request: Option<String>,
}

impl Turn {
    /// The node, in the new form.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.message(1, |inner| {
            if let Some(user) = &self.user {
                inner.bytes(1, user);
            }
            for step in &self.steps {
                inner.bytes(2, step);
            }
            if let Some(request) = &self.request {
                inner.bytes(3, request.as_bytes());
            }
            inner.varint(5, 1);
        });
        writer.finish()
    }

    /// Reads a node of the new form.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        for field in fields(bytes) {
            let field = field?;
            if field.number == 1
                && let Some(inner) = field.bytes()
            {
                return Self::decode_old(inner);
            }
        }
        Ok(Self::default())
    }

    /// Reads a node of the old form, which is also the inside of the new one.
    pub(super) fn decode_old(bytes: &[u8]) -> Result<Self, WireError> {
        let mut turn = Self::default();
        for field in fields(bytes) {
            let field = field?;
            match field.number {
                1 => turn.user = reference(&field).or(turn.user),
                2 => turn.steps.extend(reference(&field)),
                3 => turn.request = field.text(),
                _ => {}
            }
        }
        Ok(turn)
    }
}

/// The node that lists a chat.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Root {
    /// Field 1: what the model sees.
    pub(super) messages: Vec<Ref>,
    /// Field 2: what people see, in the old form.
    pub(super) old_turns: Vec<Ref>,
    /// Field 8: what people see.
    pub(super) turns: Vec<Ref>,
    /// Field 9.
    pub(super) workspaces: Vec<String>,
    /// Field 22.
    pub(super) client: Option<String>,
    /// Field 26.
    pub(super) created_ms: Option<u64>,
    /// Field 27.
    pub(super) time_zone: Option<String>,
    /// Everything else, encoded, by field number.
    pub(super) others: Vec<(u32, Vec<u8>)>,
}

impl Root {
    /// The node; fields stand in the order of their numbers.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut parts: Vec<(u32, Vec<u8>)> = Vec::new();
        let references = [(1, &self.messages), (2, &self.old_turns), (8, &self.turns)];
        for (number, list) in references {
            let mut writer = Writer::default();
            for reference in list {
                writer.bytes(number, reference);
            }
            parts.push((number, writer.finish()));
        }
        let texts = self.workspaces.iter().map(|text| (9, text));
        let texts = texts.chain(self.client.iter().map(|text| (22, text)));
        for (number, text) in texts.chain(self.time_zone.iter().map(|text| (27, text))) {
            let mut writer = Writer::default();
            writer.bytes(number, text.as_bytes());
            parts.push((number, writer.finish()));
        }
        if let Some(created_ms) = self.created_ms {
            let mut writer = Writer::default();
            writer.varint(26, created_ms);
            parts.push((26, writer.finish()));
        }
        parts.extend(self.others.iter().cloned());
        parts.sort_by_key(|(number, _)| *number);
        parts.into_iter().flat_map(|(_, bytes)| bytes).collect()
    }

    /// Reads a node.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut root = Self::default();
        for field in fields(bytes) {
            let field = field?;
            match (field.number, &field.value) {
                (1, Value::Bytes(_)) => root.messages.extend(reference(&field)),
                (2, Value::Bytes(_)) => root.old_turns.extend(reference(&field)),
                (8, Value::Bytes(_)) => root.turns.extend(reference(&field)),
                (9, Value::Bytes(_)) => root.workspaces.extend(field.text()),
                (22, Value::Bytes(_)) => root.client = field.text(),
                (26, Value::Varint(created)) => root.created_ms = Some(*created),
                (27, Value::Bytes(_)) => root.time_zone = field.text(),
                _ => {
                    let mut writer = Writer::default();
                    writer.field(&field);
                    root.others.push((field.number, writer.finish()));
                }
            }
        }
        Ok(root)
    }
}

fn reference(field: &Field<'_>) -> Option<Ref> {
    field.bytes()?.try_into().ok()
}

/// Lowercase hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The bytes of hexadecimal digits.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()).collect()
}

/// The address that 64 hexadecimal digits name.
pub(super) fn reference_of(text: &str) -> Option<Ref> {
    unhex(text)?.try_into().ok()
}
