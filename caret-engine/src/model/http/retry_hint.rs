//! When a server says to come back, in all the forms in which servers say it.

use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// No hint is longer: a clock that is wrong must not put a session to sleep.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Whether the server says outright that trying again helps.
pub(crate) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match text(headers, "x-should-retry")?.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// How long to wait, from the headers first and then from the body's error object.
pub(crate) fn wait(headers: &HeaderMap, error: Option<&Value>, now: SystemTime) -> Option<Duration> {
    let milliseconds = || number(text(headers, "retry-after-ms")?).map(|ms| ms / 1000.0);
    let seconds = || number(text(headers, "retry-after")?);
    let date = || {
        let then = httpdate::parse_http_date(text(headers, "retry-after")?).ok()?;
        // The server's own clock, so that ours may be wrong.
        let now = text(headers, "date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
        Some(then.duration_since(now).unwrap_or_default().as_secs_f64())
    };
    let told = milliseconds().or_else(seconds).or_else(date).and_then(seconds_of);
    told.or_else(|| error.and_then(in_error))
}

/// The hint inside an error object: Gemini's `RetryInfo`, or "try again in 11.054s".
pub(crate) fn in_error(error: &Value) -> Option<Duration> {
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let hint = |detail: &Value| {
        let kind = detail.get("@type")?.as_str()?;
        kind.ends_with("RetryInfo").then(|| detail.get("retryDelay")?.as_str().map(str::to_owned)).flatten()
    };
    let given = details.filter_map(hint).find_map(|delay| span(&delay));
    given.or_else(|| {
        let message = error.get("message")?.as_str()?.to_lowercase();
        let (_, behind) = message.split_once("try again in ").or_else(|| message.split_once("retry in "))?;
        span(behind)
    })
}

/// A time such as `34.4s`, `6m0s`, `20ms` or `11.054 seconds` at the beginning of a text.
fn span(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text.trim_start(), None);
    loop {
        let digits = rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(rest.len());
        let Some(amount) = number(rest[..digits].trim_end_matches('.')) else { break };
        rest = rest[digits..].trim_start();
        let letters = rest.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(rest.len());
        let scale = match &rest[..letters] {
            "ms" | "milliseconds" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => break,
        };
        total = Some(total.unwrap_or(0.0) + amount * scale);
        rest = &rest[letters..];
    }
    total.and_then(seconds_of)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// A number that is written with digits; `inf`, `nan` and signs are none.
fn number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    plain.then(|| text.parse().ok()).flatten()
}

fn seconds_of(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.min(LONGEST.as_secs_f64())).ok()
}

#[cfg(test)]
mod tests {
    use super::{should_retry, wait};
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::{Value, json};
    use std::time::{Duration, SystemTime};

    type Pair = (&'static str, &'static str);

    fn headers(pairs: &[Pair]) -> HeaderMap {
        let pair = |(name, value): &Pair| (HeaderName::from_static(name), HeaderValue::from_static(value));
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn every_form_of_a_wait_is_understood() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let at = "Sun, 06 Nov 1994 08:49:47 GMT";
        let retry = json!({"details": [{"@type": "x/Help"}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}]});
        let none = Value::Null;
        let table: &[(&[Pair], &Value, Option<u64>)] = &[
            (&[], &none, None),
            (&[("retry-after", "7")], &none, Some(7000)),
            (&[("retry-after", "0.25")], &none, Some(250)),
            (&[("retry-after", " 3 ")], &none, Some(3000)),
            (&[("retry-after", at)], &none, Some(10_000)),
            (&[("retry-after", "Sunday, 06-Nov-94 08:49:47 GMT")], &none, Some(10_000)),
            (&[("retry-after", "Sun Nov  6 08:49:47 1994")], &none, Some(10_000)),
            (&[("retry-after", at), ("date", "Sun, 06 Nov 1994 08:49:45 GMT")], &none, Some(2000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT")], &none, Some(0)),
            (&[("retry-after-ms", "1500"), ("retry-after", "9")], &none, Some(1500)),
            (&[("retry-after-ms", "soon"), ("retry-after", "9")], &none, Some(9000)),
            (&[("retry-after", "soon")], &none, None),
            (&[("retry-after", "-1")], &none, None),
            (&[("retry-after", "inf")], &none, None),
            (&[("retry-after", "99999999999999999999999")], &none, Some(24 * 3_600_000)),
            (&[], &retry, Some(34_400)),
            (&[("retry-after", "1")], &retry, Some(1000)),
            (&[], &json!({"message": "Please try again in 11.054s. Visit"}), Some(11_054)),
            (&[], &json!({"message": "Please try again in 6m0s."}), Some(360_000)),
            (&[], &json!({"message": "Try again in 20ms"}), Some(20)),
            (&[], &json!({"message": "Please retry in 2 seconds"}), Some(2000)),
            (&[], &json!({"message": "try again in a while"}), None),
        ];
        for (pairs, error, expected) in table {
            let told = wait(&headers(pairs), Some(error), now);
            assert_eq!(told, expected.map(Duration::from_millis), "{pairs:?} {error}");
        }
    }

    #[test]
    fn a_server_may_say_outright_whether_to_try_again() {
        assert_eq!(should_retry(&headers(&[("x-should-retry", "True")])), Some(true));
        assert_eq!(should_retry(&headers(&[("x-should-retry", "false")])), Some(false));
        assert_eq!(should_retry(&headers(&[("x-should-retry", "maybe")])), None);
        assert_eq!(should_retry(&HeaderMap::new()), None);
    }
}
