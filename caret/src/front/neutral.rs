//! Text from models, tools and files, made harmless before it reaches a terminal.
//!
//! Control characters, escape sequences, bidirectional and invisible characters become visible escapes,
//! so that nothing that was read can move the cursor, retitle the window or hide itself.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that a terminal would act upon written out.
pub(super) fn neutral(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_active(letter) {
            // Writing to a String cannot go wrong.
            write!(shown, "\\u{{{:x}}}", u32::from(letter)).ok();
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

fn is_active(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        letter if letter.is_control() => true,
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_upon_is_written_out() {
        let table = [
            ("plain\ttext\nüñ漢", "plain\ttext\nüñ漢"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31mred", "\\u{9b}31mred"),
            ("a\rb\u{8}c", "a\\u{d}b\\u{8}c"),
            ("\u{202e}evil", "\\u{202e}evil"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
        ];
        for (text, shown) in table {
            assert_eq!(neutral(text), shown);
        }
    }
}
