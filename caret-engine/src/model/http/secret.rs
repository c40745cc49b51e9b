//! A key that does not show itself.
//!
//! Invariant: nothing that formats text shows the key; `reveal` is called where it goes on the wire and
//! where messages are searched for it, and nowhere else.

use std::fmt;
use zeroize::Zeroize as _;

/// A key, token or password. Printing it shows `[secret]`; its memory is wiped when it goes.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; spaces and line ends around it are taken off, as they come with files and pastes.
    pub fn new(key: impl Into<String>) -> Self {
        let mut given = key.into();
        let trimmed = given.trim().to_owned();
        given.zeroize();
        Self(trimmed)
    }

    /// The key itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[secret]")
    }
}
