//! Meaning.
