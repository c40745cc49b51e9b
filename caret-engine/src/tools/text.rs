//! How file names and long lines are shown, and texts that are not UTF-8.
//!
//! Names come from the disk and may be anything; what is shown of them is one line and valid text.

use std::borrow::Cow;
use std::path::Path;

/// A path as text. Control characters and bytes that are no text are escaped.
pub(crate) fn path_text(path: &Path) -> String {
    name_text(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// A file name as text. Control characters and bytes that are no text are escaped.
pub(crate) fn name_text(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name)
        && !text.chars().any(char::is_control)
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(shown)
}

/// The first characters of a line, and whether there were more.
pub(crate) fn cut_chars(line: &str, most: usize) -> (&str, bool) {
    // A line with so few bytes cannot have more characters.
    if line.len() <= most {
        return (line, false);
    }
    match line.char_indices().nth(most) {
        Some((end, _)) => (&line[..end], true),
        None => (line, false),
    }
}

/// Decodes UTF-16 with a byte order mark; nothing if there is none.
pub(crate) fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(text.collect())
}
