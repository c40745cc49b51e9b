//! Placeholders: `{{user}}`, `{{cwd}}`, `{{n}}` and `{{result.ID}}`, with the filters `first_line`, `lines`
//! (how many) and `trim`.
//!
//! There is no more to it: scripts hold no code.

use serde_json::Value;

/// Text with placeholders, checked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Slot { what: Slot, filters: Vec<Filter> },
}

#[derive(Clone, Debug, PartialEq)]
enum Slot {
    User,
    Cwd,
    Round,
    Result(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Filter {
    FirstLine,
    Lines,
    Trim,
}

/// Where the values come from.
pub(super) trait Values {
    /// The newest words of the user.
    fn user(&self) -> String;
    /// The workspace.
    fn cwd(&self) -> String;
    /// Which repetition of the turn this is, from 1.
    fn round(&self) -> u32;
    /// What the newest call with this id gave back.
    fn result(&self, id: &str) -> Result<String, crate::model::ModelError>;
}

impl Template {
    /// Reads text; unknown placeholders and filters are errors.
    pub(super) fn new(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((inside, behind)) = after.split_once("}}") else {
                return Err("`{{` is not closed with `}}`".into());
            };
            parts.push(Part::Text(before.to_owned()));
            parts.push(slot(inside)?);
            rest = behind;
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Ok(Self { parts })
    }

    /// The ids that `{{result.ID}}` names.
    pub(super) fn results(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot { what: Slot::Result(id), .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// The text with its placeholders filled.
    pub(super) fn fill(&self, values: &dyn Values) -> Result<String, crate::model::ModelError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Slot { what, filters } => {
                    let value = match what {
                        Slot::User => values.user(),
                        Slot::Cwd => values.cwd(),
                        Slot::Round => values.round().to_string(),
                        Slot::Result(id) => values.result(id)?,
                    };
                    text.push_str(&filters.iter().fold(value, |value, filter| filter.apply(&value)));
                }
            }
        }
        Ok(text)
    }
}

fn slot(inside: &str) -> Result<Part, String> {
    let mut words = inside.split('|').map(str::trim);
    let what = match words.next().unwrap_or_default() {
        "user" => Slot::User,
        "cwd" => Slot::Cwd,
        "n" => Slot::Round,
        other => match other.strip_prefix("result.").filter(|id| !id.is_empty()) {
            Some(id) => Slot::Result(id.to_owned()),
            None => {
                let known = "`user`, `cwd`, `n` or `result.ID`";
                return Err(format!("placeholder `{other}` is not known; write {known}"));
            }
        },
    };
    let filters = words.map(|word| match word {
        "first_line" => Ok(Filter::FirstLine),
        "lines" => Ok(Filter::Lines),
        "trim" => Ok(Filter::Trim),
        other => Err(format!("filter `{other}` is not known; write `first_line`, `lines` or `trim`")),
    });
    Ok(Part::Slot { what, filters: filters.collect::<Result<_, _>>()? })
}

impl Filter {
    fn apply(self, text: &str) -> String {
        match self {
            Self::FirstLine => text.lines().next().unwrap_or_default().to_owned(),
            Self::Lines => text.lines().count().to_string(),
            Self::Trim => text.trim().to_owned(),
        }
    }
}

/// Checks the placeholders of every text in a tool's input.
pub(super) fn check(input: &Value) -> Result<(), String> {
    match input {
        Value::String(text) => Template::new(text.clone()).map(drop),
        Value::Array(items) => items.iter().try_for_each(check),
        Value::Object(fields) => fields.values().try_for_each(check),
        _ => Ok(()),
    }
}

/// A tool's input with its placeholders filled.
pub(super) fn fill(input: &Value, values: &dyn Values) -> Result<Value, crate::model::ModelError> {
    Ok(match input {
        Value::String(text) => match Template::new(text.clone()) {
            Ok(template) => template.fill(values)?.into(),
            Err(_) => text.as_str().into(),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, values)).collect::<Result<_, _>>()?,
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, value)| Ok((key.clone(), fill(value, values)?)))
                .collect::<Result<_, crate::model::ModelError>>()?,
        ),
        other => other.clone(),
    })
}
