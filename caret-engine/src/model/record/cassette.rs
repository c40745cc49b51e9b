//! One exchange as a line of a cassette.

use crate::model::price::Price;
use crate::model::{Chunk, Model, ModelError};
use caret_protocol::content::Reply;
use caret_protocol::event::DeltaKind;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::time::Duration;

/// The version that is written and understood.
pub(super) const VERSION: u64 = 1;

/// Why a cassette cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CassetteError(pub(super) String);

/// One exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exchange {
    pub(super) version: u64,
    pub(super) model: Recorded,
    pub(super) hash: String,
    pub(super) request: String,
    pub(super) reply: Vec<Piece>,
}

/// The model that answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recorded {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) price: Option<Price>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) context_window: Option<u64>,
}

impl Recorded {
    pub(super) fn of(model: &dyn Model) -> Self {
        Self {
            id: model.id().into(),
            name: model.name().into(),
            price: model.price(),
            context_window: model.context_window(),
        }
    }
}

/// A chunk, or how the reply failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Piece {
    Text(String),
    Thinking(String),
    Done(Reply),
    Busy {
        #[serde(rename = "retryAfterMs", default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        message: String,
    },
    Broken(String),
    Refused(String),
    TooLong(String),
    Unauthorized(String),
    Store(String),
}

impl From<&Result<Chunk, ModelError>> for Piece {
    fn from(chunk: &Result<Chunk, ModelError>) -> Self {
        match chunk {
            Ok(Chunk::Delta(DeltaKind::Text, text)) => Self::Text(text.clone()),
            Ok(Chunk::Delta(DeltaKind::Thinking, text)) => Self::Thinking(text.clone()),
            Ok(Chunk::Done(reply)) => Self::Done(reply.clone()),
            Err(ModelError::Busy { retry_after, message }) => Self::Busy {
                retry_after_ms: retry_after.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
                message: message.clone(),
            },
            Err(ModelError::Broken(why)) => Self::Broken(why.clone()),
            Err(ModelError::Refused(why)) => Self::Refused(why.clone()),
            Err(ModelError::TooLong(model)) => Self::TooLong(model.clone()),
            Err(ModelError::Unauthorized(why)) => Self::Unauthorized(why.clone()),
            Err(ModelError::Store(why)) => Self::Store(why.clone()),
        }
    }
}

impl From<Piece> for Result<Chunk, ModelError> {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Text(text) => Ok(Chunk::Delta(DeltaKind::Text, text)),
            Piece::Thinking(text) => Ok(Chunk::Delta(DeltaKind::Thinking, text)),
            Piece::Done(reply) => Ok(Chunk::Done(reply)),
            Piece::Busy { retry_after_ms, message } => {
                Err(ModelError::Busy { retry_after: retry_after_ms.map(Duration::from_millis), message })
            }
            Piece::Broken(why) => Err(ModelError::Broken(why)),
            Piece::Refused(why) => Err(ModelError::Refused(why)),
            Piece::TooLong(model) => Err(ModelError::TooLong(model)),
            Piece::Unauthorized(why) => Err(ModelError::Unauthorized(why)),
            Piece::Store(why) => Err(ModelError::Store(why)),
        }
    }
}

/// By which a request is found again.
pub(super) fn hash(request: &str) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(request.as_bytes()).iter().take(16) {
        // Writing into a String cannot go wrong.
        write!(text, "{byte:02x}").ok();
    }
    text
}
