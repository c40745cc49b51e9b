//! Lets a person pick a chat by its number. The list is on stderr, because it is no result.

use super::line;
use crate::output::Output;
use caret_protocol::agent::SessionSummary;
use std::io::BufRead;

/// Shows the chats and asks for a number until there is a good one, or nothing.
pub fn pick<'a>(
    chats: &'a [SessionSummary],
    output: Output,
    answers: &mut dyn BufRead,
) -> Option<&'a SessionSummary> {
    for (number, chat) in (1..).zip(chats) {
        output.ask(&format!("{number:>3}  {}", line(chat, false)));
    }
    loop {
        output.ask("Chat number (enter to leave): ");
        let mut answer = String::new();
        // An answer that cannot be read is no answer.
        let read = answers.read_line(&mut answer).unwrap_or(0);
        match answer.trim() {
            "" | "q" => return None,
            _ if read == 0 => return None,
            text => match text.parse::<usize>().ok().and_then(|number| chats.get(number.checked_sub(1)?)) {
                Some(chat) => return Some(chat),
                None => output.say(&format!("There is no chat number {}.", crate::output::harmless(text))),
            },
        }
    }
}
