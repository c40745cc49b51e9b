//! From events to output.

use crate::event::Stamped;

/// A pure fold from events to what a front end shows or sends.
pub trait Projection {
    /// One piece of output.
    type Out;
    /// Takes one more event and adds what it means to `out`.
    fn apply(&mut self, event: &Stamped, out: &mut Vec<Self::Out>);
}
