//! What the user said, as text and pictures: the only two things that every family can send.

use caret_protocol::content::Content;
use std::borrow::Cow;

/// The kinds of picture that every vendor takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// One piece of a user's message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said<'a> {
    /// Words.
    Text(Cow<'a, str>),
    /// A picture that the model can see.
    Picture { mime: &'a str, data: &'a str },
}

/// Whether the model takes pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It does.
    Seeing,
    /// It gets a note instead.
    Blind,
}

/// The pieces of a message that say something.
pub(super) fn said(content: &[Content], sight: Sight) -> Vec<Said<'_>> {
    content.iter().filter_map(|piece| one(piece, sight)).collect()
}

fn one(piece: &Content, sight: Sight) -> Option<Said<'_>> {
    match piece {
        Content::Text { text } if text.trim().is_empty() => None,
        Content::Text { text } => Some(Said::Text(Cow::Borrowed(text))),
        Content::Resource { uri, text } => {
            Some(Said::Text(format!("<resource uri=\"{uri}\">\n{text}\n</resource>").into()))
        }
        Content::Link { uri, name } => Some(Said::Text(format!("[{name}]({uri})").into())),
        Content::Image { mime, data } if sight == Sight::Seeing && PICTURES.contains(&mime.as_str()) => {
            Some(Said::Picture { mime, data })
        }
        Content::Image { mime, .. } => {
            let why = match sight {
                Sight::Seeing => "pictures of this kind cannot be sent",
                Sight::Blind => "this model takes no pictures",
            };
            Some(Said::Text(format!("[a picture ({mime}) was here; {why}]").into()))
        }
        other => Some(Said::Text(Cow::Borrowed(other.plain()))),
    }
}
