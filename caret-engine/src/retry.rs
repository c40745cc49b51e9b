//! When a model is asked again, and what each try is called.
//!
//! Nothing here is random: what must differ between turns is spread by the turn's own id, so that a run
//! can be repeated.

use crate::model::ModelError;
use caret_protocol::ids::TurnId;
use std::time::Duration;

/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// As the model says, else longer every time; different turns do not come back at the same moment.
pub(crate) fn wait(turn: &TurnId, tries: u32, error: &ModelError) -> Duration {
    let told = match error {
        ModelError::Busy { retry_after, .. } => *retry_after,
        _ => None,
    };
    let spread = f64::from(u32::from_str_radix(&spread(turn, tries), 36).unwrap_or_default() % 1000) / 1000.0;
    let own = Duration::from_secs_f64(0.5 * f64::from(1 << tries.min(6)) * (0.75 + spread / 2.0));
    told.unwrap_or(own).min(LONGEST_WAIT)
}

/// The documented form: `<request id>-<step>-<four letters or digits>`.
pub(crate) fn model_call(turn: &TurnId, step: u32) -> String {
    format!("{turn}-{step}-{}", spread(turn, step))
}

/// Four base-36 digits that are the same for the same turn and number.
fn spread(turn: &TurnId, number: u32) -> String {
    let text = turn.as_str().bytes().chain(number.to_le_bytes());
    let hash = text.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (0..4).map(|place| char::from_digit(((hash >> (place * 8)) % 36) as u32, 36).unwrap_or('0')).collect()
}
