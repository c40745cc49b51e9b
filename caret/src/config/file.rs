//! Reads one configuration file, and takes care of one that cannot be used.
//!
//! A file that could not be read is never written. A file that could be read but not understood is put aside, so
//! that the user can mend it. Either way the program goes on with less: nothing is allowed that stood in there.

use super::{Layer, Origin, value};
use crate::files;
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};

/// Whether a missing or broken user's file is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFile {
    /// It is, as a run of the agent does.
    Make,
    /// Nothing is written.
    Leave,
}

/// What came of reading a file.
#[derive(Debug, Default, PartialEq)]
pub struct Read {
    /// What it says, if it is there and can be used.
    pub layer: Option<Layer>,
    /// What is wrong with it.
    pub warning: Option<String>,
    /// Whether all that was allowed below it counts no more: it may have denied some of that.
    pub forget_allowed: bool,
}

/// Why a file's values cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// The system does not let us read it.
    Unreadable(io::Error),
    /// It is not what it should be.
    Broken(String),
}

/// Reads the values of a file; absent is `None`.
pub fn values(path: &Path) -> Result<Option<Map<String, Value>>, Unusable> {
    let Some(bytes) = files::read(path).map_err(Unusable::Unreadable)? else { return Ok(None) };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Some(Map::new()));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(values)) => match value::fault(&values) {
            Some(fault) => Err(Unusable::Broken(fault)),
            None => Ok(Some(values)),
        },
        Ok(_) => Err(Unusable::Broken("it must be a JSON object".to_owned())),
        Err(error) => Err(Unusable::Broken(error.to_string())),
    }
}

/// Reads a file that is never written here.
pub fn read_only(path: &Path, origin: fn(PathBuf) -> Origin) -> Read {
    let shown = path.display();
    match values(path) {
        Ok(found) => Read {
            layer: found.map(|values| Layer { origin: origin(path.to_owned()), values }),
            ..Read::default()
        },
        Err(Unusable::Unreadable(error)) => Read {
            warning: Some(format!("{shown} cannot be read and is left out: {error}")),
            forget_allowed: true,
            ..Read::default()
        },
        Err(Unusable::Broken(fault)) => Read {
            warning: Some(format!("{shown} is broken and is left out: {fault}")),
            forget_allowed: true,
            ..Read::default()
        },
    }
}

/// Reads the user's own file.
pub fn user(path: &Path, file: UserFile) -> Read {
    let shown = path.display();
    match values(path) {
        Ok(None) if file == UserFile::Make => make(path),
        Err(Unusable::Broken(fault)) if file == UserFile::Make => {
            let warning = match put_aside(path) {
                Ok(aside) => format!(
                    "{shown} is broken ({fault}); it is now {}, and defaults apply: mend it and move it back",
                    aside.display()
                ),
                Err(error) => {
                    format!("{shown} is broken ({fault}) and cannot be moved ({error}); defaults apply")
                }
            };
            Read { warning: Some(warning), forget_allowed: true, ..Read::default() }
        }
        Ok(_) | Err(_) => remind(path, read_only(path, Origin::User)),
    }
}

/// A file that was put aside may hold rules that the user counts on.
fn remind(path: &Path, read: Read) -> Read {
    let aside =
        path.with_file_name(format!("{}.bad", path.file_name().unwrap_or_default().to_string_lossy()));
    if read.warning.is_some() || !aside.exists() {
        return read;
    }
    let shown = aside.display();
    let warning = format!("the rules in {shown} do not hold: mend that file and move it back, or delete it");
    Read { warning: Some(warning), ..read }
}

fn make(path: &Path) -> Read {
    let values = value::first_file();
    let warning = write(path, &values)
        .err()
        .map(|error| format!("{} cannot be written ({error}); defaults apply", path.display()));
    Read {
        layer: Some(Layer { origin: Origin::User(path.to_owned()), values }),
        warning,
        forget_allowed: false,
    }
}

/// Moves a broken file to a name beside it that is still free, and puts a careful new one in its place.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = (1..)
        .map(|number| match number {
            1 => path.with_file_name(format!("{name}.bad")),
            _ => path.with_file_name(format!("{name}.bad{number}")),
        })
        .find(|aside| aside.symlink_metadata().is_err())
        .unwrap_or_else(|| path.with_extension("bad"));
    std::fs::rename(path, &aside)?;
    let mut values = value::first_file();
    value::forget_allowed(&mut values);
    write(path, &values)?;
    Ok(aside)
}

/// Writes a user's file in one step.
pub fn write(path: &Path, values: &Map<String, Value>) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(values).map_err(io::Error::other)?;
    text.push('\n');
    match path.symlink_metadata() {
        // Some people keep their configuration elsewhere and link to it.
        Ok(meta) if meta.is_symlink() => files::replace_in_place(path, text.as_bytes()),
        _ => files::replace(path, text.as_bytes()),
    }
}

/// Adds a rule to `permissions.allow` of the user's file.
pub fn allow(path: &Path, rule: &str) -> Result<(), String> {
    change(path, |values| {
        let mut rules = match value::look_up(values, "/permissions/allow") {
            Some(Value::Array(rules)) => rules.clone(),
            _ => Vec::new(),
        };
        if !rules.iter().any(|known| known == rule) {
            rules.push(Value::from(rule));
        }
        value::set(values, "permissions.allow", Value::Array(rules))
    })
}

/// Changes the user's file: reads it, lets `change` have the values, adds the fields that must be there, and
/// writes it. A file that cannot be read or understood is not touched.
pub fn change(
    path: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    let shown = path.display();
    let mut values = match values(path) {
        Ok(Some(values)) => values,
        Ok(None) => value::first_file(),
        Err(Unusable::Unreadable(error)) => return Err(format!("{shown} cannot be read: {error}")),
        Err(Unusable::Broken(fault)) => return Err(format!("{shown} is broken: {fault}; mend it first")),
    };
    change(&mut values)?;
    for (key, default) in [
        ("version", serde_json::json!(1)),
        ("editor.vimMode", serde_json::json!(false)),
        ("permissions.allow", serde_json::json!([])),
        ("permissions.deny", serde_json::json!([])),
    ] {
        if value::look_up(&values, &key.replace('.', "/")).is_none() {
            value::set(&mut values, key, default)?;
        }
    }
    if let Some(fault) = value::fault(&values) {
        return Err(fault);
    }
    write(path, &values).map_err(|error| format!("{shown} cannot be written: {error}"))
}
