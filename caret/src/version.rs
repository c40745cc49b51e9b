//! What this build calls itself.
//!
//! Programs compare the date version and people the semantic one; neither is ever computed at run time,
//! so that `--version` costs no more than starting the process.

/// The version that `--version` prints: the commit's day and short hash.
pub const DATE: &str = env!("CARET_DATE_VERSION");

/// The semantic version.
pub const SEMANTIC: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    /// Some programs refuse agents whose date version is older than this one.
    #[test]
    fn the_date_version_has_the_documented_form_and_is_new_enough() {
        let (day, hash) = super::DATE.split_once('-').unwrap();
        assert!(day >= "2026.04.08", "{day}");
        assert_eq!(day.split('.').map(str::len).collect::<Vec<_>>(), [4, 2, 2]);
        assert!(hash.len() == 7 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{hash}");
    }
}
