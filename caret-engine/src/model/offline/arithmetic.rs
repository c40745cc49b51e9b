//! Sums that people type, worked out exactly.
//!
//! Values are fractions of 128-bit integers, so `0.1 + 0.2` is `0.3`. What does not fit is said and never
//! guessed. Invariant: no input makes this panic, recurse deeply or run long.

use std::fmt::Write as _;

/// How deep brackets and signs may nest.
const DEPTH: usize = 64;
/// How many numbers and signs one sum may have.
const TOKENS: usize = 512;
/// How many digits are shown of a value that does not end.
const DIGITS: usize = 12;

/// The sentence that answers `text`, if `text` is a sum with at least one operator.
pub(super) fn answer(text: &str) -> Option<String> {
    let tokens = tokens(text)?;
    let operators = tokens.iter().filter(|token| matches!(token, Token::Sign(sign) if !"()".contains(*sign)));
    if operators.count() == 0 || !tokens.iter().any(|token| matches!(token, Token::Number(..))) {
        return None;
    }
    let shown = show(&tokens);
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let value = parser.sum().and_then(|value| match parser.at == tokens.len() {
        true => Ok(value),
        false => Err(Trouble::NoSum),
    });
    match value {
        Ok(value) => {
            let (digits, exact) = value.decimal();
            Some(format!("{shown} {} {digits}", if exact { "=" } else { "≈" }))
        }
        Err(Trouble::NoSum) => None,
        Err(Trouble::ByZero) => Some(format!("{shown} has no value: it divides by zero.")),
        Err(Trouble::Power) => {
            Some(format!("{shown} has an exponent that is no whole number; I only do whole exponents."))
        }
        Err(Trouble::TooLarge) => Some(format!("{shown} is too large for me to work out exactly.")),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A value and how it was written.
    Number(Fraction, String),
    /// One of `+ - * / % ^ ( )`.
    Sign(char),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    NoSum,
    ByZero,
    Power,
    TooLarge,
}

/// A reduced fraction; the denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fraction {
    top: i128,
    bottom: i128,
}

/// Cuts text into numbers and signs; `None` when anything else is in it.
fn tokens(text: &str) -> Option<Vec<Token>> {
    if text.len() > 8 * TOKENS {
        return None;
    }
    let text = in_signs(text);
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let used = if first.is_ascii_digit() || first == '.' {
            let end = number_end(rest);
            tokens.push(Token::Number(number(&rest[..end])?, rest[..end].replace(',', "")));
            end
        } else {
            let sign = match first {
                '×' | '·' => '*',
                '÷' => '/',
                '−' | '–' => '-',
                '+' | '-' | '*' | '/' | '%' | '^' | '(' | ')' => first,
                _ => return None,
            };
            tokens.push(Token::Sign(sign));
            first.len_utf8()
        };
        if tokens.len() > TOKENS {
            return None;
        }
        rest = rest[used..].trim_start();
    }
    Some(tokens)
}

/// Writes the words of sums as signs; other words stay and make it no sum.
fn in_signs(text: &str) -> String {
    let text = text.to_lowercase();
    let text = text.trim().trim_end_matches(['?', '=', '!']).trim_end();
    let text = text.strip_suffix('.').unwrap_or(text);
    let mut text = format!(" {} ", text.replace("**", "^").replace("% of ", " percent of "));
    for (words, sign) in [
        (" plus ", " + "),
        (" minus ", " - "),
        (" multiplied by ", " * "),
        (" times ", " * "),
        (" divided by ", " / "),
        (" over ", " / "),
        (" modulo ", " % "),
        (" mod ", " % "),
        (" to the power of ", " ^ "),
        (" squared ", " ^ 2 "),
        (" cubed ", " ^ 3 "),
        (" percent of ", " / 100 * "),
        (" x ", " * "),
    ] {
        text = text.replace(words, sign);
    }
    text
}

/// Where the number that `text` begins with ends; a comma counts before three digits.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while digit(end)
        || bytes.get(end) == Some(&b'.') && digit(end + 1)
        || bytes.get(end) == Some(&b',')
            && digit(end + 1)
            && digit(end + 2)
            && digit(end + 3)
            && !digit(end + 4)
    {
        end += 1;
    }
    end
}

fn number(text: &str) -> Option<Fraction> {
    let plain = text.replace(',', "");
    let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
    if part.contains('.') || whole.is_empty() && part.is_empty() {
        return None;
    }
    let top = format!("{whole}{part}").parse().ok()?;
    let bottom = 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?;
    Fraction::new(top, bottom).ok()
}

/// The sum as it is repeated to the user: spaces around operators.
fn show(tokens: &[Token]) -> String {
    let mut shown = String::new();
    let mut after_value = false;
    for token in tokens {
        match token {
            Token::Number(_, written) => {
                shown.push_str(written);
                after_value = true;
            }
            Token::Sign('(') => {
                shown.push('(');
                after_value = false;
            }
            Token::Sign(')') => {
                shown.push(')');
                after_value = true;
            }
            Token::Sign(sign) if after_value => {
                write!(shown, " {sign} ").expect("writing to a string works");
                after_value = false;
            }
            Token::Sign(sign) => shown.push(*sign),
        }
    }
    shown
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn sign(&mut self, signs: &str) -> Option<char> {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) if signs.contains(*sign) => {
                self.at += 1;
                Some(*sign)
            }
            _ => None,
        }
    }

    fn sum(&mut self) -> Result<Fraction, Trouble> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign("+-") {
            let next = self.product()?;
            value = if sign == '+' { value.add(next)? } else { value.add(next.negated()?)? };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Fraction, Trouble> {
        let mut value = self.signed()?;
        while let Some(sign) = self.sign("*/%") {
            let next = self.signed()?;
            value = match sign {
                '*' => value.times(next)?,
                '/' => value.times(next.inverted()?)?,
                _ => value.modulo(next)?,
            };
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<Fraction, Trouble> {
        self.deeper(|parser| match parser.sign("+-") {
            Some('-') => parser.signed()?.negated(),
            Some(_) => parser.signed(),
            None => parser.power(),
        })
    }

    fn power(&mut self) -> Result<Fraction, Trouble> {
        let base = self.atom()?;
        match self.sign("^") {
            Some(_) => base.power(self.signed()?),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<Fraction, Trouble> {
        if self.sign("(").is_some() {
            let value = self.deeper(Self::sum)?;
            return self.sign(")").map(|_| value).ok_or(Trouble::NoSum);
        }
        let Some(Token::Number(value, _)) = self.tokens.get(self.at) else { return Err(Trouble::NoSum) };
        self.at += 1;
        Ok(*value)
    }

    fn deeper(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Fraction, Trouble>,
    ) -> Result<Fraction, Trouble> {
        if self.depth == DEPTH {
            return Err(Trouble::NoSum);
        }
        self.depth += 1;
        let value = parse(self);
        self.depth -= 1;
        value
    }
}

impl Fraction {
    fn new(top: i128, bottom: i128) -> Result<Self, Trouble> {
        if bottom == 0 {
            return Err(Trouble::ByZero);
        }
        let divisor = common_divisor(top.unsigned_abs(), bottom.unsigned_abs());
        let divisor = i128::try_from(divisor).map_err(|_| Trouble::TooLarge)?;
        let (top, bottom) = (top / divisor, bottom / divisor);
        match bottom < 0 {
            true => Ok(Self { top: negate(top)?, bottom: negate(bottom)? }),
            false => Ok(Self { top, bottom }),
        }
    }

    fn add(self, other: Self) -> Result<Self, Trouble> {
        let sum = || self.top.checked_mul(other.bottom)?.checked_add(other.top.checked_mul(self.bottom)?);
        Self::new(sum().ok_or(Trouble::TooLarge)?, product(self.bottom, other.bottom)?)
    }

    fn times(self, other: Self) -> Result<Self, Trouble> {
        // Reducing crosswise first keeps values inside 128 bits longer.
        let (one, two) = (Self::new(self.top, other.bottom)?, Self::new(other.top, self.bottom)?);
        Self::new(product(one.top, two.top)?, product(one.bottom, two.bottom)?)
    }

    fn negated(self) -> Result<Self, Trouble> {
        Ok(Self { top: negate(self.top)?, ..self })
    }

    fn inverted(self) -> Result<Self, Trouble> {
        Self::new(self.bottom, self.top)
    }

    fn modulo(self, other: Self) -> Result<Self, Trouble> {
        let quotient = self.times(other.inverted()?)?;
        let whole = Self { top: quotient.top.div_euclid(quotient.bottom), bottom: 1 };
        self.add(other.times(whole)?.negated()?)
    }

    fn power(self, exponent: Self) -> Result<Self, Trouble> {
        if exponent.bottom != 1 {
            return Err(Trouble::Power);
        }
        let base = if exponent.top < 0 { self.inverted()? } else { self };
        if base.bottom == 1 && (base.top == 0 || base.top == 1) {
            return Ok(if exponent.top == 0 { Self { top: 1, bottom: 1 } } else { base });
        }
        let times = u32::try_from(exponent.top.unsigned_abs()).map_err(|_| Trouble::TooLarge)?;
        let raised = |value: i128| value.checked_pow(times).ok_or(Trouble::TooLarge);
        Self::new(raised(base.top)?, raised(base.bottom)?)
    }

    /// The value in decimal digits, and whether they are all of it.
    fn decimal(self) -> (String, bool) {
        let sign = if self.top < 0 { "-" } else { "" };
        let (mut top, mut bottom) = (self.top.unsigned_abs(), self.bottom.unsigned_abs());
        let mut exact = true;
        while bottom > u128::MAX / 16 {
            (top, bottom, exact) = (top >> 4, bottom >> 4, false);
        }
        let (mut whole, mut rest) = (top / bottom, top % bottom);
        let mut room =
            if whole == 0 { DIGITS } else { DIGITS.saturating_sub(whole.to_string().len()).max(2) };
        let mut digits: Vec<u8> = Vec::new();
        while rest != 0 && room > 0 && digits.len() < 48 {
            rest *= 10;
            let digit = u8::try_from(rest / bottom).unwrap_or(9);
            rest %= bottom;
            if whole != 0 || digit != 0 || digits.iter().any(|digit| *digit != 0) {
                room -= 1;
            }
            digits.push(digit);
        }
        if rest != 0 {
            exact = false;
            if rest >= bottom - rest {
                whole += u128::from(carry(&mut digits));
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let part: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let point = if part.is_empty() { "" } else { "." };
        (format!("{sign}{whole}{point}{part}"), exact)
    }
}

/// Adds one to the last digit; says whether it ran over the first.
fn carry(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return false;
        }
        *digit = 0;
    }
    true
}

fn negate(value: i128) -> Result<i128, Trouble> {
    value.checked_neg().ok_or(Trouble::TooLarge)
}

fn product(one: i128, two: i128) -> Result<i128, Trouble> {
    one.checked_mul(two).ok_or(Trouble::TooLarge)
}

fn common_divisor(mut one: u128, mut two: u128) -> u128 {
    while two != 0 {
        (one, two) = (two, one % two);
    }
    one.max(1)
}

#[cfg(test)]
mod tests {
    use super::answer;
    use expect_test::expect;

    const SUMS: &[&str] = &[
        "2+2",
        "2 + 3 * 4",
        "(2+3)*4?",
        "0.1 + 0.2",
        "1/3",
        "2/3",
        "10 / 4",
        "-2^2",
        "2^3^2",
        "2**10",
        "2^-2",
        "2^100",
        "2^1000",
        "2^99999999999999999999",
        "1/0",
        "5 % 0",
        "17 % 5",
        "-7 mod 3",
        "4 ^ 0.5",
        "0^0",
        "7 times 8",
        "12 divided by 5",
        "5 squared",
        "20% of 50",
        "1,000 + 1",
        "1/7 + 100",
        "1 / 10^20",
        "99999999999999999999 * 99999999999999999999",
        "3 × 4 ÷ 2",
        "2 - -3",
        "7",
        "2 +",
        "(1 + 2",
        "2 apples + 3",
        "1.2.3 + 1",
        "",
    ];

    #[test]
    fn sums_are_exact_and_what_cannot_be_done_is_said() {
        let table: String = SUMS
            .iter()
            .map(|text| format!("{text} -> {}\n", answer(text).unwrap_or_else(|| "no sum".into())))
            .collect();
        expect![[r#"
            2+2 -> 2 + 2 = 4
            2 + 3 * 4 -> 2 + 3 * 4 = 14
            (2+3)*4? -> (2 + 3) * 4 = 20
            0.1 + 0.2 -> 0.1 + 0.2 = 0.3
            1/3 -> 1 / 3 ≈ 0.333333333333
            2/3 -> 2 / 3 ≈ 0.666666666667
            10 / 4 -> 10 / 4 = 2.5
            -2^2 -> -2 ^ 2 = -4
            2^3^2 -> 2 ^ 3 ^ 2 = 512
            2**10 -> 2 ^ 10 = 1024
            2^-2 -> 2 ^ -2 = 0.25
            2^100 -> 2 ^ 100 = 1267650600228229401496703205376
            2^1000 -> 2 ^ 1000 is too large for me to work out exactly.
            2^99999999999999999999 -> 2 ^ 99999999999999999999 is too large for me to work out exactly.
            1/0 -> 1 / 0 has no value: it divides by zero.
            5 % 0 -> 5 % 0 has no value: it divides by zero.
            17 % 5 -> 17 % 5 = 2
            -7 mod 3 -> -7 % 3 = 2
            4 ^ 0.5 -> 4 ^ 0.5 has an exponent that is no whole number; I only do whole exponents.
            0^0 -> 0 ^ 0 = 1
            7 times 8 -> 7 * 8 = 56
            12 divided by 5 -> 12 / 5 = 2.4
            5 squared -> 5 ^ 2 = 25
            20% of 50 -> 20 / 100 * 50 = 10
            1,000 + 1 -> 1000 + 1 = 1001
            1/7 + 100 -> 1 / 7 + 100 ≈ 100.142857143
            1 / 10^20 -> 1 / 10 ^ 20 = 0.00000000000000000001
            99999999999999999999 * 99999999999999999999 -> 99999999999999999999 * 99999999999999999999 is too large for me to work out exactly.
            3 × 4 ÷ 2 -> 3 * 4 / 2 = 6
            2 - -3 -> 2 - -3 = 5
            7 -> no sum
            2 + -> no sum
            (1 + 2 -> no sum
            2 apples + 3 -> no sum
            1.2.3 + 1 -> no sum
             -> no sum
        "#]].assert_eq(&table);
    }

    #[test]
    fn deep_and_long_sums_end() {
        assert_eq!(answer(&format!("{}1{}", "(".repeat(2000), ")".repeat(2000))), None);
        assert_eq!(answer(&format!("1{}", "-".repeat(2000))), None);
        assert_eq!(answer(&"1+".repeat(100_000)), None);
    }
}
