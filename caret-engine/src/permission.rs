//! Turns what a call would touch into allow, ask or deny.
//!
//! Judging is pure: policy, mode and claim go in, a verdict comes out. Asking the host is the turn's work,
//! so this file can be tested as a table.
//!
//! Invariant: [`Grant`] is made nowhere else.

/// Proof that a call was allowed. Its field is private: only this module makes one.
#[derive(Debug)]
pub struct Grant(());

impl Grant {
    /// For the tests of tools, which stand below the permission gate.
    #[cfg(test)]
    pub(crate) fn for_test() -> Self {
        Self(())
    }
}
