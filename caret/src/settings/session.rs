//! Which chat a run belongs to.

use super::checks::conflict;
use crate::args::options::Options;
use crate::exit::{Exit, Failure};
use caret_protocol::ids::SessionId;
use uuid::{Uuid, Version};

/// Which chat a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one, under this id.
    New(SessionId),
    /// This one; a well-formed id that is not there yet starts a new one under it.
    Resume(SessionId),
    /// The N-th most recent one of the workspace, from 1.
    Latest(usize),
}

/// Understands `--resume`, `--continue` and `--new-session-id` together.
pub fn choose(options: &Options) -> Result<SessionChoice, Failure> {
    let resumes = options.resume.is_some() || options.continue_latest;
    if options.resume.is_some() && options.continue_latest {
        return Err(conflict("--resume [chatId]", "--continue"));
    }
    if resumes && options.new_session_id.is_some() {
        let resuming = if options.continue_latest { "--continue" } else { "--resume [chatId]" };
        return Err(conflict("--new-session-id <uuid>", resuming));
    }
    if resumes && options.no_save {
        return Err(conflict(
            "--no-save",
            if options.continue_latest { "--continue" } else { "--resume [chatId]" },
        ));
    }
    match (&options.resume, &options.new_session_id) {
        (Some(chat), _) => resume(chat),
        (None, _) if options.continue_latest => Ok(SessionChoice::Latest(1)),
        (None, Some(id)) => new(id),
        (None, None) => Ok(SessionChoice::New(SessionId::new(Uuid::new_v4().to_string()))),
    }
}

fn resume(chat: &str) -> Result<SessionChoice, Failure> {
    if chat.is_empty() {
        let remedy = "name a chat as in --resume=<id> (`ls` lists them), or use --continue for the latest";
        let message =
            format!("--resume without a chat id opens a picker, which print mode does not have: {remedy}");
        return Err(Failure::new(Exit::Usage, message));
    }
    if let Some(number) = chat.strip_prefix('-') {
        return match number.parse::<usize>() {
            Ok(number) if number > 0 => Ok(SessionChoice::Latest(number)),
            _ => Err(Failure::new(
                Exit::Usage,
                format!(
                    "option '--resume=-N' needs a number above 0, not '{}'",
                    crate::output::harmless(number)
                ),
            )),
        };
    }
    chat_id(chat).map(SessionChoice::Resume)
}

/// Understands the id of a chat: a UUID in its usual form.
fn chat_id(text: &str) -> Result<SessionId, Failure> {
    match Uuid::try_parse(text) {
        Ok(id) if text.len() == 36 => Ok(SessionId::new(id.to_string())),
        _ => {
            let shown = crate::output::harmless(text);
            Err(Failure::exact(
                Exit::NoSession,
                format!(
                    "Failed to claim persistent session for chat \"{shown}\": Persistent-session chat ID must be a UUID"
                ),
            ))
        }
    }
}

fn new(text: &str) -> Result<SessionChoice, Failure> {
    match Uuid::try_parse(text) {
        Ok(id) if text.len() == 36 && id.get_version() == Some(Version::Random) => {
            Ok(SessionChoice::New(SessionId::new(id.to_string())))
        }
        _ => Err(Failure::new(
            Exit::Usage,
            format!(
                "option '--new-session-id <uuid>' needs a UUIDv4, not '{}'",
                crate::output::harmless(text)
            ),
        )),
    }
}
