//! Searches file contents with a regular expression, for the model.

use super::input::Input;
use super::place::{self, Area};
use super::search::{self, FileHits, Found, Mode, Query};
use super::text::{name_text, path_text};
use super::walk::{self, unreadable_note};
use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use caret_protocol::details::{Details, FileCount, FileMatches, GrepDone, GrepResult, LineMatch};
use ignore::WalkBuilder;
use ignore::types::TypesBuilder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const FORM: &str = r#"{"pattern": "fn main", "path"?: "src", "glob"?: "*.rs", "output_mode"?: "content", "-C"?: 2, "-i"?: true, "type"?: "rust", "head_limit"?: 100, "offset"?: 0, "multiline"?: false}"#;
/// As many files or lines are shown unless the model says otherwise.
const LIMIT: usize = 500;
/// As many are shown at most.
const MAX_LIMIT: usize = 2_000;
/// As many bytes are shown at most.
const MAX_BYTES: usize = 40_000;
/// As many lines of context are shown at most.
const MAX_CONTEXT: usize = 100;

/// The tool `Grep`.
pub(crate) struct Grep(ToolSpec);

impl Default for Grep {
    fn default() -> Self {
        let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
        let flag = json!({"type": "boolean"});
        Self(ToolSpec {
            name: "Grep",
            description: include_str!("grep.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {
                    "pattern": text, "path": text, "glob": text,
                    "output_mode": {"enum": ["files_with_matches", "content", "count"]},
                    "-B": number, "-A": number, "-C": number, "-i": flag,
                    "type": text, "head_limit": number, "offset": number, "multiline": flag,
                },
                "required": ["pattern"],
            }),
            read_only: true,
        })
    }
}

#[async_trait]
impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        let input = Input::new(input, FORM)?;
        Ok(Claim::Read { path: folder(&input, place)?.1 })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let asked = Asked::new(&input)?;
        let (path, folder) = folder(&input, cx.place)?;
        let area = place::area(cx.place, folder).await?;
        let mut builder = walker(&input, &area)?;
        let query = asked.query(&input)?;
        let (cancel, searched) = (cx.cancel.clone(), area.clone());
        let found = place::blocking(move || search::run(&query, &searched, &mut builder, &cancel)).await?;
        let in_workspace = area.base == cx.place.root;
        Ok(report(&asked, path, &area, in_workspace, found))
    }
}

/// The path as the model wrote it, and absolute.
fn folder(input: &Input<'_>, place: &Place) -> Result<(String, PathBuf), ToolError> {
    match input.optional_text(&["path", "target_directory", "directory"])? {
        Some(path) if !path.is_empty() => Ok((path.clone(), input.resolved(place, &path)?)),
        _ => Ok((String::new(), place.root.clone())),
    }
}

/// What the model wants to see.
struct Asked {
    pattern: String,
    mode: Mode,
    offset: usize,
    limit: usize,
}

impl Asked {
    fn new(input: &Input<'_>) -> Result<Self, ToolError> {
        let pattern = input.text(&["pattern", "regex", "query"])?;
        if pattern.is_empty() {
            return Err(input.wrong("`pattern` is empty"));
        }
        let mode = match input.optional_text(&["output_mode", "outputMode"])?.as_deref() {
            None | Some("files_with_matches" | "files") => Mode::Files,
            Some("content") => Mode::Content,
            Some("count") => Mode::Count,
            Some(other) => {
                let message =
                    format!("`output_mode` must be files_with_matches, content or count, not `{other}`");
                return Err(input.wrong(message));
            }
        };
        let limit = input.count(&["head_limit", "headLimit", "limit"])?;
        // Some models write 0 for no limit.
        let limit = limit.filter(|limit| *limit > 0).unwrap_or(LIMIT).min(MAX_LIMIT);
        Ok(Self { pattern, mode, offset: input.count(&["offset"])?.unwrap_or(0).min(1 << 20), limit })
    }

    fn query(&self, input: &Input<'_>) -> Result<Query, ToolError> {
        let multiline = input.flag(&["multiline"])?;
        let any_case = input.flag(&["-i", "case_insensitive", "caseInsensitive", "ignore_case"])?;
        let both = input.count(&["-C", "context", "context_lines"])?.unwrap_or(0);
        let before = input.count(&["-B", "context_before", "contextBefore"])?.unwrap_or(both);
        let after = input.count(&["-A", "context_after", "contextAfter"])?.unwrap_or(both);
        // Context is for those who see lines; the others need not pay for it.
        let most = if self.mode == Mode::Content { MAX_CONTEXT } else { 0 };
        Ok(Query {
            matcher: search::matcher(&self.pattern, any_case, multiline)?,
            mode: self.mode,
            before: before.min(most),
            after: after.min(most),
            multiline,
            // One more than is shown tells whether there is more.
            keep: self.offset + self.limit + 1,
        })
    }

    fn mode_text(&self) -> &'static str {
        match self.mode {
            Mode::Files => "files_with_matches",
            Mode::Content => "content",
            Mode::Count => "count",
        }
    }
}

fn walker(input: &Input<'_>, area: &Area) -> Result<WalkBuilder, ToolError> {
    let mut builder = walk::walker(&area.real, &area.hidden);
    builder.current_dir(&area.base);
    let folder = if area.is_folder { &area.real } else { &area.base };
    builder.overrides(walk::globs(folder, &input.texts(&["glob", "include"])?)?);
    if let Some(name) = input.optional_text(&["type"])?.filter(|name| !name.is_empty()) {
        let types = TypesBuilder::new().add_defaults().select(&name).build();
        let types = types.map_err(|_| {
            ToolError::new(format!(
                "there is no file type `{name}`; use one like rust, py, ts or js, or `glob`"
            ))
        })?;
        builder.types(types);
    }
    Ok(builder)
}

/// Counts what is shown, so that nothing is shown beyond the limits.
struct Budget {
    skip: usize,
    entries: usize,
    bytes: usize,
}

impl Budget {
    /// Whether one more entry is shown.
    fn takes(&mut self, bytes: usize) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if self.entries == 0 || self.bytes < bytes {
            // Whatever comes after must not be shown either, or the next offset would be wrong.
            self.entries = 0;
            return false;
        }
        self.entries -= 1;
        self.bytes -= bytes;
        true
    }
}

/// What is shown, as programs and as the model see it.
struct Shown {
    result: GrepResult,
    lines: Vec<String>,
    /// How many entries, of how many.
    count: u64,
    total: u64,
}

fn report(asked: &Asked, path: String, area: &Area, in_workspace: bool, found: Found) -> ToolOutput {
    let mut budget = Budget { skip: asked.offset, entries: asked.limit, bytes: MAX_BYTES };
    let name = |hits: &FileHits| walk::for_model(area, in_workspace, &hits.name);
    let unreadable = found.unreadable;
    let shown = match asked.mode {
        Mode::Files => files(found, &mut budget, name),
        Mode::Count => counts(found, &mut budget, name),
        Mode::Content => content(found, &mut budget, asked.offset as u64, name),
    };
    let mut for_model = shown.lines.join("\n");
    let end = asked.offset as u64 + shown.count;
    if shown.total == 0 {
        for_model = "No matches (ignored and binary files are not searched).".to_owned();
    } else if shown.count == 0 {
        for_model = "Nothing more to show: `offset` is past the end.".to_owned();
    } else if end < shown.total {
        let least = if asked.mode == Mode::Content { "at least " } else { "" };
        let (first, total) = (asked.offset + 1, shown.total);
        for_model.push_str(&format!("\n[{first}-{end} of {least}{total} shown; continue with offset {end}]"));
    }
    for_model.push_str(&unreadable_note(unreadable));
    let root = path_text(&area.base);
    let details = GrepDone {
        pattern: asked.pattern.clone(),
        path,
        output_mode: asked.mode_text().to_owned(),
        workspace_results: BTreeMap::from([(root, shown.result)]),
    };
    ToolOutput { for_model, details: Details::Grep(details) }
}

/// A name as the documented results have it.
fn dotted(hits: &FileHits) -> String {
    format!("./{}", name_text(&hits.name))
}

fn files(found: Found, budget: &mut Budget, name: impl Fn(&FileHits) -> String) -> Shown {
    let shown: Vec<&FileHits> = found.files.iter().filter(|hits| budget.takes(hits.name.len() + 3)).collect();
    let (total, count) = (found.total_files, shown.len() as u64);
    let result = GrepResult::Files {
        files: shown.iter().map(|hits| dotted(hits)).collect(),
        total_files: total,
        client_truncated: count < total,
        ripgrep_truncated: false,
    };
    Shown { result, lines: shown.into_iter().map(name).collect(), count, total }
}

fn counts(found: Found, budget: &mut Budget, name: impl Fn(&FileHits) -> String) -> Shown {
    let shown: Vec<&FileHits> = found.files.iter().filter(|hits| budget.takes(hits.name.len() + 9)).collect();
    let (total, count) = (found.total_files, shown.len() as u64);
    let result = GrepResult::Count {
        counts: shown.iter().map(|hits| FileCount { file: dotted(hits), count: hits.matched }).collect(),
        total_files: total,
        total_matches: found.total_matched,
        client_truncated: count < total,
        ripgrep_truncated: false,
    };
    let lines = shown.iter().map(|hits| format!("{}:{}", name(hits), hits.matched)).collect();
    Shown { result, lines, count, total }
}

fn content(found: Found, budget: &mut Budget, offset: u64, name: impl Fn(&FileHits) -> String) -> Shown {
    let (mut matches, mut lines, mut count) = (Vec::new(), Vec::new(), 0);
    for hits in &found.files {
        let shown: Vec<&LineMatch> =
            hits.lines.iter().filter(|line| budget.takes(line.content.len() + 8)).collect();
        if shown.is_empty() {
            continue;
        }
        lines.push(name(hits));
        let mut expected = shown.first().map_or(0, |line| line.line_number);
        let context = shown.iter().any(|line| line.is_context_line);
        for line in &shown {
            if context && line.line_number != expected {
                lines.push("--".to_owned());
            }
            expected = line.line_number + 1;
            let mark = if line.is_context_line { '-' } else { ':' };
            let cut = if line.content_truncated { "… [line cut]" } else { "" };
            lines.push(format!("{}{mark}{}{cut}", line.line_number, line.content));
        }
        count += shown.len() as u64;
        matches.push(FileMatches { file: dotted(hits), matches: shown.into_iter().cloned().collect() });
    }
    // Lines of context are only known of the files that were kept.
    let kept: u64 = found.files.iter().map(|hits| hits.lines.len() as u64).sum();
    let total = kept.max(found.total_matched);
    let result = GrepResult::Content {
        matches,
        total_lines: count,
        total_matched_lines: found.total_matched,
        client_truncated: offset + count < total,
        ripgrep_truncated: false,
    };
    Shown { result, lines, count, total }
}
