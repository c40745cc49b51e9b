//! Keys: where they are looked for, and the file that `login` keeps them in.
//!
//! Invariants: a key is held as a `Secret`, which cannot be printed; the file has mode 0600; what is shown to
//! people is where a key comes from.

use crate::exit::{Exit, Failure};
use crate::files;
use caret_engine::model::http::secret::Secret;
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// A key and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub secret: Secret,
    /// Where it comes from.
    pub source: KeySource,
}

/// Where a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// An option.
    Flag(&'static str),
    /// A variable of the environment.
    Variable(String),
    /// `key` of a provider in the user's configuration.
    Configuration,
    /// The file that `login` keeps.
    File(PathBuf),
}

impl fmt::Display for KeySource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => out.write_str(name),
            Self::Variable(name) => out.write_str(name),
            Self::Configuration => out.write_str("`providers` in cli-config.json"),
            Self::File(path) => write!(out, "{}", path.display()),
        }
    }
}

/// The keys that `login` took, by provider.
#[derive(Debug, Default)]
pub struct KeyFile {
    path: PathBuf,
    values: Map<String, Value>,
}

impl KeyFile {
    /// Reads the file; one that is not there holds nothing.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let unusable = |why: String| {
            Failure::new(Exit::Configuration, format!("{} {why}; mend or remove it", path.display()))
        };
        let bytes = files::read(path).map_err(|error| unusable(format!("cannot be read: {error}")))?;
        let values = match bytes.as_deref().map(serde_json::from_slice) {
            None => Map::new(),
            Some(Ok(Value::Object(values))) => values,
            // What the parser would say could quote a key.
            Some(_) => return Err(unusable("is no JSON object".to_owned())),
        };
        Ok(Self { path: path.to_owned(), values })
    }

    /// The key of a provider.
    pub fn get(&self, provider: &str) -> Option<Key> {
        let key =
            self.values.get("keys")?.get(provider)?.get("key")?.as_str().filter(|key| !key.is_empty())?;
        Some(Key { secret: Secret::new(key), source: KeySource::File(self.path.clone()) })
    }

    /// The providers that have a key in here.
    pub fn providers(&self) -> Vec<String> {
        self.values
            .get("keys")
            .and_then(Value::as_object)
            .map(|keys| keys.keys().cloned().collect())
            .unwrap_or_default()
    }

    /// Keeps a key.
    pub fn set(&mut self, provider: &str, key: &Secret) -> Result<(), Failure> {
        self.values.insert("version".to_owned(), json!(1));
        let keys = self.values.entry("keys").or_insert_with(|| json!({}));
        if let Some(keys) = keys.as_object_mut() {
            keys.insert(provider.to_owned(), json!({ "key": key.reveal() }));
        }
        self.write()
    }

    /// Forgets a key; says whether there was one.
    pub fn remove(&mut self, provider: &str) -> Result<bool, Failure> {
        let keys = self.values.get_mut("keys").and_then(Value::as_object_mut);
        if keys.and_then(|keys| keys.shift_remove(provider)).is_none() {
            return Ok(false);
        }
        self.write().map(|()| true)
    }

    fn write(&self) -> Result<(), Failure> {
        let text = format!("{:#}\n", Value::Object(self.values.clone()));
        files::replace(&self.path, text.as_bytes()).map_err(|error| {
            Failure::new(Exit::Configuration, format!("{} cannot be written: {error}", self.path.display()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn keys_are_kept_for_the_user_only_and_other_contents_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("root/auth.json");
        let mut file = KeyFile::read(&path).unwrap();
        assert_eq!(file.get("openai"), None);
        file.set("openai", &Secret::new("one\n")).unwrap();
        file.set("gemini", &Secret::new("two")).unwrap();
        let mut file = KeyFile::read(&path).unwrap();
        let expected = Key { secret: Secret::new("one"), source: KeySource::File(path.clone()) };
        assert_eq!(
            (file.get("openai"), file.providers()),
            (Some(expected), vec!["openai".to_owned(), "gemini".into()])
        );
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!((file.remove("openai"), file.remove("openai")), (Ok(true), Ok(false)));
        assert_eq!(KeyFile::read(&path).unwrap().providers(), ["gemini"]);
    }

    #[test]
    fn a_broken_file_is_refused_without_being_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auth.json");
        std::fs::write(&path, "{\"keys\": canary").unwrap();
        let Err(Failure::Told { message, .. }) = KeyFile::read(&path) else { panic!("it was read") };
        assert!(message.ends_with("auth.json is no JSON object; mend or remove it"), "{message}");
    }
}
