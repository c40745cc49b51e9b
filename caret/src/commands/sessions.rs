//! The commands that look after chats: list, find, write out, copy, remove.
//!
//! They see the chats through one small trait, so that they can be tested without a disk and so that the store
//! can change its own shape.

mod export;
mod picker;
mod sums;

use super::Call;
use crate::args::commands::{Export, List, Search, Stats};
use crate::args::values::{ExportFormat, Format};
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use crate::settings::{self, Settings};
use caret_engine::store::{StoreError, Which};
use caret_protocol::agent::SessionSummary;
use caret_protocol::event::Stamped;
use caret_protocol::ids::SessionId;
use caret_protocol::transcript::Message;
use serde_json::{Value, json};
use std::path::Path;

/// The chats on disk, as far as these commands need them.
pub trait Chats {
    /// Makes an empty chat.
    fn create(&self, cwd: &Path, id: &SessionId, title: Option<&str>) -> Result<(), StoreError>;
    /// The chats of one workspace, or of all, newest first; at most `most`.
    fn list(&self, which: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError>;
    /// All chats that an id, the beginning of an id, or a title can mean.
    fn find(&self, which: Which<'_>, text: &str) -> Result<Vec<SessionSummary>, StoreError>;
    /// All events of a chat, in order.
    fn events(&self, chat: &SessionSummary) -> Result<Vec<Stamped>, StoreError>;
    /// The conversation of a chat, oldest first.
    fn messages(&self, chat: &SessionSummary) -> Result<Vec<Message>, StoreError>;
    /// Removes a chat with everything that belongs to it.
    fn remove(&self, chat: &SessionSummary) -> Result<(), StoreError>;
    /// Copies a chat under a new id.
    fn fork(&self, chat: &SessionSummary, new: &SessionId) -> Result<(), StoreError>;
    /// The chats whose title or messages have these words, with a piece of what was found.
    fn search(
        &self,
        words: &str,
        which: Which<'_>,
        most: usize,
    ) -> Result<Vec<(SessionSummary, String)>, StoreError>;
}

/// Opens the chats of the user.
fn open(settings: &Settings) -> Result<Box<dyn Chats>, Failure> {
    Ok(Box::new(crate::chats::store(settings)?))
}

/// `create-chat`
pub fn create(call: Call<'_>) -> Result<Exit, Failure> {
    let id = match settings::choose_session(call.options)? {
        settings::SessionChoice::New(id) => id,
        _ => return Err(Failure::new(Exit::Usage, "'create-chat' makes a new chat and resumes none")),
    };
    let settings = call.settings()?;
    let title = call.options.name.as_deref();
    open(&settings)?.create(&settings.workspace, &id, title).map_err(|error| told(&error))?;
    call.output.line(id.as_str())?;
    Ok(Exit::Success)
}

/// `ls`
pub fn list(call: Call<'_>, arguments: &List) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let chats = open(&settings)?;
    let which = which(&settings, arguments.all);
    let most = usize::try_from(arguments.most).unwrap_or(usize::MAX);
    let found = chats.list(which, most).map_err(|error| told(&error))?;
    let can_pick = call.environment.can_ask() && call.environment.stdout_is_terminal;
    match arguments.format {
        None if can_pick && !found.is_empty() => {
            let picked = picker::pick(&found, call.output, &mut std::io::stdin().lock());
            if let Some(chat) = picked {
                call.output.line(&how_to_resume(call.invoked.name(), chat))?;
            }
        }
        Some(Format::Json) => call.output.json(&json!({ "chats": rows(&found) }))?,
        None | Some(Format::Text) => call.output.write(&table(&found, arguments.all))?,
    }
    Ok(Exit::Success)
}

/// `export`
pub fn export(call: Call<'_>, arguments: &Export) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let chats = open(&settings)?;
    let chat = one(&*chats, &settings.workspace, &arguments.id)?;
    let text = match arguments.format {
        ExportFormat::Jsonl => export::lines(&chats.events(&chat).map_err(|error| told(&error))?)?,
        ExportFormat::Markdown => {
            let mut sum = sums::Sum::default();
            sum.add(&chats.events(&chat).map_err(|error| told(&error))?);
            export::markdown(&chat, &chats.messages(&chat).map_err(|error| told(&error))?, &sum)
        }
    };
    match &arguments.out {
        None => call.output.write(&text)?,
        Some(path) => export::save(&call.environment.absolute(Path::new(path)), &text)?,
    }
    Ok(Exit::Success)
}

/// `stats`
pub fn stats(call: Call<'_>, arguments: &Stats) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let chats = open(&settings)?;
    let sum = sum(&*chats, &settings, arguments)?;
    match arguments.format {
        Format::Json => call.output.json(&sum.json())?,
        Format::Text => call.output.write(&sum.text())?,
    }
    Ok(Exit::Success)
}

fn sum(chats: &dyn Chats, settings: &Settings, arguments: &Stats) -> Result<sums::Sum, Failure> {
    let wanted = match &arguments.id {
        Some(id) => vec![one(chats, &settings.workspace, id)?],
        None => chats.list(which(settings, arguments.all), usize::MAX).map_err(|error| told(&error))?,
    };
    let mut sum = sums::Sum::default();
    for chat in &wanted {
        sum.add(&chats.events(chat).map_err(|error| told(&error))?);
    }
    Ok(sum)
}

/// `rm`
pub fn remove(call: Call<'_>, ids: &[String]) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let chats = open(&settings)?;
    for id in remove_all(&*chats, &settings.workspace, ids)? {
        call.output.line(&format!("✓ Removed {id}"))?;
    }
    Ok(Exit::Success)
}

/// `fork`
pub fn fork(call: Call<'_>, id: &str) -> Result<Exit, Failure> {
    let new = match settings::choose_session(call.options)? {
        settings::SessionChoice::New(id) => id,
        _ => return Err(Failure::new(Exit::Usage, "'fork' makes a new chat: name the old one after it")),
    };
    let settings = call.settings()?;
    let chats = open(&settings)?;
    let chat = one(&*chats, &settings.workspace, id)?;
    chats.fork(&chat, &new).map_err(|error| told(&error))?;
    call.output.line(new.as_str())?;
    Ok(Exit::Success)
}

/// `search`
pub fn search(call: Call<'_>, arguments: &Search) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let chats = open(&settings)?;
    let words = arguments.words.join(" ");
    let found = chats.search(&words, which(&settings, arguments.all), 100).map_err(|error| told(&error))?;
    match arguments.format {
        Format::Json => {
            let rows: Vec<Value> = found
                .iter()
                .map(|(chat, piece)| {
                    let mut row = row(chat);
                    row["match"] = json!(piece);
                    row
                })
                .collect();
            call.output.json(&json!({ "chats": rows }))?;
        }
        Format::Text => {
            let text: String = found
                .iter()
                .map(|(chat, piece)| format!("{}    {}\n", line(chat, arguments.all), harmless(piece)))
                .collect();
            call.output.write(&text)?;
        }
    }
    Ok(Exit::Success)
}

/// The N-th most recent chat of the workspace.
pub fn latest(settings: &Settings, number: usize) -> Result<SessionSummary, Failure> {
    nth(&*open(settings)?, &settings.workspace, number)
}

/// Whether a chat of this workspace has this id and something was said in it.
pub fn is_there(settings: &Settings, id: &SessionId) -> Result<bool, Failure> {
    let project = caret_engine::store::project_id(&settings.workspace);
    Ok(settings.roots()?.chats().join(project).join(id.as_str()).join("caret.db").exists())
}

/// Tells when an id belongs to a chat of another workspace: here it starts a new one.
pub fn warn_of_elsewhere(settings: &Settings, id: &SessionId, quiet: bool) -> Result<(), Failure> {
    let roots = settings.roots()?;
    let here = caret_engine::store::project_id(&settings.workspace);
    if quiet || roots.chats().join(here).join(id.as_str()).exists() {
        return Ok(());
    }
    let projects = roots.chats().read_dir().into_iter().flatten().flatten();
    if projects.into_iter().any(|project| project.path().join(id.as_str()).exists()) {
        let text = format!("chat {id} belongs to another workspace; a new one is started under its id here");
        crate::output::Output::default().warn(&text);
    }
    Ok(())
}

/// How a chat is resumed.
pub fn how_to_resume(name: &str, chat: &SessionSummary) -> String {
    format!("To go on:  {name} -p --resume {} \"…\"", chat.session)
}

fn nth(chats: &dyn Chats, cwd: &Path, number: usize) -> Result<SessionSummary, Failure> {
    let mut found = chats.list(Which::Of(cwd), number).map_err(|error| told(&error))?;
    match (found.len(), number) {
        (0, _) => Err(Failure::exact(Exit::NoSession, "No previous chats found.")),
        (there, wanted) if there < wanted => Err(Failure::new(
            Exit::NoSession,
            format!("there are only {there} chats in this workspace, so there is no --resume=-{wanted}"),
        )),
        _ => Ok(found.swap_remove(number - 1)),
    }
}

/// The one chat that a text means: of this workspace, or else of any.
fn one(chats: &dyn Chats, cwd: &Path, text: &str) -> Result<SessionSummary, Failure> {
    let mut found = chats.find(Which::Of(cwd), text).map_err(|error| told(&error))?;
    if found.is_empty() {
        found = chats.find(Which::All, text).map_err(|error| told(&error))?;
    }
    let shown = harmless(text);
    match found.len() {
        0 => Err(Failure::new(
            Exit::NoSession,
            format!("there is no chat '{shown}': `ls --all` lists all chats"),
        )),
        1 => Ok(found.swap_remove(0)),
        _ => {
            let ids: Vec<&str> = found.iter().map(|chat| chat.session.as_str()).collect();
            let message = format!("'{shown}' can mean several chats: {}", ids.join(", "));
            Err(Failure::new(Exit::Usage, message))
        }
    }
}

/// Removes chats; nothing is removed when one of them cannot be found.
fn remove_all(chats: &dyn Chats, cwd: &Path, texts: &[String]) -> Result<Vec<SessionId>, Failure> {
    let mut wanted: Vec<SessionSummary> = Vec::new();
    for text in texts {
        let chat = one(chats, cwd, text)?;
        if !wanted.iter().any(|other| other.session == chat.session) {
            wanted.push(chat);
        }
    }
    for chat in &wanted {
        chats.remove(chat).map_err(|error| told(&error))?;
    }
    Ok(wanted.into_iter().map(|chat| chat.session).collect())
}

fn which(settings: &Settings, all: bool) -> Which<'_> {
    match all {
        true => Which::All,
        false => Which::Of(&settings.workspace),
    }
}

fn told(error: &StoreError) -> Failure {
    let exit = match error {
        StoreError::Missing(_) => Exit::NoSession,
        _ => Exit::Configuration,
    };
    Failure::new(exit, error)
}

fn rows(chats: &[SessionSummary]) -> Vec<Value> {
    chats.iter().map(row).collect()
}

fn row(chat: &SessionSummary) -> Value {
    json!({
        "id": chat.session.as_str(),
        "title": chat.title,
        "cwd": chat.cwd.to_string_lossy(),
        "createdAtMs": chat.created_ms,
        "updatedAtMs": chat.updated_ms,
        "hasConversation": chat.has_conversation,
    })
}

fn table(chats: &[SessionSummary], with_folders: bool) -> String {
    match chats.is_empty() {
        true => "No previous chats found.\n".to_owned(),
        false => chats.iter().map(|chat| line(chat, with_folders)).collect(),
    }
}

fn line(chat: &SessionSummary, with_folder: bool) -> String {
    let folder = match with_folder {
        true => format!("  {}", harmless(&chat.cwd.to_string_lossy())),
        false => String::new(),
    };
    let when = export::time(chat.updated_ms);
    format!("{}  {when}{folder}  {}\n", chat.session, harmless(&chat.title))
}

#[cfg(test)]
mod tests;
