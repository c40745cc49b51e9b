//! `models`: which models there are.

use super::Call;
use crate::args::values::Format;
use crate::exit::{Exit, Failure};
use crate::models::{self, ModelChoice};
use serde_json::json;

/// Lists the models.
pub fn run(call: Call<'_>, format: Format) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let list = models::list();
    let chosen = settings.chosen_model();
    let current = match models::choose(chosen, &list)? {
        ModelChoice::Listed { id, .. } => id,
        ModelChoice::Script(_) => chosen.to_owned(),
    };
    match format {
        Format::Json => {
            let rows: Vec<_> = list
                .iter()
                .map(|model| {
                    let is = |id: &str| model.id == id;
                    json!({ "id": model.id, "name": model.name, "current": is(&current),
                            "default": is(models::DEFAULT) })
                })
                .collect();
            call.output.json(&json!({ "models": rows, "current": current }))?;
        }
        Format::Text => {
            let mut text = "Available models\n\n".to_owned();
            for model in &list {
                let marks = match (model.id == current, model.id == models::DEFAULT) {
                    (true, true) => "  (current, default)",
                    (true, false) => "  (current)",
                    (false, true) => "  (default)",
                    (false, false) => "",
                };
                text.push_str(&format!("{} - {}{marks}\n", model.id, model.name));
            }
            text.push_str(
                "\nTip: use --model <id> to switch, or --model script:FILE for replies from a file.\n",
            );
            call.output.write(&text)?;
        }
    }
    Ok(Exit::Success)
}
