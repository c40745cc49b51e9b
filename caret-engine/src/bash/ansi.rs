//! `$'…'`: the escapes of C, decoded at once.

use super::Reason;
use super::ast::Part;
use super::cursor::{Parsed, Parser};

impl Parser<'_> {
    /// Parses and decodes `$'…'` at the position.
    pub(super) fn ansi_c_quoted(&mut self) -> Parsed<Part> {
        let start = self.position;
        self.position += 2;
        let mut decoded: Vec<u8> = Vec::new();
        loop {
            match self.bump() {
                None => return Err(self.error_at(Reason::Unterminated("dollar quote"), start)),
                Some('\'') => break,
                Some('\\') => self.ansi_escape(&mut decoded)?,
                Some(character) => push_character(&mut decoded, character),
            }
        }
        String::from_utf8(decoded)
            .map(Part::AnsiC)
            .map_err(|_| self.error_at(Reason::Unsupported("escapes that are no valid text"), start))
    }

    fn ansi_escape(&mut self, decoded: &mut Vec<u8>) -> Parsed<()> {
        let Some(character) = self.bump() else {
            return self.fail(Reason::Unterminated("dollar quote"));
        };
        let byte = match character {
            'a' => 0x07,
            'b' => 0x08,
            'e' | 'E' => 0x1b,
            'f' => 0x0c,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 0x0b,
            '\\' | '\'' | '"' | '?' => {
                push_character(decoded, character);
                return Ok(());
            }
            '0'..='7' => {
                self.position -= 1;
                let value = self.digits(8, 3)?;
                u8::try_from(value).or_else(|_| self.unsupported("octal escape"))?
            }
            'x' => {
                let value = self.digits(16, 2)?;
                u8::try_from(value).or_else(|_| self.unsupported("hexadecimal escape"))?
            }
            'u' => return self.unicode_escape(4, decoded),
            'U' => return self.unicode_escape(8, decoded),
            'c' => return self.unsupported("control escape"),
            other => {
                decoded.push(b'\\');
                push_character(decoded, other);
                return Ok(());
            }
        };
        // Bash ends the string at a NUL, so the rest would be invisible.
        if byte == 0 {
            return self.unsupported("NUL escape");
        }
        decoded.push(byte);
        Ok(())
    }

    fn unicode_escape(&mut self, most: usize, decoded: &mut Vec<u8>) -> Parsed<()> {
        let value = self.digits(16, most)?;
        match char::from_u32(value) {
            Some(character) if character != '\0' => {
                push_character(decoded, character);
                Ok(())
            }
            _ => self.unsupported("unicode escape"),
        }
    }

    /// Reads one to `most` digits.
    fn digits(&mut self, radix: u32, most: usize) -> Parsed<u32> {
        let text = self.rest();
        let count = text.chars().take(most).take_while(|character| character.is_digit(radix)).count();
        let digits = text.get(..count).unwrap_or_default();
        self.position += count;
        u32::from_str_radix(digits, radix).or_else(|_| self.unsupported("escape without digits"))
    }
}

fn push_character(decoded: &mut Vec<u8>, character: char) {
    let mut buffer = [0; 4];
    decoded.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
}
