//! Messages: Anthropic's format, and that of some local servers.
//!
//! Caching is asked for with marks in the body; see `cache`.

mod blocks;
mod cache;
mod reader;
mod request;

#[cfg(test)]
pub(super) use cache::without_marks;

use super::asked::{Asked, PrintedCalls};
use super::{Family, Reader, Target};
use crate::model::{ModelError, Request};
use serde_json::Value;

pub(super) const NAME: &str = "messages";

/// The Messages format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Messages {
    /// Whether calls may come as text.
    pub printed_calls: PrintedCalls,
}

impl Family for Messages {
    fn name(&self) -> &'static str {
        NAME
    }

    fn path(&self, _: &Target) -> String {
        "/v1/messages".into()
    }

    fn body(&self, target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
        request::body(target, request)
    }

    fn reader(&self, target: &Target, request: &Request<'_>) -> Box<dyn Reader> {
        Box::new(reader::MessagesReader::new(Asked::new(NAME, target, request, self.printed_calls)))
    }
}
