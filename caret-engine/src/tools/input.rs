//! Takes arguments out of what a model sent, and says what is wrong with them.
//!
//! Models trained elsewhere use other names for the same thing and write numbers as text; where the
//! meaning is plain it is taken. What is wrong is said with the name of the argument and the form that
//! was expected, because the model's next try is all that depends on it.

use super::{Place, ToolError};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The arguments of one call.
pub(crate) struct Input<'a> {
    arguments: &'a Map<String, Value>,
    form: &'static str,
}

/// The names that models use for the path of a file.
pub(crate) const PATH: &[&str] = &["path", "file_path", "target_file", "filePath", "filename", "file"];

impl<'a> Input<'a> {
    /// Wraps a call's input; `form` shows how a right one looks.
    pub(crate) fn new(value: &'a Value, form: &'static str) -> Result<Self, ToolError> {
        static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        match value {
            Value::Object(arguments) => Ok(Self { arguments, form }),
            Value::Null => Ok(Self { arguments: &NONE, form }),
            _ => Err(ToolError::new(format!("the input must be a JSON object; expected {form}"))),
        }
    }

    /// The first of `names` that is there and not null, with the name that was used.
    fn get<'n>(&self, names: &'n [&'n str]) -> Option<(&'n str, &'a Value)> {
        names.iter().find_map(|name| match self.arguments.get(*name) {
            None | Some(Value::Null) => None,
            Some(value) => Some((*name, value)),
        })
    }

    /// An error that shows the form.
    pub(crate) fn wrong(&self, message: impl std::fmt::Display) -> ToolError {
        ToolError::new(format!("{message}; expected {}", self.form))
    }

    fn missing(&self, names: &[&str]) -> ToolError {
        self.wrong(format!("`{}` is missing", names.first().unwrap_or(&"input")))
    }

    fn mistyped(&self, name: &str, wanted: &str, value: &Value) -> ToolError {
        let mut shown = value.to_string();
        if let Some((cut, _)) = shown.char_indices().nth(60) {
            shown.truncate(cut);
            shown.push('…');
        }
        self.wrong(format!("`{name}` must be {wanted}, not {shown}"))
    }

    /// A text that must be there; it may be empty.
    pub(crate) fn text(&self, names: &[&str]) -> Result<String, ToolError> {
        self.optional_text(names)?.ok_or_else(|| self.missing(names))
    }

    /// A text that may be left out.
    pub(crate) fn optional_text(&self, names: &[&str]) -> Result<Option<String>, ToolError> {
        match self.get(names) {
            None => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text.clone())),
            Some((name, other)) => Err(self.mistyped(name, "a string", other)),
        }
    }

    /// A path that must be there, absolute.
    pub(crate) fn path(&self, place: &Place) -> Result<PathBuf, ToolError> {
        let text = self.text(PATH)?;
        self.resolved(place, &text)
    }

    /// Makes a path absolute; refuses what no file can be called.
    pub(crate) fn resolved(&self, place: &Place, text: &str) -> Result<PathBuf, ToolError> {
        if text.is_empty() || text.contains('\0') {
            return Err(self.wrong("`path` is empty or has a NUL character"));
        }
        Ok(place.resolve(text))
    }

    /// A whole number that may be left out.
    pub(crate) fn integer(&self, names: &[&str]) -> Result<Option<i64>, ToolError> {
        let Some((name, value)) = self.get(names) else { return Ok(None) };
        let number = match value {
            // A model may write 10.0; a fraction would be rounded away from what it meant.
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| self.mistyped(name, "a whole number", value))
    }

    /// A count that may be left out.
    pub(crate) fn count(&self, names: &[&str]) -> Result<Option<usize>, ToolError> {
        let Some(number) = self.integer(names)? else { return Ok(None) };
        usize::try_from(number)
            .map(Some)
            .map_err(|_| self.wrong(format!("`{}` must not be negative", names.first().unwrap_or(&"number"))))
    }

    /// A yes or no that may be left out, which means no.
    pub(crate) fn flag(&self, names: &[&str]) -> Result<bool, ToolError> {
        match self.get(names) {
            None => Ok(false),
            Some((_, Value::Bool(yes))) => Ok(*yes),
            Some((_, Value::String(text))) if text == "true" || text == "false" => Ok(text == "true"),
            Some((name, other)) => Err(self.mistyped(name, "true or false", other)),
        }
    }

    /// A list that must be there.
    pub(crate) fn list(&self, names: &[&str]) -> Result<&'a [Value], ToolError> {
        match self.get(names) {
            None => Err(self.missing(names)),
            Some((_, Value::Array(list))) => Ok(list),
            Some((name, other)) => Err(self.mistyped(name, "a list", other)),
        }
    }

    /// Texts that may be left out; a single text is a list of one.
    pub(crate) fn texts(&self, names: &[&str]) -> Result<Vec<String>, ToolError> {
        match self.get(names) {
            None => Ok(Vec::new()),
            Some((_, Value::String(text))) => Ok(vec![text.clone()]),
            Some((name, Value::Array(list))) => list
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(|| self.mistyped(name, "a list of strings", &Value::Array(list.clone()))),
            Some((name, other)) => Err(self.mistyped(name, "a list of strings", other)),
        }
    }

    /// One entry of a list, to be read with the same form.
    pub(crate) fn entry(&self, value: &'a Value, name: &str) -> Result<Self, ToolError> {
        match value {
            Value::Object(arguments) => Ok(Self { arguments, form: self.form }),
            other => Err(self.mistyped(name, "a JSON object", other)),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}
