//! A guess of the tokens when a server does not count them, marked as a guess.
//!
//! Four bytes are about one token of code or English. The guess is for people and limits; nothing else relies
//! on it.

use caret_protocol::content::{Block, Reply, Usage};

const BYTES_PER_TOKEN: u64 = 4;

/// The reply with a usage: the server's own, or a guess from the bytes of the request and of the reply.
pub(super) fn counted(mut reply: Reply, request_bytes: u64) -> Reply {
    if reply.usage.total() == 0 {
        let written: u64 = reply.blocks.iter().map(bytes).sum();
        reply.usage = Usage {
            input: request_bytes.div_ceil(BYTES_PER_TOKEN),
            output: written.div_ceil(BYTES_PER_TOKEN),
            estimated: true,
            ..Usage::default()
        };
    }
    reply
}

fn bytes(block: &Block) -> u64 {
    let length = match block {
        Block::Text { text } | Block::Thinking { text, .. } => text.len(),
        Block::Call { call } => {
            let arguments = call.malformed.as_ref().map_or_else(|| call.input.to_string().len(), String::len);
            call.name.len() + arguments
        }
        // Mostly what is in the other blocks already, in the words of its maker.
        _ => 0,
    };
    length as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use caret_protocol::content::ToolCall;
    use serde_json::json;

    #[test]
    fn tokens_are_guessed_only_when_nobody_counted_them() {
        let call = ToolCall::new("c", "Read", json!({"path": "a"}));
        let blocks = vec![Block::Text { text: "héllo".into() }, Block::Call { call }];
        let reply = Reply { blocks, ..Reply::default() };
        let guess = Usage { input: 26, output: 6, estimated: true, ..Usage::default() };
        assert_eq!(counted(reply.clone(), 101).usage, guess);
        let told = Usage { output: 1, ..Usage::default() };
        assert_eq!(counted(Reply { usage: told, ..reply }, 101).usage, told);
    }
}
