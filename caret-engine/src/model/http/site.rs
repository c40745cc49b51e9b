//! Which request a message is about, and what must not be in the message.
//!
//! Text that came from a server or from the system goes through `harmless` before anyone sees it.

use super::secret::Secret;

/// How much of a server's words is quoted.
const QUOTED: usize = 200;
/// Beginnings that keys of known vendors have, and how long such a word is at least.
const KEY_SHAPES: &[&str] = &["sk-", "AIza", "gsk_", "xai-", "hf_", "ghp_", "nvapi-"];
const SHORTEST_KEY: usize = 16;

/// What is known about a request when something goes wrong with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    /// Scheme, host and path.
    pub(crate) address: String,
    /// The proxy that it goes through.
    pub(crate) proxy: Option<String>,
    /// Where the key comes from.
    pub(crate) key_source: String,
    /// Whether a key was sent.
    pub(crate) has_key: bool,
    /// The model that was asked.
    pub(crate) model: String,
    /// What must not be seen.
    pub(crate) hidden: Vec<Secret>,
}

impl Site {
    /// The address; a request is called so in messages.
    pub(crate) fn shown(&self) -> &str {
        &self.address
    }

    /// The address, and the proxy if one is in between.
    pub(crate) fn through(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("{} (through the proxy {proxy})", self.address),
            None => self.address.clone(),
        }
    }

    /// What to do about a key.
    pub(crate) fn key_advice(&self) -> String {
        let source = &self.key_source;
        match (self.has_key, source.is_empty()) {
            (true, false) => format!("check the key from {source}"),
            (false, false) => format!("no key was sent; set {source}"),
            (true, true) => "check the key".into(),
            (false, true) => "no key was sent; give one".into(),
        }
    }

    /// Words for a message: one line, no control or direction characters, no keys, the first 200 bytes.
    pub(crate) fn harmless(&self, text: &str) -> String {
        self.harmless_up_to(QUOTED, text)
    }

    /// The same, with another length.
    pub(crate) fn harmless_up_to(&self, most: usize, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.hidden.iter().filter(|secret| !secret.reveal().is_empty()) {
            text = text.replace(secret.reveal(), "[secret]");
        }
        let words = text.split(|char: char| char.is_whitespace() || is_unseen(char));
        let mut line = String::new();
        for word in words.filter(|word| !word.is_empty()) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&without_key(word));
            if line.len() > most {
                line.truncate(line.floor_char_boundary(most));
                line.push('…');
                break;
            }
        }
        line
    }
}

/// Characters that a terminal acts on, or that make text look other than it is.
fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A word without the key of a known shape that it may hold.
fn without_key(word: &str) -> String {
    let begins = |start: &usize| !word[..*start].ends_with(|char: char| char.is_alphanumeric());
    let starts = KEY_SHAPES.iter().flat_map(|shape| word.match_indices(shape)).map(|(start, _)| start);
    let Some(start) = starts.filter(begins).min() else { return word.to_owned() };
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_.*".contains(char);
    let length = word[start..].find(|char| !is_part(char)).unwrap_or(word.len() - start);
    if length < SHORTEST_KEY {
        return word.to_owned();
    }
    format!("{}[secret]{}", &word[..start], &word[start + length..])
}

#[cfg(test)]
mod tests {
    use super::Site;
    use crate::model::http::secret::Secret;

    #[test]
    fn a_servers_words_are_made_harmless() {
        let site = Site { hidden: vec![Secret::new("canary-key")], ..Site::default() };
        let table = [
            ("plain words", "plain words"),
            ("  two\r\n lines\t ", "two lines"),
            ("a\u{1b}[31mred\u{7}", "a [31mred"),
            ("left\u{202e}right", "left right"),
            ("your key canary-key is bad", "your key [secret] is bad"),
            ("(sk-abcdefghijklmnop1234)", "([secret])"),
            ("task-force-of-many-words sk-short", "task-force-of-many-words sk-short"),
            ("\u{0}\u{1}", ""),
        ];
        for (text, expected) in table {
            assert_eq!(site.harmless(text), expected, "{text:?}");
        }
        let long = site.harmless(&"é".repeat(500));
        assert_eq!((long.len(), long.ends_with('…')), (203, true));
        let many = site.harmless(&"canary-key ".repeat(100));
        assert!(!many.contains("canary"), "{many}");
    }
}
