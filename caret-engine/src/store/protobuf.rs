//! The little of the protobuf wire format that the documented node blobs need.
//!
//! Invariant: the reader never panics, never allocates more than its input, and never reads past it. Blobs
//! come from disk and may have been written by anybody.

/// One field of a message, as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Field<'a> {
    /// The field number.
    pub(super) number: u32,
    /// Its value.
    pub(super) value: Value<'a>,
}

/// A value on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64([u8; 8]),
    /// Wire type 2: text, bytes or a message.
    Bytes(&'a [u8]),
    /// Wire type 5.
    Fixed32([u8; 4]),
}

impl<'a> Field<'a> {
    /// The bytes of a length-delimited field.
    pub(super) fn bytes(&self) -> Option<&'a [u8]> {
        match self.value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The text of a length-delimited field; bytes that are no UTF-8 are replaced.
    pub(super) fn text(&self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Why a message could not be read.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(super) enum WireError {
    /// It ends in the middle of a field.
    #[error("a node ends in the middle of a field")]
    Cut,
    /// A number is longer than 64 bits.
    #[error("a node has a number that is too long")]
    Number,
    /// Field 0, or a field of a kind that is not used any more.
    #[error("a node has a field of an unknown kind")]
    Kind,
}

/// The fields of a message, in the order they stand. Ends after the first error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

/// Reads the fields of a message.
pub(super) fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<Field<'a>, WireError> {
        let key = self.number()?;
        let number = u32::try_from(key >> 3).map_err(|_| WireError::Kind)?;
        if number == 0 || number > 0x1fff_ffff {
            return Err(WireError::Kind);
        }
        let value = match key & 7 {
            0 => Value::Varint(self.number()?),
            1 => Value::Fixed64(self.array()?),
            2 => {
                let length = usize::try_from(self.number()?).map_err(|_| WireError::Cut)?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(self.array()?),
            _ => return Err(WireError::Kind),
        };
        Ok(Field { number, value })
    }

    fn number(&mut self) -> Result<u64, WireError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(WireError::Cut)?;
            self.rest = rest;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(WireError::Number);
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(WireError::Number)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(WireError::Cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], WireError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(WireError::Cut)?;
        self.rest = rest;
        Ok(*taken)
    }
}

/// A message in the making.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Adds a number.
    pub(super) fn varint(&mut self, number: u32, value: u64) -> &mut Self {
        self.number(u64::from(number) << 3);
        self.number(value);
        self
    }

    /// Adds text, bytes or a message.
    pub(super) fn bytes(&mut self, number: u32, value: &[u8]) -> &mut Self {
        self.number(u64::from(number) << 3 | 2);
        self.number(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// Adds a message that `fill` writes.
    pub(super) fn message(&mut self, number: u32, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inner = Self::default();
        fill(&mut inner);
        self.bytes(number, &inner.bytes)
    }

    /// Adds a field as it was read.
    pub(super) fn field(&mut self, field: &Field<'_>) -> &mut Self {
        let key = u64::from(field.number) << 3;
        match field.value {
            Value::Varint(value) => return self.varint(field.number, value),
            Value::Bytes(value) => return self.bytes(field.number, value),
            Value::Fixed64(value) => {
                self.number(key | 1);
                self.bytes.extend_from_slice(&value);
            }
            Value::Fixed32(value) => {
                self.number(key | 5);
                self.bytes.extend_from_slice(&value);
            }
        }
        self
    }

    /// The message.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        for value in [0, 1, 127, 128, 300, 1_790_000_000_000, u64::MAX] {
            let mut writer = Writer::default();
            writer.varint(26, value);
            let bytes = writer.finish();
            let read: Vec<_> = fields(&bytes).collect();
            assert_eq!(read, [Ok(Field { number: 26, value: Value::Varint(value) })]);
        }
    }

    #[test]
    fn broken_messages_are_told_apart() {
        let table: [(&[u8], WireError); 7] = [
            (b"\x0a", WireError::Cut),
            (b"\x0a\x05abc", WireError::Cut),
            (b"\x08\x80", WireError::Cut),
            (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", WireError::Number),
            (b"\x02\x00", WireError::Kind),
            (b"\x0b", WireError::Kind),
            (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", WireError::Cut),
        ];
        for (bytes, error) in table {
            assert_eq!(fields(bytes).last(), Some(Err(error)), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic_and_what_was_read_is_written_the_same(bytes: Vec<u8>) {
            let read: Vec<_> = fields(&bytes).filter_map(Result::ok).collect();
            let mut writer = Writer::default();
            for field in &read {
                writer.field(field);
            }
            let again = writer.finish();
            let reread: Vec<_> = fields(&again).filter_map(Result::ok).collect();
            prop_assert_eq!(reread, read);
        }
    }
}
