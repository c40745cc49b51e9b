//! Shows the tree of files below a folder.
//!
//! Folders are looked into level by level until enough is shown; what is deeper is only counted, and
//! counting ends somewhere too. So a folder of any size gives an answer of bounded size in bounded time.

use super::input::Input;
use super::place;
use super::walk::{self, unreadable_note, walker};
use super::{Place, Tool, ToolCx, ToolError, ToolSpec, text};
use crate::permission::{Grant, Hidden};
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use caret_protocol::details::{Details, FileName, LsDone, Tree};
use ignore::overrides::Override;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

const FORM: &str = r#"{"path"?: "src", "ignore"?: ["*.log"]}"#;
/// As many files and folders are shown.
const SHOWN: usize = 1_000;
/// As many files are counted in folders that are not shown.
const COUNTED: u64 = 100_000;

/// The tool `LS`.
pub(crate) struct Ls(ToolSpec);

impl Default for Ls {
    fn default() -> Self {
        Self(ToolSpec {
            name: "LS",
            description: include_str!("ls.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "ignore": {"type": "array", "items": {"type": "string"}},
                },
            }),
            read_only: true,
        })
    }
}

#[async_trait]
impl Tool for Ls {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        Ok(Claim::Read { path: folder(&Input::new(input, FORM)?, place)? })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let area = place::area(cx.place, folder(&input, cx.place)?).await?;
        if !area.is_folder {
            let shown = text::path_text(&area.shown);
            return Err(ToolError::new(format!("`{shown}` is a file; use Read for it")));
        }
        let ignored: Vec<String> =
            input.texts(&["ignore"])?.into_iter().map(|glob| format!("!{glob}")).collect();
        let globs = walk::globs(&area.real, &ignored)?;
        let (cancel, hidden) = (cx.cancel.clone(), area.hidden.clone());
        let listing = place::blocking(move || {
            let mut listing =
                Listing { globs, hidden, cancel, left: SHOWN, to_count: COUNTED, unreadable: 0, cut: 0 };
            let tree = listing.tree(&area.real, &area.shown)?;
            Ok((tree, listing))
        });
        let (tree, listing) = listing.await?;
        let mut for_model = String::new();
        draw(&tree, 0, &mut for_model);
        for_model.truncate(for_model.trim_end().len());
        if listing.cut > 0 {
            for_model
                .push_str(&format!("\n[{} more entries are not shown; list a folder below]", listing.cut));
        }
        if listing.to_count == 0 {
            for_model.push_str(&format!("\n[counting ended at {COUNTED} files; there are more]"));
        }
        for_model.push_str(&unreadable_note(listing.unreadable));
        Ok(ToolOutput { for_model, details: Details::Ls(LsDone { directory_tree_root: tree }) })
    }
}

fn folder(input: &Input<'_>, place: &Place) -> Result<PathBuf, ToolError> {
    match input.optional_text(&["path", "target_directory", "directory", "dir"])? {
        Some(path) if !path.is_empty() => input.resolved(place, &path),
        _ => Ok(place.root.clone()),
    }
}

/// A listing as it grows.
struct Listing {
    globs: Override,
    hidden: Hidden,
    cancel: CancellationToken,
    /// Entries that may still be shown.
    left: usize,
    /// Files that may still be counted.
    to_count: u64,
    unreadable: u64,
    /// Entries of folders that were looked into and did not fit.
    cut: u64,
}

/// A folder on the way, and where it hangs.
struct Node {
    path: PathBuf,
    parent: Option<usize>,
    tree: Tree,
}

impl Listing {
    fn tree(&mut self, real: &Path, shown: &Path) -> Result<Tree, ToolError> {
        let mut nodes = vec![node(real, shown, None)];
        let mut queue = VecDeque::from([0]);
        while let Some(index) = queue.pop_front() {
            walk::unless_cancelled(&self.cancel)?;
            let path = nodes[index].path.clone();
            if self.left == 0 && index != 0 {
                self.count(&path, &mut nodes[index].tree);
                continue;
            }
            nodes[index].tree.children_were_processed = true;
            let (folders, files) = self.entries(&path);
            let all = (folders.len() + files.len()) as u64;
            let before = self.left;
            for folder in folders.into_iter().take(self.left) {
                self.left -= 1;
                let shown = shown.join(folder.strip_prefix(real).unwrap_or(&folder));
                queue.push_back(nodes.len());
                nodes.push(node(&folder, &shown, Some(index)));
            }
            for name in files.into_iter().take(self.left) {
                self.left -= 1;
                nodes[index].tree.children_files.push(FileName { name });
            }
            self.cut += all.saturating_sub((before - self.left) as u64);
        }
        Ok(assemble(nodes))
    }

    /// What is in a folder, sorted.
    fn entries(&mut self, folder: &Path) -> (Vec<PathBuf>, Vec<String>) {
        let mut builder = walker(folder, &self.hidden);
        builder.max_depth(Some(1)).overrides(self.globs.clone());
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for entry in builder.build() {
            match entry {
                Ok(entry) if entry.depth() == 0 => {}
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {
                    folders.push(entry.into_path())
                }
                Ok(entry) => files.push(text::name_text(entry.file_name().as_encoded_bytes()).into_owned()),
                Err(error) => self.unreadable += u64::from(walk::counts(&error)),
            }
        }
        folders.sort();
        files.sort();
        (folders, files)
    }

    /// Counts the files below a folder that is not shown.
    fn count(&mut self, folder: &Path, tree: &mut Tree) {
        let mut builder = walker(folder, &self.hidden);
        builder.overrides(self.globs.clone());
        for entry in builder.build() {
            if self.to_count == 0 || self.cancel.is_cancelled() {
                return;
            }
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
                Ok(entry) => {
                    self.to_count -= 1;
                    tree.num_files += 1;
                    let extension = entry.path().extension().map(|extension| extension.as_encoded_bytes());
                    let key = extension.map_or(String::new(), |name| format!(".{}", text::name_text(name)));
                    *tree.full_subtree_extension_counts.entry(key).or_default() += 1;
                }
                Err(error) => self.unreadable += u64::from(walk::counts(&error)),
            }
        }
    }
}

fn node(real: &Path, shown: &Path, parent: Option<usize>) -> Node {
    let tree = Tree { abs_path: text::path_text(shown), ..Tree::default() };
    Node { path: real.to_owned(), parent, tree }
}

/// Hangs every folder into its parent. Parents stand before their children.
fn assemble(mut nodes: Vec<Node>) -> Tree {
    let mut root = Tree::default();
    while let Some(mut node) = nodes.pop() {
        node.tree.children_dirs.reverse();
        match node.parent {
            Some(parent) => nodes[parent].tree.children_dirs.push(node.tree),
            None => root = node.tree,
        }
    }
    root
}

fn draw(tree: &Tree, depth: usize, out: &mut String) {
    let name = match depth {
        0 => tree.abs_path.as_str(),
        _ => tree.abs_path.rsplit('/').next().unwrap_or_default(),
    };
    let blanks = "  ".repeat(depth);
    out.push_str(&format!("{blanks}{name}/"));
    if !tree.children_were_processed {
        let mut kinds: Vec<(&String, &u64)> = tree.full_subtree_extension_counts.iter().collect();
        kinds.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        let kinds: Vec<String> =
            kinds.iter().take(3).map(|(name, count)| format!("{count} *{name}")).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
        out.push_str(&format!(" ({} files{kinds})", tree.num_files));
    }
    out.push('\n');
    for folder in &tree.children_dirs {
        draw(folder, depth + 1, out);
    }
    for file in &tree.children_files {
        out.push_str(&format!("{blanks}  {}\n", file.name));
    }
}
