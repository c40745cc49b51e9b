//! What tokens cost, and what a usage therefore cost.
//!
//! A price that is not known stays unknown: nothing here guesses one.

use caret_protocol::content::Usage;
use serde::{Deserialize, Serialize};

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read that were not cached.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from the provider's cache; the price of `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Tokens written to the provider's cache; the price of `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// What a usage cost, in US dollars.
    pub fn cost(&self, usage: Usage) -> f64 {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read.unwrap_or(self.input)),
            (usage.cache_write, self.cache_write.unwrap_or(self.input)),
        ];
        rounded(parts.into_iter().map(|(tokens, price)| millions(tokens) * price).sum())
    }

    /// Whether all its numbers can be prices.
    pub fn is_sound(&self) -> bool {
        let all = [Some(self.input), Some(self.output), self.cache_read, self.cache_write];
        all.into_iter().flatten().all(|price| price.is_finite() && price >= 0.0)
    }
}

/// An amount without the dust of binary fractions.
pub fn rounded(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts so many tokens that a token matters")]
fn millions(tokens: u64) -> f64 {
    tokens as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_the_sum_of_all_kinds_of_tokens() {
        let usage = Usage {
            input: 1_000_000,
            output: 500_000,
            cache_read: 2_000_000,
            cache_write: 100_000,
            estimated: false,
        };
        let price = Price { input: 3.0, output: 15.0, ..Price::default() };
        assert_eq!(price.cost(usage).to_string(), "16.8");
        let price = Price { cache_read: Some(0.3), cache_write: Some(3.75), ..price };
        assert_eq!(price.cost(usage).to_string(), "11.475");
        assert_eq!(price.cost(Usage::default()).to_string(), "0");
        let dusty = Usage { input: 100_000, output: 20_000, ..Usage::default() };
        assert_eq!(price.cost(dusty).to_string(), "0.6");
    }

    #[test]
    fn a_price_is_a_number_and_not_below_zero() {
        let sound = |input| Price { input, ..Price::default() }.is_sound();
        assert_eq!([sound(0.0), sound(2.5), sound(-1.0), sound(f64::NAN)], [true, true, false, false]);
    }
}
