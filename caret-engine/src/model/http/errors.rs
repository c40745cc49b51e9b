//! What went wrong, in the cases that the turn loop treats differently and in words that help.
//!
//! Every message says what happened, at which address, and what to do. What a server says is quoted only
//! after it was made harmless: no control characters, no keys, not too long.
//!
//! Invariant: `Busy` and `Broken` are made only where the same request may work in a moment; an account
//! without money is neither.

use super::retry_hint;
use super::site::Site;
use crate::model::ModelError;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::error::Error;
use std::time::{Duration, SystemTime};

/// What a server said about an error, whichever way it says it.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Its types, codes and reasons.
    kinds: Vec<String>,
    wait: Option<Duration>,
}

/// What an error means for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    TooLong,
    NoMoney,
    Unauthorized,
    Passing,
    Final,
}

/// The error for an answer whose status says that there is none.
pub(crate) fn from_answer(
    site: &Site,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    now: SystemTime,
) -> ModelError {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let mut said = parsed.as_ref().and_then(Said::find).unwrap_or_else(|| Said::words(body));
    said.wait = retry_hint::wait(headers, None, now).or(said.wait);
    let meaning = match (said.meaning(status.as_u16()), retry_hint::should_retry(headers)) {
        (Meaning::TooLong, _) => Meaning::TooLong,
        (_, Some(true)) => Meaning::Passing,
        (Meaning::Passing, Some(false)) => Meaning::Final,
        (meaning, _) => meaning,
    };
    let mut happened = format!("{} answered {}", site.shown(), status_name(status));
    let words = site.harmless(said.message.trim().trim_end_matches('.'));
    if !words.is_empty() {
        happened.push_str(&format!(": {words}"));
    }
    let advice = match meaning {
        Meaning::Final if status.is_redirection() => redirected(site, headers),
        _ => advice(site, meaning, status.as_u16(), &said),
    };
    let request = ["x-request-id", "request-id"].iter().find_map(|name| headers.get(*name)?.to_str().ok());
    let request = request.map(|id| format!(" (request {})", site.harmless(id))).unwrap_or_default();
    made(site, meaning, said.wait, format!("{happened}; {advice}{request}"))
}

/// The error that a body reports although its status was good, if it reports one.
pub(crate) fn from_body(site: &Site, body: &str) -> Option<ModelError> {
    super::fault_in_text(body, &site.model).map(|error| placed(site, error))
}

/// Adds the address to an error that was found inside an answer.
pub(crate) fn placed(site: &Site, error: ModelError) -> ModelError {
    let at = |words: String, advice: &str| {
        format!("{}: {}{advice}", site.shown(), site.harmless_up_to(400, &words))
    };
    match error {
        ModelError::Busy { retry_after, message } => {
            ModelError::Busy { retry_after, message: at(message, "; wait a little or choose another model") }
        }
        ModelError::Broken(message) => ModelError::Broken(at(message, "")),
        ModelError::Refused(message) => ModelError::Refused(at(message, "")),
        ModelError::Unauthorized(message) => {
            let advice = site.key_advice();
            ModelError::Unauthorized(at(message, &format!("; {advice}")))
        }
        ModelError::TooLong(model) if model.is_empty() => ModelError::TooLong(site.model.clone()),
        other => other,
    }
}

/// The error for a connection that could not be made, or that broke.
pub(crate) fn from_connection(site: &Site, error: &reqwest::Error) -> ModelError {
    let cause = site.harmless(&innermost(error));
    if error.is_builder() {
        return ModelError::Refused(format!(
            "{} cannot be asked: {cause}; check the base address",
            site.shown()
        ));
    }
    if !error.is_connect() {
        return ModelError::Broken(format!("{}: {cause}; check the network", site.through()));
    }
    let advice = match () {
        () if site.proxy.is_some() => "check the proxy",
        () if matches!(tls_error(error), Some(rustls::Error::InvalidCertificate(_))) => {
            "if its certificate is signed by an authority of your own, add that to the settings; `--insecure` skips \
             the check"
        }
        () if tls_error(error).is_some() => "check whether the address begins with http or https",
        () if error.is_dns() => "check the host's name and the network",
        () if error.is_timeout() => "check the network and whether a proxy is needed",
        () => "check that the server runs and the address is right",
    };
    let cause = if error.is_timeout() { "no connection within 10 s".into() } else { cause };
    ModelError::Broken(format!("cannot connect to {}: {cause}; {advice}", site.through()))
}

/// The error for an answer that is no stream of events at all: a portal's page, a wrong port, packed bytes.
pub(crate) fn not_a_stream(site: &Site, content_type: &str, body: &[u8]) -> ModelError {
    let text = String::from_utf8_lossy(body);
    let start = text.trim_start();
    let what = if start.starts_with('<') || content_type.contains("html") {
        "a web page"
    } else if start.starts_with(['{', '[']) {
        "one JSON document"
    } else if content_type.is_empty() {
        "something else"
    } else {
        content_type
    };
    let advice = match what {
        "a web page" => "check the base address, and whether the network asks you to sign in",
        _ => "check the base address and that the server can stream",
    };
    let quoted = site.harmless(&text);
    ModelError::Refused(format!(
        "{} answered with {} where a stream of events was asked for; {advice}: {quoted}",
        site.through(),
        site.harmless(what)
    ))
}

/// The error for a stream that ended too early; `rest` is what came last and belongs to nothing.
pub(crate) fn cut(site: &Site, why: &str, rest: &str) -> ModelError {
    let rest = site.harmless(rest);
    let rest = if rest.is_empty() { rest } else { format!("; the last it sent was: {rest}") };
    ModelError::Broken(format!("{} {why}{rest}", site.through()))
}

/// The deepest cause of an error; the layers above it only say where it passed.
pub(crate) fn innermost(error: &dyn Error) -> String {
    let mut deepest = error;
    while let Some(cause) = deepest.source() {
        deepest = cause;
    }
    deepest.to_string()
}

/// The fault of the encryption that an error is about, if it is about one.
fn tls_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An I/O error does not name what it wraps as its source.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}

fn made(site: &Site, meaning: Meaning, wait: Option<Duration>, message: String) -> ModelError {
    match meaning {
        Meaning::TooLong => ModelError::TooLong(site.model.clone()),
        Meaning::Unauthorized => ModelError::Unauthorized(message),
        Meaning::Passing => ModelError::Busy { retry_after: wait, message },
        Meaning::NoMoney | Meaning::Final => ModelError::Refused(message),
    }
}

fn status_name(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn redirected(site: &Site, headers: &HeaderMap) -> String {
    match headers.get("location").and_then(|value| value.to_str().ok()) {
        Some(to) => {
            let to = site.harmless(&super::endpoint::shown(to));
            format!("it leads to {to}; if that is right, make it the base address")
        }
        None => "check the base address".into(),
    }
}

fn advice(site: &Site, meaning: Meaning, status: u16, said: &Said) -> String {
    match (meaning, status) {
        (Meaning::Unauthorized, 403) if site.has_key => {
            format!("the key from {} may not use this model, or not from here", site.key_source)
        }
        (Meaning::Unauthorized, _) => site.key_advice(),
        (Meaning::NoMoney, _) => "the account has no credit left; add some or choose another model".into(),
        (Meaning::Passing, _) => match said.wait.filter(|wait| wait.as_secs() > 60) {
            Some(wait) => {
                format!("it asks to wait {} min; choose another model", wait.as_secs().div_ceil(60))
            }
            None => "wait a little or choose another model".into(),
        },
        (Meaning::Final, 408 | 409 | 429 | 500..) => {
            "it says that trying again does not help; choose another model".into()
        }
        (_, 404) => "check the base address and the model's id; `caret models` lists what there is".into(),
        (_, 407) => match &site.proxy {
            Some(proxy) => format!("the proxy {proxy} wants a user and a password in its address"),
            None => "a proxy on the way wants a user and a password".into(),
        },
        (_, 413) => "the request is too large; send fewer or smaller images".into(),
        _ => "check the model's id and its options".into(),
    }
}

impl Said {
    /// The error in a JSON body, in the forms that servers use.
    fn find(value: &Value) -> Option<Self> {
        // Gemini may wrap its object in a list.
        let value = value.as_array().and_then(|items| items.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        if let Some(message) = error.as_str() {
            return Some(Self { message: message.to_owned(), ..Self::default() });
        }
        error.as_object()?;
        let message = ["message", "detail", "msg"].iter().find_map(|name| match error.get(*name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        });
        let details = error.get("details");
        let reasons =
            details.and_then(Value::as_array).into_iter().flatten().map(|detail| detail.get("reason"));
        let kinds = ["type", "code", "status"].map(|name| error.get(name));
        let all =
            kinds.into_iter().chain([details.and_then(|details| details.get("error_code"))]).chain(reasons);
        let kinds = all.flatten().filter_map(|kind| match kind {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let kinds: Vec<String> = kinds.collect();
        let found = message.is_some() || !kinds.is_empty();
        found.then(|| Self { message: message.unwrap_or_default(), kinds, wait: retry_hint::in_error(error) })
    }

    /// A body that is no error object, as it is.
    fn words(body: &[u8]) -> Self {
        Self { message: String::from_utf8_lossy(body).into_owned(), ..Self::default() }
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|word| message.contains(word))
    }

    /// What it means under a status; 0 when there is none.
    fn meaning(&self, status: u16) -> Meaning {
        const TOO_LONG: &[&str] = &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_context_window_exceeded",
            "request_too_large_for_context",
        ];
        const TOO_LONG_WORDS: &[&str] = &[
            "prompt is too long",
            "maximum context length",
            "exceeds the available context size",
            "exceeds the context window",
            "exceed context limit",
        ];
        const NO_MONEY: &[&str] = &[
            "insufficient_quota",
            "credit_balance_exhausted",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
        ];
        const UNAUTHORIZED: &[&str] = &[
            "authentication_error",
            "invalid_api_key",
            "permission_error",
            "API_KEY_INVALID",
            "UNAUTHENTICATED",
            "PERMISSION_DENIED",
        ];
        const PASSING: &[&str] = &[
            "overloaded_error",
            "rate_limit_error",
            "rate_limit_exceeded",
            "api_error",
            "server_error",
            "internal_server_error",
            "server_is_overloaded",
            "timeout_error",
            "unavailable_error",
            "UNAVAILABLE",
            "RESOURCE_EXHAUSTED",
            "INTERNAL",
            "DEADLINE_EXCEEDED",
        ];
        let token_count = self.says(&["input token count"]) && self.says(&["exceeds"]);
        let may_be_too_long = matches!(status, 0 | 400 | 413 | 422 | 500);
        if may_be_too_long && (self.is(TOO_LONG) || self.says(TOO_LONG_WORDS) || token_count) {
            return Meaning::TooLong;
        }
        if status == 402 || self.is(NO_MONEY) || self.says(&["credit balance is too low"]) {
            return Meaning::NoMoney;
        }
        match status {
            401 | 403 => Meaning::Unauthorized,
            0 | 400 if self.is(UNAUTHORIZED) => Meaning::Unauthorized,
            501 | 505 => Meaning::Final,
            408 | 409 | 429 | 500..=599 => Meaning::Passing,
            0 if self.is(PASSING) => Meaning::Passing,
            _ => Meaning::Final,
        }
    }
}
