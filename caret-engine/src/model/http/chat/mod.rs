//! Chat Completions: OpenAI's older format, and the one that nearly every other server speaks too.
//!
//! The relatives agree on the shape and on little else, so the request half is told a dialect and the reader
//! half takes whatever any of them sends.

mod dialect;
mod pieces;
mod reader;
mod request;
mod think;

pub use dialect::{Dialect, OutputCap};

use super::asked::Asked;
use super::{Family, Reader, Target};
use crate::model::{ModelError, Request};
use serde_json::Value;

pub(super) const NAME: &str = "chat";

/// The Chat Completions format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chat {
    /// What is particular to the server.
    pub dialect: Dialect,
}

impl Family for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn path(&self, _: &Target) -> String {
        "/chat/completions".into()
    }

    fn body(&self, target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
        request::body(&self.dialect, target, request)
    }

    fn reader(&self, target: &Target, request: &Request<'_>) -> Box<dyn Reader> {
        let asked = Asked::new(NAME, target, request, self.dialect.printed_calls);
        Box::new(reader::ChatReader::new(asked, self.dialect.returns_reasoning))
    }
}
