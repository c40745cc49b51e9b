//! Thoughts that a model writes into its text, between `<think>` and `</think>` at the very beginning.
//!
//! Invariant: only the beginning is looked at. A model may write about the tag further on.

use caret_protocol::event::DeltaKind;

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

/// Tells thoughts and words apart while they arrive.
#[derive(Debug, Default)]
pub(super) struct Thinker {
    place: Place,
    /// What may be the beginning of a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    Inside,
    /// Behind the thoughts, where blank lines mean nothing.
    Behind,
    Words,
}

impl Thinker {
    /// What has become clear with this piece.
    pub(super) fn add(&mut self, piece: &str) -> Vec<(DeltaKind, String)> {
        if self.place == Place::Words {
            return vec![(DeltaKind::Text, piece.to_owned())];
        }
        self.held.push_str(piece);
        let mut out = Vec::new();
        while self.step(&mut out) {}
        out
    }

    /// What was held back when the text ended. Nothing but spaces is nothing.
    pub(super) fn end(&mut self) -> Option<(DeltaKind, String)> {
        let kind = if self.place == Place::Inside { DeltaKind::Thinking } else { DeltaKind::Text };
        let held = std::mem::take(&mut self.held);
        (!held.trim().is_empty()).then_some((kind, held))
    }

    /// Moves on by one place; false when more text is needed.
    fn step(&mut self, out: &mut Vec<(DeltaKind, String)>) -> bool {
        match self.place {
            Place::Start => {
                let begun = self.held.trim_start();
                if let Some(rest) = begun.strip_prefix(OPENING) {
                    self.held = rest.to_owned();
                    self.place = Place::Inside;
                    return true;
                }
                if OPENING.starts_with(begun) {
                    return false;
                }
                self.place = Place::Words;
                true
            }
            Place::Inside => {
                if let Some((thought, rest)) = self.held.split_once(CLOSING) {
                    if !thought.is_empty() {
                        out.push((DeltaKind::Thinking, thought.to_owned()));
                    }
                    self.held = rest.to_owned();
                    self.place = Place::Behind;
                    return true;
                }
                let clear = self.held.len() - begun_tag(&self.held);
                if clear > 0 {
                    out.push((DeltaKind::Thinking, self.held.drain(..clear).collect()));
                }
                false
            }
            Place::Behind => {
                self.held = self.held.trim_start().to_owned();
                if self.held.is_empty() {
                    return false;
                }
                self.place = Place::Words;
                true
            }
            Place::Words => {
                if !self.held.is_empty() {
                    out.push((DeltaKind::Text, std::mem::take(&mut self.held)));
                }
                false
            }
        }
    }
}

/// How many bytes at the end may be the beginning of the closing tag.
fn begun_tag(text: &str) -> usize {
    (1..CLOSING.len()).rev().find(|length| text.ends_with(&CLOSING[..*length])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Thinker;
    use caret_protocol::event::DeltaKind;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut thinker = Thinker::default();
        let mut parts: Vec<(DeltaKind, String)> =
            pieces.iter().flat_map(|piece| thinker.add(piece)).collect();
        parts.extend(thinker.end());
        let of = |wanted| {
            parts.iter().filter(|(kind, _)| *kind == wanted).map(|(_, text)| text.as_str()).collect()
        };
        (of(DeltaKind::Thinking), of(DeltaKind::Text))
    }

    #[test]
    fn thoughts_at_the_beginning_are_told_apart_however_the_text_is_cut() {
        for (text, thoughts, words) in [
            ("plain", "", "plain"),
            ("<think>a < b</th</think>\n\nso é", "a < b</th", "so é"),
            ("\n<think>\nhm\n</think>x<think>y</think>", "\nhm\n", "x<think>y</think>"),
            ("<think></think>x", "", "x"),
            ("<think>never closed", "never closed", ""),
            ("<thin", "", "<thin"),
            ("<thinking>x", "", "<thinking>x"),
            ("about <think>", "", "about <think>"),
            ("", "", ""),
        ] {
            let expected = (thoughts.to_owned(), words.to_owned());
            assert_eq!(split(&[text]), expected);
            for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
                assert_eq!(split(&[&text[..at], &text[at..]]), expected, "{text:?} cut at {at}");
            }
            let letters: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(split(&letters.iter().map(String::as_str).collect::<Vec<_>>()), expected);
        }
    }
}
