//! What a model was asked and what it answered, kept in a file and played from it.
//!
//! A cassette is a file of JSON lines, one for each exchange at the boundary of [`Model`](super::Model): above
//! all wire formats and without any key, so that it works with every model and can be given to others. A
//! request is known by what the model would read, with everything taken out that differs from run to run.
//!
//! Invariants: nothing is overwritten; an exchange that was not recorded is never made up.

mod canonical;
mod cassette;
mod player;
mod recorder;
#[cfg(test)]
mod tests;

pub use cassette::CassetteError;
pub use player::Player;
pub use recorder::Recorder;
