//! Call ids and tool names in the shape that a server accepts.
//!
//! A conversation may have ids that another vendor made, ids used twice, and names that a model dreamed up.
//! What fits stays as it is; the rest is replaced by a hash of what it was.
//!
//! Invariant: the same history gives the same ids, and a longer history does not change earlier ones.

use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::HashSet;

/// Ids that we made because the server gave none begin like this.
pub(super) const MADE_UP: &str = "caret_";
/// The longest id and the longest name that every server takes.
const LONGEST: usize = 64;

/// Which ids a server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdShape {
    /// Up to 64 visible characters.
    Visible,
    /// Up to 64 letters, digits, `_` and `-`.
    Word,
    /// Exactly nine letters or digits.
    Nine,
}

/// The ids of one request.
pub(super) struct CallIds {
    shape: IdShape,
    used: HashSet<String>,
}

impl CallIds {
    pub(super) fn new(shape: IdShape) -> Self {
        Self { shape, used: HashSet::new() }
    }

    /// The id to send for the next call of the history.
    pub(super) fn assign(&mut self, id: &str) -> String {
        let mut wire = if self.fits(id) { id.to_owned() } else { self.derived(id, 0) };
        let mut number = 0_u32;
        while self.used.contains(&wire) {
            number += 1;
            wire = self.derived(id, number);
        }
        self.used.insert(wire.clone());
        wire
    }

    fn fits(&self, id: &str) -> bool {
        match self.shape {
            IdShape::Visible => {
                (1..=LONGEST).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
            }
            IdShape::Word => (1..=LONGEST).contains(&id.len()) && id.bytes().all(is_word),
            IdShape::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }

    fn derived(&self, id: &str, number: u32) -> String {
        let hash = Sha256::new().chain_update(number.to_le_bytes()).chain_update(id).finalize();
        let letters =
            hash.iter().map(|byte| char::from(b"abcdefghijklmnopqrstuvwxyz012345"[usize::from(byte % 32)]));
        match self.shape {
            IdShape::Nine => letters.take(9).collect(),
            IdShape::Visible | IdShape::Word => "call_".chars().chain(letters.take(20)).collect(),
        }
    }
}

/// A tool's name as every server accepts it. Names of offered tools stay as they are.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if name.len() <= LONGEST && name.bytes().all(is_word) {
        return Cow::Borrowed(name);
    }
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    Cow::Owned(name.chars().map(allowed).take(LONGEST).collect())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::{CallIds, IdShape, tool_name};
    use expect_test::expect;

    #[test]
    fn what_fits_stays_and_the_rest_is_rewritten_the_same_way_every_time() {
        let long = "x".repeat(80);
        let given =
            ["toolu_01-A", "functions.read:0", "call~2", "", &long, "abcdefgh1", "toolu_01-A", "toolu_01-A"];
        let lines: Vec<String> = [IdShape::Visible, IdShape::Word, IdShape::Nine]
            .into_iter()
            .map(|shape| {
                let mut ids = CallIds::new(shape);
                let wire: Vec<String> = given.iter().map(|id| ids.assign(id)).collect();
                format!("{shape:?}: {}", wire.join(" "))
            })
            .collect();
        expect![[r#"
            Visible: toolu_01-A functions.read:0 call~2 call_55byejp1axzne3xikxk2 call_astlpxxsysebn44nlzn3 abcdefgh1 call_stpoit1edixdd2yirtdw call_51jgdtbwthsesj3ijacu
            Word: toolu_01-A call_oyu1wcecwlgc1jdaedy1 call_l55ivsbc34wj4ayiyma3 call_55byejp1axzne3xikxk2 call_astlpxxsysebn44nlzn3 abcdefgh1 call_stpoit1edixdd2yirtdw call_51jgdtbwthsesj3ijacu
            Nine: e512vpkbh oyu1wcecw l55ivsbc3 55byejp1a astlpxxsy abcdefgh1 stpoit1ed 51jgdtbwt"#]].assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_dreamed_up_name_can_be_sent_again() {
        let names = ["Read", "", "mcp__a-b", "read file/now", "größe"].map(tool_name);
        assert_eq!(names.join(" "), "Read unnamed mcp__a-b read_file_now gr__e");
    }
}
