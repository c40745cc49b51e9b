//! Finds files by name, newest first.
//!
//! However many there are, only as many are kept as are shown.

use super::input::Input;
use super::place::{self, Area};
use super::walk::{self, below, unreadable_note};
use super::{Place, Tool, ToolCx, ToolError, ToolSpec, lock, text};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use caret_protocol::details::{Details, GlobDone};
use globset::{GlobBuilder, GlobMatcher};
use ignore::DirEntry;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

const FORM: &str = r#"{"glob_pattern": "**/*.rs", "target_directory"?: "src"}"#;
const SHOWN: usize = 100;
const DIRECTORY: &[&str] = &["target_directory", "targetDirectory", "path", "directory"];

/// The tool `Glob`.
pub(crate) struct Glob(ToolSpec);

impl Default for Glob {
    fn default() -> Self {
        Self(ToolSpec {
            name: "Glob",
            description: include_str!("glob.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {
                    "glob_pattern": {"type": "string"},
                    "target_directory": {"type": "string"},
                },
                "required": ["glob_pattern"],
            }),
            read_only: true,
        })
    }
}

#[async_trait]
impl Tool for Glob {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        Ok(Claim::Read { path: folder(&Input::new(input, FORM)?, place)? })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let pattern = input.text(&["glob_pattern", "globPattern", "pattern", "glob"])?;
        if pattern.trim().is_empty() {
            return Err(input.wrong("`glob_pattern` is empty"));
        }
        let area = place::area(cx.place, folder(&input, cx.place)?).await?;
        if !area.is_folder {
            return Err(ToolError::new(format!("`{}` is no folder", text::path_text(&area.shown))));
        }
        let in_workspace = area.base == cx.place.root;
        let (full, matcher) = matcher(&pattern, &area)?;
        let cancel = cx.cancel.clone();
        let searched = area.clone();
        let found = place::blocking(move || find(&searched, &matcher, &cancel)).await?;
        Ok(report(&area, in_workspace, full, found))
    }
}

fn folder(input: &Input<'_>, place: &Place) -> Result<PathBuf, ToolError> {
    match input.optional_text(DIRECTORY)? {
        Some(path) if !path.is_empty() => input.resolved(place, &path),
        _ => Ok(place.root.clone()),
    }
}

/// The pattern as it is used, and what it matches below the folder.
fn matcher(pattern: &str, area: &Area) -> Result<(String, GlobMatcher), ToolError> {
    let inside = [&area.shown, &area.real].into_iter().find_map(|folder| {
        let rest = pattern.strip_prefix(folder.to_str()?)?;
        rest.strip_prefix('/')
    });
    let rest = inside.or_else(|| pattern.strip_prefix("./")).unwrap_or(pattern);
    if rest.starts_with('/') {
        let folder = text::path_text(&area.shown);
        return Err(ToolError::new(format!("`{pattern}` is not below `{folder}`; set `target_directory`")));
    }
    let full = match inside.is_some() || rest.starts_with("**/") {
        true => rest.to_owned(),
        false => format!("**/{rest}"),
    };
    let glob = GlobBuilder::new(&full).literal_separator(true).build();
    let glob = glob.map_err(|error| ToolError::new(format!("`{pattern}` is no valid glob: {error}")))?;
    Ok((full, glob.compile_matcher()))
}

/// Files as they are ordered: the newest first, then by name.
type Ranked = (Reverse<SystemTime>, Vec<u8>);

struct Found {
    files: Vec<Ranked>,
    total: u64,
    unreadable: u64,
}

fn find(area: &Area, matcher: &GlobMatcher, cancel: &CancellationToken) -> Result<Found, ToolError> {
    let kept: Mutex<(BinaryHeap<Ranked>, u64)> = Mutex::default();
    let unreadable = walk::visit(&mut walk::walker(&area.real, &area.hidden), cancel, || {
        |entry: &DirEntry| {
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            let Ok(relative) = entry.path().strip_prefix(&area.real) else { return };
            if !is_file || !matcher.is_match(relative) {
                return;
            }
            let modified = entry.metadata().ok().and_then(|found| found.modified().ok());
            let ranked = (
                Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)),
                below(entry.path(), &area.real).to_vec(),
            );
            let mut kept = lock(&kept);
            kept.1 += 1;
            kept.0.push(ranked);
            if kept.0.len() > SHOWN {
                kept.0.pop();
            }
        }
    });
    walk::unless_cancelled(cancel)?;
    let (heap, total) = kept.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Found { files: heap.into_sorted_vec(), total, unreadable })
}

fn report(area: &Area, in_workspace: bool, pattern: String, found: Found) -> ToolOutput {
    let names = found.files.iter().map(|(_, name)| text::name_text(name).into_owned());
    let files: Vec<String> = names.collect();
    let prefix = below(&area.real, &area.base);
    let shown = |(_, name): &Ranked| {
        let whole = if prefix.is_empty() { name.clone() } else { [prefix, b"/", name.as_slice()].concat() };
        walk::for_model(area, in_workspace, &whole)
    };
    let mut for_model = found.files.iter().map(shown).collect::<Vec<_>>().join("\n");
    let truncated = found.total > files.len() as u64;
    if files.is_empty() {
        for_model = format!("No file matches `{pattern}` (ignored files are not searched).");
    } else if truncated {
        for_model.push_str(&format!("\n[the newest {SHOWN} of {} files; narrow the pattern]", found.total));
    }
    for_model.push_str(&unreadable_note(found.unreadable));
    let details = GlobDone {
        pattern,
        path: text::path_text(&area.shown),
        files,
        total_files: found.total,
        client_truncated: truncated,
        ripgrep_truncated: false,
    };
    ToolOutput { for_model, details: Details::Glob(details) }
}
