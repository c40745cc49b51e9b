//! `models`: which models can be reached now, from whom, and why others cannot.

use super::Call;
use crate::args::values::Format;
use crate::catalogue::Reach;
use crate::exit::{Exit, Failure};
use crate::models::{self, ModelChoice};
use crate::output::harmless;
use crate::providers::facts::Facts;
use crate::providers::listing::{self, Found};
use serde_json::{Value, json};

/// One line of the list.
struct Row {
    id: String,
    name: String,
    provider: String,
    facts: Option<Facts>,
}

/// Lists the models.
pub fn run(call: Call<'_>, format: Format) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let chosen = settings.chosen_model();
    let choice = models::choose(chosen, &settings.sources)?;
    let default = models::choose(models::AUTO, &settings.sources)?;
    let found = look(call, &settings.sources, &choice)?;
    let rows = rows(&found);
    let id = |choice: &ModelChoice| match choice {
        ModelChoice::Script(_) => chosen.to_owned(),
        ModelChoice::FirstOf { provider, .. } => {
            let first = rows.iter().find(|row| row.provider == *provider);
            first.map_or_else(|| models::AUTO.to_owned(), |row| row.id.clone())
        }
        other => other.id().split('[').next().unwrap_or_default().to_owned(),
    };
    let (current, default) = (id(&choice), id(&default));
    match format {
        Format::Json => call.output.json(&as_json(&rows, &found, &current, &default))?,
        Format::Text => call.output.write(&as_text(&rows, &found, &current, &default))?,
    }
    Ok(Exit::Success)
}

fn look(
    call: Call<'_>,
    sources: &crate::providers::Sources,
    choice: &ModelChoice,
) -> Result<Vec<Found>, Failure> {
    let reach = Reach::new(sources)?;
    let current = match choice {
        ModelChoice::Served(served) => Some(served.provider.clone()),
        ModelChoice::FirstOf { provider, .. } => Some(provider.clone()),
        ModelChoice::Listed { .. } | ModelChoice::Script(_) => None,
    };
    let runtime = super::runtime()?;
    let looking = listing::look(&reach.providers, &reach.transport, current.as_deref(), call.invoked.name());
    let found = runtime.block_on(looking);
    runtime.shutdown_background();
    Ok(found)
}

fn rows(found: &[Found]) -> Vec<Row> {
    let own = models::list().into_iter();
    let mut rows: Vec<Row> = own
        .map(|model| Row { id: model.id, name: model.name, provider: "caret".to_owned(), facts: None })
        .collect();
    for Found { provider, models } in found {
        for facts in models.iter().flatten() {
            let id = match provider.as_str() {
                crate::providers::ENDPOINT => facts.id.clone(),
                provider => format!("{provider}/{}", facts.id),
            };
            let name = facts.name.clone().unwrap_or_else(|| facts.id.clone());
            rows.push(Row { id, name, provider: provider.clone(), facts: Some(facts.clone()) });
        }
    }
    rows
}

fn as_json(rows: &[Row], found: &[Found], current: &str, default: &str) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let mut value = json!({ "id": row.id, "name": row.name, "current": row.id == current,
                                    "default": row.id == default, "provider": row.provider });
            if let (Some(value), Ok(Value::Object(facts))) =
                (value.as_object_mut(), serde_json::to_value(&row.facts))
            {
                value.extend(facts.into_iter().filter(|(key, _)| key != "id" && key != "name"));
            }
            value
        })
        .collect();
    let unreachable: Vec<Value> = unreachable(found)
        .map(|(provider, reason)| json!({ "provider": provider, "reason": reason }))
        .collect();
    json!({ "models": rows, "current": current, "unreachable": unreachable })
}

fn unreachable(found: &[Found]) -> impl Iterator<Item = (&str, &str)> {
    found.iter().filter_map(|found| Some((found.provider.as_str(), found.models.as_ref().err()?.as_str())))
}

fn as_text(rows: &[Row], found: &[Found], current: &str, default: &str) -> String {
    let mut text = "Available models\n\n".to_owned();
    for row in rows {
        let marks = match (row.id == current, row.id == default) {
            (true, true) => "  (current, default)",
            (true, false) => "  (current)",
            (false, true) => "  (default)",
            (false, false) => "",
        };
        text.push_str(&format!("{} - {}{marks}\n", harmless(&row.id), harmless(&row.name)));
    }
    let mut reasons = unreachable(found).peekable();
    if reasons.peek().is_some() {
        text.push_str("\nNot reachable\n\n");
    }
    for (provider, reason) in reasons {
        text.push_str(&format!("{}: {}\n", harmless(provider), harmless(reason)));
    }
    text.push_str("\nTip: use --model <id> to switch, or --model script:FILE for replies from a file.\n");
    text
}
