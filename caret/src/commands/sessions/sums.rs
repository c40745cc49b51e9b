//! What chats used and cost, added up over their turns.
//!
//! A cost that is not known is said to be unknown; it never counts as nothing.

use caret_engine::model::price::rounded;
use caret_protocol::content::Usage;
use caret_protocol::event::{Event, Stamped};
use serde_json::{Value, json};

/// A sum over chats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    chats: u64,
    turns: u64,
    usage: Usage,
    cost: f64,
    /// Turns whose cost is known.
    priced: u64,
}

impl Sum {
    /// Adds one chat.
    pub fn add(&mut self, events: &[Stamped]) {
        self.chats += 1;
        for event in events.iter().filter(|event| event.under.is_none()) {
            if let Event::TurnEnded { end, .. } = &event.event {
                self.turns += 1;
                self.usage += end.usage;
                self.cost += end.cost_usd.unwrap_or_default();
                self.priced += u64::from(end.cost_usd.is_some());
            }
        }
    }

    /// The cost in words; what is unknown is named.
    pub fn cost(&self) -> String {
        let unknown = self.turns - self.priced;
        match (self.priced, unknown) {
            (0, 0) => "none".into(),
            (0, _) => "unknown".into(),
            (_, 0) => format!("${:.4}", self.cost),
            (_, 1) => format!("${:.4}, and 1 turn of unknown cost", self.cost),
            (_, turns) => format!("${:.4}, and {turns} turns of unknown cost", self.cost),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let Usage { input, output, cache_read, cache_write, estimated } = self.usage;
        let about = if estimated { " (partly estimated)" } else { "" };
        format!(
            "chats         {}\nturns         {}\ninput         {input}{about}\noutput        {output}{about}\n\
             cache read    {cache_read}\ncache write   {cache_write}\ncost          {}\n",
            self.chats,
            self.turns,
            self.cost()
        )
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let unknown = self.turns - self.priced;
        let cost = if self.priced > 0 { json!(rounded(self.cost)) } else { Value::Null };
        let mut usage = json!({
            "inputTokens": self.usage.input,
            "outputTokens": self.usage.output,
            "cacheReadTokens": self.usage.cache_read,
            "cacheWriteTokens": self.usage.cache_write,
        });
        if self.usage.estimated {
            usage["estimated"] = json!(true);
        }
        json!({
            "chats": self.chats,
            "turns": self.turns,
            "usage": usage,
            "costUsd": cost,
            "turnsOfUnknownCost": unknown,
        })
    }
}
