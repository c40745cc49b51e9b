//! What a request in a wire format says, as far as a script looks at it.

use crate::model::ModelError;
use crate::model::http::endpoint::Api;
use crate::model::scripted::{Asked, is_call};
use serde_json::Value;

/// A request that came over a wire.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Heard {
    user: String,
    is_fresh: bool,
    tools: Vec<String>,
    /// Call ids and texts, oldest first.
    results: Vec<(String, String)>,
    cwd: String,
}

impl Heard {
    /// Reads a body; what is not there is taken as not said.
    pub(super) fn new(api: Api, body: &Value, cwd: String) -> Self {
        let mut heard = Self { cwd, ..Self::default() };
        match api {
            Api::Chat => heard.chat(body),
            Api::Responses => heard.responses(body),
            Api::Messages => heard.messages(body),
            Api::Gemini => heard.gemini(body),
        }
        heard
    }

    fn chat(&mut self, body: &Value) {
        self.tools = names(list(body, "tools").iter().filter_map(|tool| tool.get("function")));
        for message in list(body, "messages") {
            match word(message, "role") {
                "user" => self.said(text_of(&message["content"])),
                "tool" => self.gave(word(message, "tool_call_id"), text_of(&message["content"])),
                _ => {}
            }
        }
    }

    fn responses(&mut self, body: &Value) {
        self.tools = names(list(body, "tools").iter());
        if let Some(text) = body["input"].as_str() {
            self.said(text.to_owned());
        }
        for item in list(body, "input") {
            match (word(item, "type"), word(item, "role")) {
                ("" | "message", "user") => self.said(text_of(&item["content"])),
                ("function_call_output", _) => self.gave(word(item, "call_id"), text_of(&item["output"])),
                _ => {}
            }
        }
    }

    fn messages(&mut self, body: &Value) {
        self.tools = names(list(body, "tools").iter());
        for message in list(body, "messages").iter().filter(|message| word(message, "role") == "user") {
            for block in list(message, "content").iter().filter(|block| word(block, "type") == "tool_result")
            {
                self.gave(word(block, "tool_use_id"), text_of(&block["content"]));
            }
            let said = text_of(&message["content"]);
            if !said.is_empty() {
                self.said(said);
            }
        }
    }

    fn gemini(&mut self, body: &Value) {
        let declared = list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
        self.tools = names(declared);
        for content in list(body, "contents").iter().filter(|content| word(content, "role") != "model") {
            for answer in list(content, "parts").iter().filter_map(|part| part.get("functionResponse")) {
                let id = Some(word(answer, "id")).filter(|id| !id.is_empty()).unwrap_or(word(answer, "name"));
                let response = &answer["response"];
                let text =
                    ["output", "error", "result"].iter().find_map(|name| response.get(*name)?.as_str());
                self.gave(id, text.map_or_else(|| response.to_string(), str::to_owned));
            }
            let said = text_of(&content["parts"]);
            if !said.is_empty() {
                self.said(said);
            }
        }
    }

    fn said(&mut self, text: String) {
        self.user = text;
        self.is_fresh = true;
    }

    fn gave(&mut self, id: &str, text: String) {
        self.results.push((id.to_owned(), text));
        self.is_fresh = false;
    }
}

impl Asked for Heard {
    fn user(&self) -> String {
        self.user.clone()
    }

    fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    fn cwd(&self) -> String {
        self.cwd.clone()
    }

    fn tools(&self) -> Vec<&str> {
        self.tools.iter().map(String::as_str).collect()
    }

    fn last_result(&self) -> Option<String> {
        self.results.last().map(|(_, text)| text.clone())
    }

    fn result(&self, id: &str) -> Result<Option<String>, ModelError> {
        let newest = self.results.iter().rev().find(|(call, _)| is_call(call, id));
        Ok(newest.map(|(_, text)| text.clone()))
    }
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn names<'v>(tools: impl Iterator<Item = &'v Value>) -> Vec<String> {
    tools.map(|tool| word(tool, "name").to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The words of a text, or of those parts in a list that are text.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let is_text = |part: &&Value| !matches!(word(part, "type"), "tool_result");
            parts.iter().filter(is_text).map(|part| word(part, "text")).collect()
        }
        _ => String::new(),
    }
}
