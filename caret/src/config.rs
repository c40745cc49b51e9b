//! What the configuration files say, each value with where it comes from.
//!
//! Layers lie on top of each other: defaults, the folder that is only read, the user's file, the project's
//! files from the repository's root down to the workspace. A project is somebody else's word: it can never
//! loosen what the user set, and an untrusted one can only deny.

pub mod file;
pub mod value;

use crate::roots::Roots;
pub use file::UserFile;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is built in.
    Default,
    /// The user's file, or the one below it.
    User(PathBuf),
    /// A file of the project.
    Project(PathBuf),
    /// A variable of the environment.
    Environment(&'static str),
    /// An option on the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::User(path) => write!(out, "user: {}", path.display()),
            Self::Project(path) => write!(out, "project: {}", path.display()),
            Self::Environment(name) => write!(out, "environment: {name}"),
            Self::Flag(name) => write!(out, "flag: {name}"),
        }
    }
}

/// What one file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Which file.
    pub origin: Origin,
    /// All of it.
    pub values: Map<String, Value>,
}

/// All layers, lowest first, and what was wrong with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Lowest first.
    pub layers: Vec<Layer>,
    /// One sentence for each file that could not be used.
    pub warnings: Vec<String>,
    /// A file of the user could not be understood, so that it is not known what it denies.
    pub unsure: bool,
}

/// Whether the project's files count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectTrust {
    /// They do.
    Trusted,
    /// Only what they deny counts.
    Untrusted,
}

/// One effective value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name, with dots.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Where it comes from; a list that is united has several.
    pub origins: Vec<Origin>,
}

/// One rule of `permissions`, such as `Shell(ls)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The token as it was written.
    pub token: String,
    /// Who wrote it.
    pub origin: Origin,
}

impl Config {
    /// Reads the user's files; a missing one is made when `file` says so.
    pub fn of_user(roots: Option<&Roots>, file: UserFile) -> Self {
        let mut config = Self { layers: vec![value::defaults()], ..Self::default() };
        let Some(roots) = roots else { return config };
        if let Some(below) = &roots.below {
            config.add(file::read_only(&below.join("cli-config.json"), Origin::User));
        }
        config.add(file::user(&roots.config_file(), file));
        config
    }

    /// Adds the project's files, from the repository's root down to the workspace.
    pub fn add_project(&mut self, workspace: &Path, trust: ProjectTrust) {
        for folder in project_folders(workspace) {
            for name in [".cursor/cli.json", ".caret/cli.json"] {
                let mut read = file::read_only(&folder.join(name), Origin::Project);
                if let Some(layer) = &mut read.layer {
                    let current = self.effective();
                    value::narrow(&mut layer.values, &current, trust);
                }
                self.add(read);
            }
        }
    }

    /// Puts one value on top of all layers.
    pub fn add_value(&mut self, origin: Origin, key: &str, text: &str) {
        let mut values = Map::new();
        // A new map has nothing in the way.
        drop(value::set(&mut values, key, Value::String(text.to_owned())));
        self.layers.push(Layer { origin, values });
    }

    fn add(&mut self, read: file::Read) {
        self.warnings.extend(read.warning);
        self.unsure |= read.forget_allowed;
        if read.forget_allowed {
            for layer in &mut self.layers {
                value::forget_allowed(&mut layer.values);
            }
        }
        self.layers.extend(read.layer);
    }

    /// All effective values by name, sorted; lists of permissions are united, anything else is the topmost.
    pub fn effective(&self) -> Vec<Setting> {
        let mut settings: Vec<Setting> = Vec::new();
        for layer in &self.layers {
            for (key, value) in value::flatten(&layer.values) {
                match settings.iter_mut().find(|setting| setting.key == key) {
                    Some(setting) if value::is_united(&key) => unite(setting, &value, &layer.origin),
                    Some(setting) => {
                        setting.value = value;
                        setting.origins = vec![layer.origin.clone()];
                    }
                    None => settings.push(Setting { key, value, origins: vec![layer.origin.clone()] }),
                }
            }
        }
        settings.sort_by(|one, other| one.key.cmp(&other.key));
        settings
    }

    /// The topmost value of a name, with its origin.
    pub fn get(&self, key: &str) -> Option<(&Value, &Origin)> {
        let pointer = format!("/{}", key.replace('.', "/"));
        self.layers.iter().rev().find_map(|layer| {
            let value = value::look_up(&layer.values, &pointer)?;
            Some((value, &layer.origin))
        })
    }

    /// The topmost value of a name, if it is text.
    pub fn text(&self, key: &str) -> Option<(&str, &Origin)> {
        let (value, origin) = self.get(key)?;
        Some((value.as_str()?, origin))
    }

    /// The texts of a list.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let list = self.get(key).and_then(|(value, _)| value.as_array());
        list.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// The rules of `permissions.allow` or `permissions.deny` of all layers, lowest first.
    pub fn rules(&self, list: &str) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::new();
        for layer in &self.layers {
            let Some(tokens) = value::look_up(&layer.values, &format!("/permissions/{list}")) else {
                continue;
            };
            for token in tokens.as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !rules.iter().any(|rule| rule.token == token) {
                    rules.push(Rule { token: token.to_owned(), origin: layer.origin.clone() });
                }
            }
        }
        rules
    }
}

fn unite(setting: &mut Setting, more: &Value, origin: &Origin) {
    let (Value::Array(all), Value::Array(more)) = (&mut setting.value, more) else { return };
    if all.is_empty() {
        setting.origins.clear();
    }
    if !more.is_empty() || setting.origins.is_empty() {
        setting.origins.push(origin.clone());
    }
    for value in more {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
}

/// The folders whose project files count: from the repository's root down to the workspace, or the workspace
/// alone when it is in no repository.
pub fn project_folders(workspace: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for folder in workspace.ancestors() {
        folders.push(folder.to_owned());
        if folder.join(".git").symlink_metadata().is_ok() {
            folders.reverse();
            return folders;
        }
    }
    vec![workspace.to_owned()]
}

#[cfg(test)]
mod tests;
