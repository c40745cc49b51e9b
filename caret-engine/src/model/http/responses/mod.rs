//! Responses: OpenAI's newer format, in which everything said is an item.
//!
//! The stateless form: nothing is stored at the server, so reasoning comes back encrypted and is sent again
//! as it was.

mod items;
mod reader;
mod request;

use super::asked::{Asked, PrintedCalls};
use super::{Family, Reader, Target};
use crate::model::{ModelError, Request};
use serde_json::Value;

pub(super) const NAME: &str = "responses";

/// The Responses format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Responses {
    /// Whether calls may come as text.
    pub printed_calls: PrintedCalls,
}

impl Family for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn path(&self, _: &Target) -> String {
        "/responses".into()
    }

    fn body(&self, target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
        request::body(target, request)
    }

    fn reader(&self, target: &Target, request: &Request<'_>) -> Box<dyn Reader> {
        Box::new(reader::ResponsesReader::new(Asked::new(NAME, target, request, self.printed_calls)))
    }
}
