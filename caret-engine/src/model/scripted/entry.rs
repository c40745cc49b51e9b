//! One entry of `emit` as it is written, and its change into what it means.
//!
//! An entry is one table with one key that says what it is, and further keys that only fit some of these.
//! Checking happens while the file is read, so that messages carry the line.

use super::fill::{self, Template};
use super::script::{Call, Emit, Fault};
use caret_protocol::content::Usage;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::fmt;

/// The text of one entry may not get longer than this.
const LONGEST: usize = 64 << 20;

/// An entry as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Entry {
    thinking: Option<String>,
    signature: Option<String>,
    text: Option<String>,
    deltas: Option<Vec<String>>,
    text_repeat: Option<TextRepeat>,
    chunk: Option<usize>,
    call: Option<String>,
    id: Option<String>,
    input: Option<Value>,
    malformed: Option<String>,
    delay_ms: Option<u64>,
    hang_ms: Option<u64>,
    usage: Option<Spent>,
    error: Option<Status>,
    times: Option<u32>,
    cut: Option<bool>,
    raw: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextRepeat {
    text: String,
    times: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Spent {
    input: u64,
    output: u64,
    #[serde(alias = "cache_read")]
    cached: u64,
    cache_write: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    status: u16,
    #[serde(default)]
    retry_after_ms: Option<u64>,
    #[serde(default)]
    message: String,
}

impl Entry {
    /// The keys that say what an entry is, as far as they are there.
    fn kinds(&self) -> Vec<&'static str> {
        let malformed = self.malformed.is_some() && self.call.is_none();
        [
            ("thinking", self.thinking.is_some()),
            ("text", self.text.is_some()),
            ("deltas", self.deltas.is_some()),
            ("text_repeat", self.text_repeat.is_some()),
            ("call", self.call.is_some()),
            ("malformed", malformed),
            ("delay_ms", self.delay_ms.is_some()),
            ("hang_ms", self.hang_ms.is_some()),
            ("usage", self.usage.is_some()),
            ("error", self.error.is_some()),
            ("cut", self.cut.is_some()),
            ("raw", self.raw.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, there)| there.then_some(name))
        .collect()
    }

    /// Refuses keys beside a kind that they do not fit.
    fn fits(&self, kind: &str) -> Result<(), String> {
        let beside: [(&str, bool, &[&str]); 5] = [
            ("signature", self.signature.is_some(), &["thinking"]),
            ("chunk", self.chunk.is_some(), &["text", "call"]),
            ("id", self.id.is_some(), &["call"]),
            ("input", self.input.is_some(), &["call"]),
            ("times", self.times.is_some(), &["error", "cut", "malformed"]),
        ];
        for (key, there, kinds) in beside {
            if there && !kinds.contains(&kind) {
                return Err(format!("`{key}` does not go with `{kind}`"));
            }
        }
        if self.chunk == Some(0) || self.times == Some(0) {
            return Err("`chunk` and `times` are at least 1".into());
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Emit {
    /// Changes the entry while its table is being read, as errors only then get its place in the file.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Table;
        impl<'de> Visitor<'de> for Table {
            type Value = Emit;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a table such as `{ text = \"…\" }`")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Emit, A::Error> {
                let entry = Entry::deserialize(MapAccessDeserializer::new(map))?;
                Emit::try_from(entry).map_err(A::Error::custom)
            }
        }
        from.deserialize_map(Table)
    }
}

impl TryFrom<Entry> for Emit {
    type Error = String;

    fn try_from(entry: Entry) -> Result<Self, String> {
        let kind = match entry.kinds().as_slice() {
            [kind] => *kind,
            [] => {
                return Err("an entry needs one of `text`, `deltas`, `text_repeat`, `thinking`, `call`, \
                    `delay_ms`, `usage`, `error`, `cut`, `malformed`, `hang_ms` or `raw`"
                    .into());
            }
            several => return Err(format!("one entry cannot be {} at once", several.join(" and "))),
        };
        entry.fits(kind)?;
        let times = entry.times.unwrap_or(1);
        if let Some(text) = entry.thinking {
            return Ok(Self::Thinking { text: Template::new(text)?, signature: entry.signature });
        }
        if let Some(texts) = entry.text.map(|text| vec![text]).or(entry.deltas) {
            let deltas = texts.into_iter().map(Template::new).collect::<Result<_, _>>()?;
            return Ok(Self::Text { deltas, chunk: entry.chunk });
        }
        if let Some(TextRepeat { text, times }) = entry.text_repeat {
            if text.len().saturating_mul(usize::try_from(times).unwrap_or(usize::MAX)) > LONGEST {
                return Err("`text_repeat` makes more than 64 MiB of text".into());
            }
            return Ok(Self::TextRepeat { text: Template::new(text)?, times });
        }
        if let Some(name) = entry.call {
            return call(name, entry.id, entry.input, entry.malformed, entry.chunk).map(Self::Call);
        }
        if let Some(milliseconds) = entry.delay_ms.or(entry.hang_ms) {
            return Ok(Self::Delay { milliseconds });
        }
        if let Some(Spent { input, output, cached, cache_write }) = entry.usage {
            return Ok(Self::Usage(Usage {
                input,
                output,
                cache_read: cached,
                cache_write,
                estimated: false,
            }));
        }
        if let Some(Status { status, retry_after_ms, message }) = entry.error {
            if !(400..600).contains(&status) {
                return Err(format!("status {status} is no error; write one from 400 to 599"));
            }
            return Ok(Self::Fault { fault: Fault::Status { status, retry_after_ms, message }, times });
        }
        if let Some(garbage) = entry.malformed {
            return Ok(Self::Fault { fault: Fault::Garbage(garbage), times });
        }
        Ok(match entry.cut {
            Some(true) => Self::Fault { fault: Fault::Cut, times },
            Some(false) | None => Self::Raw(entry.raw.unwrap_or_default()),
        })
    }
}

fn call(
    name: String,
    id: Option<String>,
    input: Option<Value>,
    malformed: Option<String>,
    chunk: Option<usize>,
) -> Result<Call, String> {
    if name.trim().is_empty() {
        return Err("a call needs the name of a tool".into());
    }
    if id.as_ref().is_some_and(|id| id.is_empty() || id.contains(['}', '|', ' '])) {
        return Err("an id has no spaces, `|` or `}` and is not empty".into());
    }
    if input.is_some() && malformed.is_some() {
        return Err("a call has either `input` or `malformed`".into());
    }
    let input = input.unwrap_or_else(|| json!({}));
    if !input.is_object() {
        return Err("`input` must be a table".into());
    }
    fill::check(&input)?;
    Ok(Call { name, id, input, malformed, chunk })
}
