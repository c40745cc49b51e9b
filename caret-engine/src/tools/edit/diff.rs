//! The unified diff of one file, exactly as it is documented.

use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// Two texts that have little in common are compared roughly after this long.
const PATIENCE: Duration = Duration::from_secs(1);

/// A diff and how many lines it adds and removes.
#[derive(Debug, PartialEq)]
pub(crate) struct Counted {
    /// Without a newline at its end.
    pub(crate) diff: String,
    /// Lines that are new.
    pub(crate) added: u64,
    /// Lines that are gone.
    pub(crate) removed: u64,
}

/// Compares a file before and after; a side that is not there is `/dev/null`.
pub(crate) fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> Counted {
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let mut config = TextDiff::configure();
    let compared = config.timeout(PATIENCE).newline_terminated(true).diff_slices(&old, &new);
    let side = |prefix: &str, there: bool| match there {
        true => format!("{prefix}/{path}"),
        false => "/dev/null".to_owned(),
    };
    let (from, to) = (side("a", before.is_some()), side("b", after.is_some()));
    let mut diff =
        compared.unified_diff().context_radius(3).missing_newline_hint(false).header(&from, &to).to_string();
    if diff.is_empty() {
        // An empty new file has no hunks; the header still says what happened.
        diff = format!("--- {from}\n+++ {to}\n");
    }
    // The newline that ends the last line is left out; a carriage return before it belongs to the line.
    if diff.ends_with('\n') {
        diff.pop();
    }
    let changes = |tag| compared.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
    Counted { diff, added: changes(ChangeTag::Insert), removed: changes(ChangeTag::Delete) }
}
