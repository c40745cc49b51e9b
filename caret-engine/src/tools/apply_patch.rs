//! Applies a patch to one or more files; all of it or nothing.
//!
//! Everything is worked out before anything is written. Should a write then go wrong, what was written
//! before it is put back.

use super::edit::{Action, Counted, FilePatch, Target, apply, parse, unified};
use super::input::Input;
use super::place::{self, file_error};
use super::{Place, Tool, ToolCx, ToolError, ToolSpec, text};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::{Failure, ToolOutput};
use caret_protocol::details::{Details, EditDone};
use serde_json::{Value, json};
use std::path::PathBuf;

const FORM: &str =
    r#"{"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-old line\n+new line\n*** End Patch"}"#;

/// The tool `ApplyPatch`.
pub(crate) struct ApplyPatch(ToolSpec);

impl Default for ApplyPatch {
    fn default() -> Self {
        Self(ToolSpec {
            name: "ApplyPatch",
            description: include_str!("apply_patch.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {"patch": {"type": "string"}},
                "required": ["patch"],
            }),
            read_only: false,
        })
    }
}

#[async_trait]
impl Tool for ApplyPatch {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        let input = Input::new(input, FORM)?;
        let mut paths = Vec::new();
        for file in files(&input)? {
            paths.push(input.resolved(place, &file.path)?);
            if let Action::Update { to: Some(to), .. } = &file.action {
                paths.push(input.resolved(place, to)?);
            }
        }
        Ok(Claim::Write { paths })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let mut steps: Vec<Step> = Vec::new();
        for file in files(&input)? {
            for step in plan(&cx, &input, &file).await? {
                if steps.iter().any(|other| other.target.real == step.target.real) {
                    return Err(ToolError::new(format!(
                        "`{}` is in the patch twice; put its hunks under one header",
                        file.path
                    )));
                }
                steps.push(step);
            }
        }
        for (index, step) in steps.iter().enumerate() {
            if let Err(error) = step.carry_out(&cx).await {
                return Err(undo(&cx, &steps[..index], error).await);
            }
        }
        Ok(report(&steps))
    }
}

fn files(input: &Input<'_>) -> Result<Vec<FilePatch>, ToolError> {
    let patch = input.text(&["patch", "patchContent", "patch_content", "input", "patch_text"])?;
    parse(&patch).map_err(ToolError::new)
}

/// One file of the patch: what it will be.
struct Step {
    target: Target,
    /// Nothing: it goes.
    after: Option<Vec<u8>>,
}

async fn plan(cx: &ToolCx<'_>, input: &Input<'_>, file: &FilePatch) -> Result<Vec<Step>, ToolError> {
    let path = input.resolved(cx.place, &file.path)?;
    let refused = |why: String| ToolError::new(format!("`{}`, and nothing was written: {why}", file.path));
    match &file.action {
        Action::Add(contents) => Ok(vec![added(cx, path, contents.clone().into_bytes()).await?]),
        Action::Delete(hunks) => {
            let step = removed(cx, path).await?;
            if let (Some(before), false) = (&step.target.before, hunks.is_empty())
                && !apply(&before.bytes, hunks).map_err(refused)?.is_empty()
            {
                return Err(refused("the patch deletes it but does not hold all of its lines".into()));
            }
            Ok(vec![step])
        }
        Action::Update { to, hunks } => {
            let (target, before) = Target::existing(cx, &path).await?;
            if hunks.is_empty() && to.is_none() {
                return Err(refused("the patch has no hunk for it".into()));
            }
            let after = apply(&before, hunks).map_err(refused)?;
            match to.as_ref().map(|to| input.resolved(cx.place, to)).transpose()? {
                Some(to) if to != path => Ok(vec![added(cx, to, after).await?, removed(cx, path).await?]),
                _ => Ok(vec![Step { target, after: Some(after) }]),
            }
        }
    }
}

async fn added(cx: &ToolCx<'_>, path: PathBuf, contents: Vec<u8>) -> Result<Step, ToolError> {
    let target = Target::open(cx, &path).await?;
    if target.before.is_some() {
        let path = text::path_text(&path);
        return Err(ToolError::new(format!("`{path}` is there already; use `*** Update File:`")));
    }
    Ok(Step { target, after: Some(contents) })
}

async fn removed(cx: &ToolCx<'_>, path: PathBuf) -> Result<Step, ToolError> {
    let target = Target::open(cx, &path).await?;
    if target.before.is_none() {
        return Err(ToolError(Failure::FileNotFound { path: text::path_text(&path) }));
    }
    if place::removable(cx.place, &path).await? != target.real {
        let path = text::path_text(&path);
        return Err(ToolError::new(format!("`{path}` is a link; a patch cannot delete or move it")));
    }
    Ok(Step { target, after: None })
}

impl Step {
    async fn carry_out(&self, cx: &ToolCx<'_>) -> Result<(), ToolError> {
        match &self.after {
            Some(after) => self.target.write(cx, after).await,
            None => {
                let removed = cx.workspace.remove(&self.target.real).await;
                removed.map_err(|error| file_error(&error, &self.target.shown))?;
                cx.memory.forget(&self.target.real);
                Ok(())
            }
        }
    }
}

/// Puts back what was written before something went wrong.
async fn undo(cx: &ToolCx<'_>, done: &[Step], error: ToolError) -> ToolError {
    let mut lost = Vec::new();
    for step in done.iter().rev() {
        let real = &step.target.real;
        let result = match &step.target.before {
            Some(before) => {
                let expected = step.after.as_ref().and_then(|_| cx.memory.seen(real));
                cx.workspace.save(real, &before.bytes, expected).await.map(|stamp| {
                    cx.memory.saw(real, stamp);
                    cx.memory.knows(real, &before.bytes);
                })
            }
            None => cx.workspace.remove(real).await.map(|_| cx.memory.forget(real)),
        };
        if result.is_err() {
            lost.push(text::path_text(&step.target.shown));
        }
    }
    let rest = match lost.is_empty() {
        true => "nothing of the patch was kept".to_owned(),
        false => format!("these files could not be put back: {}", lost.join(", ")),
    };
    ToolError::new(format!("{}; {rest}", error.0.message()))
}

/// One report for the whole patch, in the shape of a single edit.
fn report(steps: &[Step]) -> ToolOutput {
    let mut reports: Vec<EditDone> = steps.iter().map(report_step).collect();
    let messages: Vec<String> = reports.iter().map(|report| report.message.clone()).collect();
    let diffs: Vec<String> = reports.iter().map(|report| report.diff_string.clone()).collect();
    let sum = |count: fn(&EditDone) -> u64| reports.iter().map(count).sum();
    let done = EditDone {
        lines_added: sum(|report| report.lines_added),
        lines_removed: sum(|report| report.lines_removed),
        diff_string: diffs.join("\n"),
        message: messages.join("\n"),
        ..reports.swap_remove(0)
    };
    ToolOutput { for_model: done.message.clone(), details: Details::Edit(done) }
}

fn report_step(step: &Step) -> EditDone {
    if let Some(after) = &step.after {
        return step.target.report(after);
    }
    let path = text::path_text(&step.target.shown);
    let bytes = step.target.before.as_ref().map(|before| before.bytes.as_slice()).unwrap_or_default();
    let before = String::from_utf8_lossy(bytes).into_owned();
    let Counted { diff, added, removed } = unified(&path, Some(&before), None);
    EditDone {
        message: format!("Deleted {path}."),
        path,
        lines_added: added,
        lines_removed: removed,
        diff_string: diff,
        before_full_file_content: Some(before),
        after_full_file_content: String::new(),
    }
}
