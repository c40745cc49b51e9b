//! `doctor`: what works here, what is missing, and a remedy for each.
//!
//! It only looks: nothing is written and no secret is shown. A check that fails makes the exit code 1; a
//! remark does not.

use super::{Call, update};
use crate::args::commands::Doctor;
use crate::exit::{Exit, Failure};
use crate::models::{self, ModelChoice};
use crate::output::harmless;
use crate::providers::Providers;
use crate::settings::Settings;
use crate::trust::Standing;
use crate::version;
use serde_json::json;
use std::path::{Path, PathBuf};

/// One row.
struct Check {
    name: &'static str,
    level: Level,
    found: String,
    remedy: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Good,
    Remark,
    Bad,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, level: Level::Good, found: found.into(), remedy: None }
    }

    fn remark(name: &'static str, found: impl Into<String>, remedy: &str) -> Self {
        Self { name, level: Level::Remark, found: found.into(), remedy: Some(remedy.to_owned()) }
    }

    fn bad(name: &'static str, found: impl Into<String>, remedy: &str) -> Self {
        Self { name, level: Level::Bad, found: found.into(), remedy: Some(remedy.to_owned()) }
    }
}

/// Looks at everything.
pub fn run(call: Call<'_>, arguments: &Doctor) -> Result<Exit, Failure> {
    let mut checks = vec![Check::good("version", format!("{} ({})", version::DATE, version::SEMANTIC))];
    checks.push(installation(call));
    checks.extend(programs(call));
    match Settings::find(call.invoked, call.options, call.environment) {
        Ok(settings) => checks.extend(of_settings(call, &settings)),
        Err(Failure::Told { message, .. }) => {
            checks.push(Check::bad("settings", message.trim_start_matches("error: "), "see the message"));
        }
        Err(failure) => return Err(failure),
    }
    checks.push(terminal(call));
    match arguments.json {
        true => call.output.json(&as_json(&checks))?,
        false => call.output.write(&as_text(&checks))?,
    }
    match checks.iter().any(|check| check.level == Level::Bad) {
        true => Ok(Exit::Failed),
        false => Ok(Exit::Success),
    }
}

fn installation(call: Call<'_>) -> Check {
    let file = call.environment.executable.clone().map(|path| path.canonicalize().unwrap_or(path));
    let (how, _) = update::installation(file.as_deref());
    let shown = |path: &Path| path.display().to_string();
    let first = call.environment.find_program("caret");
    let is_first = first.as_ref().and_then(|path| path.canonicalize().ok()) == file;
    match (&file, &first) {
        (Some(file), Some(first)) if !is_first => Check::remark(
            "installation",
            format!("{} ({how}); but `caret` on PATH is {}", shown(file), shown(first)),
            "change the order of PATH, or remove the other one",
        ),
        (Some(file), _) => Check::good("installation", format!("{} ({how})", shown(file))),
        (None, _) => {
            Check::remark("installation", "the program's own file cannot be found", "install it again")
        }
    }
}

fn programs(call: Call<'_>) -> Vec<Check> {
    let find = |name: &str| call.environment.find_program(name).map(|path| path.display().to_string());
    let shell = match find("bash").or_else(|| find("sh")) {
        Some(path) => Check::good("shell", path),
        None => Check::bad("shell", "neither bash nor sh is on PATH", "install bash, or mend PATH"),
    };
    let git = match find("git") {
        Some(path) => Check::good("git", path),
        None => Check::remark("git", "not on PATH", "install git to let the agent see changes"),
    };
    vec![shell, git]
}

fn of_settings(call: Call<'_>, settings: &Settings) -> Vec<Check> {
    let mut checks = vec![Check::good("workspace", harmless(&settings.workspace.to_string_lossy()))];
    checks.push(match settings.standing() {
        Standing::Trusted => Check::good("trust", "this workspace is trusted"),
        Standing::Changed => {
            Check::remark("trust", "files that steer the agent have changed", "run `caret trust add`")
        }
        Standing::Unknown => Check::remark("trust", "this workspace is not trusted", "run `caret trust add`"),
    });
    if let Some(roots) = &settings.roots {
        checks.push(writable("config folder", &roots.config));
        if roots.data != roots.config {
            checks.push(writable("data folder", &roots.data));
        }
        checks.push(space(&roots.config));
    }
    checks.push(match settings.config.warnings.as_slice() {
        [] => Check::good("config", "all files can be read"),
        warnings => Check::bad("config", harmless(&warnings.join("; ")), "mend or remove the file"),
    });
    checks.extend(models_and_keys(call, settings));
    checks.push(Check::remark(
        "sandbox",
        "not available in this version",
        "commands are guarded by permissions only",
    ));
    checks
}

fn models_and_keys(call: Call<'_>, settings: &Settings) -> Vec<Check> {
    let bad = |name, failure: Failure| match failure {
        Failure::Told { message, .. } => {
            Check::bad(name, harmless(message.trim_start_matches("error: ")), "see the message")
        }
        Failure::NobodyReads => Check::good(name, "not looked at"),
    };
    let chosen = models::choose(settings.chosen_model(), &settings.sources).and_then(|choice| {
        models::check_key(&choice, &settings.sources, call.invoked.name())?;
        Ok(match choice {
            ModelChoice::Listed { id, .. } => format!("{id} (needs no account)"),
            ModelChoice::FirstOf { provider, .. } => format!("the first that {provider} lists"),
            other => other.id(),
        })
    });
    let model = chosen.map_or_else(|failure| bad("model", failure), |id| Check::good("model", harmless(&id)));
    let keys = Providers::new(&settings.sources).map(|providers| {
        let general = ["CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"].into_iter();
        let general = general.filter(|name| call.environment.text(name).is_some()).map(str::to_owned);
        let own = providers
            .all()
            .iter()
            .filter_map(|provider| Some(format!("{} from {}", provider.name, provider.key.as_ref()?.source)));
        own.chain(general).collect::<Vec<_>>().join(", ")
    });
    let keys = keys.map_or_else(
        |failure| bad("credentials", failure),
        |keys| match keys.is_empty() {
            true => Check::good("credentials", "none; the offline model needs none"),
            false => Check::good("credentials", format!("{} (not shown)", harmless(&keys))),
        },
    );
    vec![model, keys]
}

fn writable(name: &'static str, folder: &Path) -> Check {
    let there = nearest(folder);
    let shown = folder.display();
    if !there.is_dir() {
        return Check::bad(
            name,
            format!("{} is not a directory", there.display()),
            "move the file away, or set CARET_HOME",
        );
    }
    match rustix::fs::access(&there, rustix::fs::Access::WRITE_OK) {
        Ok(()) => Check::good(name, shown.to_string()),
        Err(error) => Check::bad(
            name,
            format!("{shown} cannot be written: {}", std::io::Error::from(error)),
            "change its permissions, set CARET_HOME, or use --no-save",
        ),
    }
}

fn space(folder: &Path) -> Check {
    match rustix::fs::statvfs(nearest(folder)) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize) >> 20;
            let found = format!("{free} MiB free");
            match free < 100 {
                true => Check::bad("disk", found, "free some space: chats are kept here"),
                false => Check::good("disk", found),
            }
        }
        Err(error) => {
            Check::remark("disk", format!("not known: {}", std::io::Error::from(error)), "look at it by hand")
        }
    }
}

/// The folder itself, or the nearest one above it that exists.
fn nearest(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/")).to_owned()
}

fn terminal(call: Call<'_>) -> Check {
    let stdout =
        if call.environment.stdout_is_terminal { "stdout is a terminal" } else { "stdout is no terminal" };
    let kind = call.environment.text("TERM").unwrap_or("TERM is not set");
    Check::good("terminal", format!("{stdout}; {}", harmless(kind)))
}

fn as_text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let mark = match check.level {
            Level::Good => "✓",
            Level::Remark => "•",
            Level::Bad => "✗",
        };
        text.push_str(&format!("{mark} {:<15}{}\n", check.name, check.found));
        if let Some(remedy) = &check.remedy {
            text.push_str(&format!("  {:<15}→ {remedy}\n", ""));
        }
    }
    text
}

fn as_json(checks: &[Check]) -> serde_json::Value {
    let rows: Vec<_> = checks
        .iter()
        .map(|check| {
            let level = match check.level {
                Level::Good => "ok",
                Level::Remark => "warning",
                Level::Bad => "failed",
            };
            json!({ "check": check.name, "status": level, "found": check.found, "remedy": check.remedy })
        })
        .collect();
    json!({ "ok": !checks.iter().any(|check| check.level == Level::Bad), "checks": rows })
}
