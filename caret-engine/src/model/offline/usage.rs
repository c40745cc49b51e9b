//! Tokens of a request and a reply, estimated as a quarter of their bytes.
//!
//! No tokenizer is right for every model; the estimate is the same on every machine, which is what the
//! offline model promises.

use crate::model::Request;
use caret_protocol::content::{Block, Usage};
use caret_protocol::transcript::Message;
use serde_json::Value;

const BYTES_PER_TOKEN: u64 = 4;

/// What answering `request` with `blocks` would cost.
pub(super) fn usage(request: &Request<'_>, blocks: &[Block]) -> Usage {
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| length(tool.name) + length(tool.description) + json_bytes(&tool.input))
        .sum();
    let front = length(request.system) + tools + request.past.bytes();
    let sizes: Vec<u64> = request.messages.iter().map(message_bytes).collect();
    let all = front + sizes.iter().sum::<u64>();
    // The previous request ended right before the last reply; before the first one there was only the past.
    let replied = request.messages.iter().rposition(|message| matches!(message, Message::Assistant { .. }));
    let cached = match replied {
        Some(at) => front + sizes[..at].iter().sum::<u64>(),
        None if request.turn_number > 0 => front,
        None => 0,
    };
    let cache_read = cached / BYTES_PER_TOKEN;
    Usage {
        input: (all / BYTES_PER_TOKEN).saturating_sub(cache_read),
        output: blocks.iter().map(block_bytes).sum::<u64>().div_ceil(BYTES_PER_TOKEN),
        cache_read,
        cache_write: 0,
        estimated: false,
    }
}

fn message_bytes(message: &Message) -> u64 {
    match message {
        Message::User { content, .. } => content.iter().map(|content| length(content.plain())).sum(),
        Message::Assistant { reply } => reply.blocks.iter().map(block_bytes).sum(),
        Message::Tool { text, .. } | Message::Summary { text } => length(text),
        _ => 0,
    }
}

fn block_bytes(block: &Block) -> u64 {
    match block {
        Block::Text { text } | Block::Thinking { text, .. } => length(text),
        Block::Call { call } => length(&call.name) + json_bytes(&call.input),
        Block::Opaque { raw, .. } => json_bytes(raw),
        _ => 0,
    }
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// How long a value is as JSON, without writing it out.
pub(super) fn json_bytes(value: &Value) -> u64 {
    struct Counter(u64);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).expect("a value is always JSON and the counter takes all");
    counter.0
}
