//! Gemini: Google's format, in which a conversation is contents of parts.
//!
//! A part may carry a signature that must come back on the same part. It is kept as a block of its own right
//! before the block of that part.

mod reader;
mod request;

use super::asked::{Asked, PrintedCalls};
use super::{Family, Reader, Target};
use crate::model::{ModelError, Request};
use serde_json::{Value, json};

pub(super) const NAME: &str = "gemini";

/// The Gemini format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gemini;

impl Family for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn path(&self, target: &Target) -> String {
        let model = target.model.strip_prefix("models/").unwrap_or(&target.model);
        format!("/models/{model}:streamGenerateContent?alt=sse")
    }

    fn body(&self, target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
        request::body(target, request)
    }

    fn reader(&self, target: &Target, request: &Request<'_>) -> Box<dyn Reader> {
        Box::new(reader::GeminiReader::new(Asked::new(NAME, target, request, PrintedCalls::Ignored)))
    }
}

/// A signature that belongs on the part of the next block.
fn signature_of_next(signature: &str) -> Value {
    json!({"on": "next", "thoughtSignature": signature})
}

/// The signature, if the block is one for the next block.
fn is_signature_of_next(raw: &Value) -> Option<&Value> {
    raw.get("thoughtSignature").filter(|_| raw["on"] == "next")
}
