//! The event-stream reader: bytes in, named events out.
//!
//! Streams arrive split anywhere and are seldom quite what the standard says, so this reader takes every
//! line ending, a byte-order mark, broken UTF-8 and a last event without its blank line. Lines that belong
//! to no event are kept, as that is where a server's bare error message ends up.
//!
//! Invariants: every split of the same bytes gives the same events; every byte is looked at once, so time is
//! linear in the bytes; an event is never larger than `LARGEST_EVENT`.

/// The most bytes of one event.
pub(crate) const LARGEST_EVENT: usize = 16 << 20;
/// How much of the lines that are no events is kept.
const MOST_STRAY: usize = 64 << 10;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamEvent {
    /// Its name; often empty.
    pub(crate) name: String,
    /// Its data; several lines are joined by line feeds.
    pub(crate) data: String,
}

/// An event grew beyond `LARGEST_EVENT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Reads events from bytes that come in pieces.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a line feed now belongs to it.
    after_return: bool,
    /// Whether a line has ended: only the first one may begin with a byte-order mark.
    past_first: bool,
    name: String,
    data: Option<String>,
    stray: String,
    unfinished: String,
    payload: u64,
}

impl EventReader {
    /// Takes the next bytes and adds the events that they complete to `events`.
    ///
    /// # Errors
    /// When one event is too large.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (piece, behind) = rest.split_at(end);
            self.add(piece)?;
            let line = std::mem::take(&mut self.line);
            self.line_ended(&line, events)?;
            // The allocation serves the next line.
            self.line = line;
            self.line.clear();
            rest = match behind {
                [b'\r', b'\n', more @ ..] => more,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, more @ ..] => more,
                [] => &[],
            };
        }
        self.add(rest)
    }

    /// The bytes have ended: adds the last event if only its blank line is missing.
    ///
    /// # Errors
    /// When that event is too large.
    pub(crate) fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), TooLarge> {
        let line = std::mem::take(&mut self.line);
        let is_half =
            [&b"data:"[..], b"event:", b"id:", b"retry:"].iter().any(|field| field.starts_with(&line));
        if !is_half {
            self.line_ended(&line, events)?;
        }
        let Some(data) = self.data.take() else { return Ok(()) };
        if data.trim() == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(&data).is_ok() {
            events.push(StreamEvent { name: std::mem::take(&mut self.name), data });
        } else {
            self.unfinished = data;
        }
        Ok(())
    }

    /// How many bytes came that are no comments, with the line ends that end something else. A keep-alive
    /// does not count.
    pub(crate) fn payload(&self) -> u64 {
        self.payload
    }

    /// The data of the last event if it was cut in the middle.
    pub(crate) fn unfinished(&self) -> &str {
        &self.unfinished
    }

    /// The lines that belong to no event, as far as they are kept.
    pub(crate) fn stray(&self) -> &str {
        &self.stray
    }

    fn add(&mut self, piece: &[u8]) -> Result<(), TooLarge> {
        let is_comment = self.line.first().or(piece.first()) == Some(&b':');
        if !is_comment {
            self.payload += piece.len() as u64;
        }
        if self.line.len() + piece.len() > LARGEST_EVENT {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn line_ended(&mut self, line: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), TooLarge> {
        let line = match std::mem::replace(&mut self.past_first, true) {
            true => line,
            false => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
        };
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            if let Some(data) = self.data.take() {
                self.payload += 1;
                events.push(StreamEvent { name, data });
            }
            return Ok(());
        }
        let text = String::from_utf8_lossy(line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        if !field.is_empty() {
            self.payload += 1;
        }
        match field {
            "data" => self.add_data(value)?,
            "event" => value.clone_into(&mut self.name),
            "" | "id" | "retry" => {}
            _ => self.keep(&text),
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), TooLarge> {
        match &mut self.data {
            None => self.data = Some(value.to_owned()),
            Some(data) => {
                if data.len() + value.len() >= LARGEST_EVENT {
                    return Err(TooLarge);
                }
                data.push('\n');
                data.push_str(value);
            }
        }
        Ok(())
    }

    fn keep(&mut self, text: &str) {
        let room = MOST_STRAY.saturating_sub(self.stray.len());
        let end = text.floor_char_boundary(room);
        self.stray.push_str(&text[..end]);
        if end < room {
            self.stray.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EventReader, LARGEST_EVENT, StreamEvent, TooLarge};
    use proptest::prelude::*;

    /// The events and stray lines of bytes that come in pieces of the given sizes.
    fn read(bytes: &[u8], sizes: &[usize]) -> (Vec<StreamEvent>, String, String, u64) {
        let (mut reader, mut events) = (EventReader::default(), Vec::new());
        let mut rest = bytes;
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at((*size).clamp(1, rest.len()));
            reader.push(piece, &mut events).unwrap();
            rest = behind;
        }
        reader.finish(&mut events).unwrap();
        (events, reader.stray().to_owned(), reader.unfinished().to_owned(), reader.payload())
    }

    /// Each event as `name=data`, then what was left over.
    fn show(bytes: &[u8]) -> String {
        let (events, stray, unfinished, _) = read(bytes, &[bytes.len().max(1)]);
        let mut shown: Vec<String> =
            events.iter().map(|event| format!("{}={}", event.name, event.data)).collect();
        if !stray.is_empty() {
            shown.push(format!("stray {stray:?}"));
        }
        if !unfinished.is_empty() {
            shown.push(format!("unfinished {unfinished:?}"));
        }
        shown.join(" · ")
    }

    #[test]
    fn streams_are_read_as_they_really_arrive() {
        let table: &[(&[u8], &str)] = &[
            (b"data: a\n\ndata: b\n\n", "=a · =b"),
            (b"data: a\r\n\r\ndata: b\r\n\r\n", "=a · =b"),
            (b"data: a\r\rdata: b\r\r", "=a · =b"),
            (b"data: a\r\n\ndata: b\n\r\n", "=a · =b"),
            (b"\xef\xbb\xbfdata: a\n\n", "=a"),
            (b"event: x\ndata: a\n\ndata: b\n\n", "x=a · =b"),
            (b"event:x\ndata:a\n\n", "x=a"),
            (b"data:  two spaces\n\n", "= two spaces"),
            (b"data: a\ndata: b\ndata\n\n", "=a\nb\n"),
            (b"data:\n\n", "="),
            (b": comment\n\n:\n\ndata: a\n\n", "=a"),
            (b"event: lost\n\ndata: a\n\n", "=a"),
            (b"id: 7\nretry: 10\ndata: a\n\n", "=a"),
            (b"data: \xff\xfe\n\n", "=\u{fffd}\u{fffd}"),
            (b"data: {\"a\":1}", "={\"a\":1}"),
            (b"data: {\"a\":1}\n", "={\"a\":1}"),
            (b"data: [DONE]", "=[DONE]"),
            (b"data: {\"a\":", "unfinished \"{\\\"a\\\":\""),
            (b"data: a\n\nda", "=a"),
            (b"data: a\n\nevent:", "=a"),
            (b"data: a\n\n{\n  \"error\": 1\n}\n", "=a · stray \"{\\n  \\\"error\\\": 1\\n}\\n\""),
            (b"<html>\n<p>hi: there</p>", "stray \"<html>\\n<p>hi: there</p>\\n\""),
            (b"", ""),
        ];
        for (bytes, expected) in table {
            assert_eq!(show(bytes), *expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn comments_and_blank_lines_are_no_payload() {
        let of = |text: &str| read(text.as_bytes(), &[3]).3;
        assert_eq!(of(": keep-alive\n\n: again\r\n\r\n"), 0);
        assert_eq!(of(": keep-alive\n\ndata: a\n\n"), 9);
    }

    #[test]
    fn a_large_event_in_small_pieces_takes_linear_time() {
        let mut bytes = b"data: ".to_vec();
        bytes.resize(10 << 20, b'x');
        bytes.extend_from_slice(b"\n\n");
        // 160,000 pieces: anything quadratic would look at 800 GB.
        let (events, _, _, _) = read(&bytes, &[64]);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].data.len(), (10 << 20) - 6);
    }

    #[test]
    fn an_event_has_a_largest_size_in_one_line_and_in_many() {
        let (mut reader, mut events) = (EventReader::default(), Vec::new());
        let line = vec![b'x'; LARGEST_EVENT + 1];
        assert_eq!(reader.push(&line, &mut events), Err(TooLarge));
        let mut reader = EventReader::default();
        let mut line = b"data: ".to_vec();
        line.resize(1 << 20, b'x');
        line.push(b'\n');
        let fitted = (0..20).take_while(|_| reader.push(&line, &mut events).is_ok()).count();
        assert_eq!(fitted, 16);
    }

    proptest! {
        #[test]
        fn every_split_gives_the_same_events(
            parts in prop::collection::vec(prop::sample::select(vec![
                "data", ":", " ", "\r", "\n", "\r\n", "\n\n", "event", "x", "{\"a\":\"é\"}", "[DONE]", "\u{feff}", "id",
            ]), 0..40),
            sizes in prop::collection::vec(1_usize..9, 1..8),
        ) {
            let text = parts.concat();
            let whole = read(text.as_bytes(), &[usize::MAX]);
            prop_assert_eq!(&read(text.as_bytes(), &sizes), &whole);
            prop_assert_eq!(&read(text.as_bytes(), &[1]), &whole);
        }

        #[test]
        fn no_bytes_make_it_panic_or_differ(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1_usize..9) {
            prop_assert_eq!(read(&bytes, &[size]), read(&bytes, &[usize::MAX]));
        }
    }
}
