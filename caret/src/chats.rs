//! The chats on disk, as this user and this name of the program see them.

use crate::commands::sessions::Chats;
use crate::exit::Failure;
use crate::roots::Invoked;
use crate::settings::Settings;
use caret_engine::store::{DiskStore, StoreSettings};
use caret_engine::store::{FindError, Store, StoreError, Which};
use caret_protocol::agent::SessionSummary;
use caret_protocol::event::Stamped;
use caret_protocol::ids::SessionId;
use caret_protocol::transcript::Message;
use std::path::Path;

/// The store of the user.
pub fn store(settings: &Settings) -> Result<DiskStore, Failure> {
    let roots = settings.roots()?;
    Ok(DiskStore::new(StoreSettings {
        config_root: roots.config.clone(),
        data_root: roots.data.clone(),
        client: "cli",
        time_zone: settings.time_zone.clone(),
        // Under the documented names another program may look into the same folders after every turn.
        exact_root: settings.invoked != Invoked::Caret,
    }))
}

impl Chats for DiskStore {
    fn create(&self, cwd: &Path, id: &SessionId, title: Option<&str>) -> Result<(), StoreError> {
        Self::create(self, cwd, id, title)
    }

    fn list(&self, which: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError> {
        Store::list(self, which, most)
    }

    fn find(&self, which: Which<'_>, text: &str) -> Result<Vec<SessionSummary>, StoreError> {
        let cwd = match which {
            Which::Of(cwd) => Some(cwd),
            Which::All => None,
        };
        match Self::find(self, cwd, text) {
            Ok(chat) => Ok(vec![chat]),
            Err(FindError::None(_)) => Ok(Vec::new()),
            Err(FindError::Ambiguous(chats)) => Ok(chats),
            Err(FindError::Store(error)) => Err(error),
            Err(other) => Err(StoreError::Io { path: text.to_owned(), message: other.to_string() }),
        }
    }

    fn events(&self, chat: &SessionSummary) -> Result<Vec<Stamped>, StoreError> {
        self.open(&chat.cwd, &chat.session)?.events(0)
    }

    fn messages(&self, chat: &SessionSummary) -> Result<Vec<Message>, StoreError> {
        self.open(&chat.cwd, &chat.session)?.messages(u64::MAX)
    }

    fn remove(&self, chat: &SessionSummary) -> Result<(), StoreError> {
        Self::remove(self, &chat.session)
    }

    fn fork(&self, chat: &SessionSummary, new: &SessionId) -> Result<(), StoreError> {
        Self::fork(self, &chat.session, new)
    }

    fn search(
        &self,
        words: &str,
        which: Which<'_>,
        most: usize,
    ) -> Result<Vec<(SessionSummary, String)>, StoreError> {
        let hits = Self::search(self, words, which, most)?;
        let mut found: Vec<(SessionSummary, String)> = Vec::new();
        for hit in hits {
            if !found.iter().any(|(chat, _)| chat.session == hit.summary.session) {
                found.push((hit.summary, hit.snippet));
            }
        }
        Ok(found)
    }
}
