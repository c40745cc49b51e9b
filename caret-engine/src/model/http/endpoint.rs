//! Where a model is reached: the address, the key and the patience.
//!
//! People write base addresses with and without `/v1`, with a query, or paste the whole address of a call.
//! All of these lead to the same place, worked out here and nowhere else.
//!
//! Invariant: an address in a message has no user, password or query.

use super::secret::Secret;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::time::Duration;

/// The four wire formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// OpenAI Chat Completions and its many relatives.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Google Gemini.
    Gemini,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Messages, Self::Gemini];

    /// The name that `Family::name` and `--api` use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }

    /// The vendor's own base address.
    pub fn default_base(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "https://api.openai.com/v1",
            Self::Messages => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Self::Gemini => "v1beta",
            _ => "v1",
        }
    }
}

/// How a key is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyStyle {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The key alone in a header of this name.
    Header(String),
}

/// How long a silent server is waited for. Comments that keep a connection alive are silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until the first byte of the answer.
    pub first: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { first: Duration::from_secs(300), idle: Duration::from_secs(120) }
    }
}

/// Where a model is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The base address, with or without its version.
    pub base: String,
    /// The key, if one is sent.
    pub key: Option<Secret>,
    /// How it is sent.
    pub key_style: KeyStyle,
    /// Where the key came from or should come from, for messages: `OPENAI_API_KEY`.
    pub key_source: String,
    /// Sent over all others.
    pub headers: Vec<(String, String)>,
    /// How long a silent server is waited for.
    pub patience: Patience,
}

impl fmt::Debug for Endpoint {
    /// Header values may be keys and are not shown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        out.debug_struct("Endpoint")
            .field("base", &shown(&self.base))
            .field("key", &self.key)
            .field("key_source", &self.key_source)
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The vendor's own manners for a format, at `base` or the vendor's address.
    pub fn new(api: Api, base: Option<&str>) -> Self {
        let (key_style, key_source) = match api {
            Api::Chat | Api::Responses => (KeyStyle::Bearer, "OPENAI_API_KEY"),
            Api::Messages => (KeyStyle::Header("x-api-key".into()), "ANTHROPIC_API_KEY"),
            Api::Gemini => (KeyStyle::Header("x-goog-api-key".into()), "GEMINI_API_KEY"),
        };
        // The version that nearly every compatible server knows.
        let version = (api == Api::Messages).then(|| ("anthropic-version".into(), "2023-06-01".into()));
        Self {
            base: base.unwrap_or(api.default_base()).to_owned(),
            key: None,
            key_style,
            key_source: key_source.into(),
            headers: version.into_iter().collect(),
            patience: Patience::default(),
        }
    }

    /// The address of `path` below the base.
    ///
    /// # Errors
    /// Says what is wrong with the base address.
    pub(crate) fn url(&self, api: Api, path: &str) -> Result<Url, String> {
        let mut url = self.base()?;
        let (path, query) = split(path);
        let (path, wanted) = match path.trim_start_matches('/').split_once('/') {
            Some((first, rest)) if is_version(first) => (rest, Some(first.to_owned())),
            _ => (path.trim_start_matches('/'), None),
        };
        let base = url.path().trim_matches('/').to_owned();
        let versioned = base.rsplit('/').next().is_some_and(is_version);
        let joined = if base == path || base.ends_with(&format!("/{path}")) {
            // The whole address of the call was given.
            base
        } else if versioned {
            format!("{base}/{path}")
        } else if let Some(version) = wanted {
            format!("{base}/{version}/{path}")
        } else if base.is_empty() {
            format!("{}/{path}", api.version())
        } else {
            format!("{base}/{path}")
        };
        url.set_path(&joined);
        let queries: Vec<&str> =
            [url.query(), query].into_iter().flatten().filter(|query| !query.is_empty()).collect();
        let query = (!queries.is_empty()).then(|| queries.join("&"));
        url.set_query(query.as_deref());
        Ok(url)
    }

    /// The address of `path` on the server itself, outside any version.
    pub(crate) fn root_url(&self, path: &str) -> Result<Url, String> {
        let mut url = self.base()?;
        url.set_path(path);
        url.set_query(None);
        Ok(url)
    }

    fn base(&self) -> Result<Url, String> {
        let base = self.base.trim();
        let wrong = |why: &str| {
            format!("the base address `{}` {why}; write one such as https://host/v1", shown(base))
        };
        let mut url = Url::parse(base).map_err(|error| wrong(&format!("is no address ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("does not begin with http:// or https://"));
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// The headers of every request: the key, then the given ones over it.
    ///
    /// # Errors
    /// Names the header that cannot be sent, never its value.
    pub(crate) fn header_map(&self) -> Result<HeaderMap, String> {
        let mut map = HeaderMap::new();
        let mut insert = |name: &str, value: &str, source: &str| {
            let bad = |part: &str| {
                format!("the {part} of the header `{}` from {source} cannot be sent", name.escape_debug())
            };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("name"))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad("value"))?;
            value.set_sensitive(true);
            map.insert(name, value);
            Ok::<(), String>(())
        };
        if let Some(key) = self.key.as_ref().filter(|key| !key.reveal().is_empty()) {
            match &self.key_style {
                KeyStyle::Bearer => {
                    let mut value = zeroize::Zeroizing::new(String::from("Bearer "));
                    value.push_str(key.reveal());
                    insert("authorization", &value, &self.key_source)?;
                }
                KeyStyle::Header(name) => insert(name, key.reveal(), &self.key_source)?,
            }
        }
        for (name, value) in &self.headers {
            insert(name.trim(), value.trim(), "the settings")?;
        }
        Ok(map)
    }

    /// Everything that must not be seen in a message.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let telling = ["auth", "key", "token", "secret", "cookie", "passw", "credential"];
        let headers = self.headers.iter().filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            telling.iter().any(|word| name.contains(word))
        });
        let values = headers.map(|(_, value)| value.rsplit(' ').next().unwrap_or(value));
        let query = self.base.split_once('?').map(|(_, query)| query.split('&')).into_iter().flatten();
        let query = query.filter_map(|pair| pair.split_once('=')).filter_map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            telling.iter().any(|word| name.contains(word)).then_some(value)
        });
        let password = Url::parse(&self.base).ok().and_then(|url| url.password().map(str::to_owned));
        let all = values.chain(query).map(Secret::new).chain(password.map(Secret::new));
        // Shorter ones would blot out ordinary words.
        all.chain(self.key.clone()).filter(|secret| secret.reveal().len() >= 6).collect()
    }
}

/// An address for messages: scheme, host, port and path.
pub(crate) fn shown(address: &str) -> String {
    let bare = split(address).0.split('#').next().unwrap_or_default();
    match bare.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit('@').next().unwrap_or_default();
            let path = path.map(|path| format!("/{path}")).unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => bare.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)))
}

/// `v1`, `v1beta`, `v4`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{Api, Endpoint, Secret, shown};

    #[test]
    fn a_base_address_works_with_and_without_its_version() {
        let table = [
            (
                Api::Chat,
                "http://127.0.0.1:8080",
                "/chat/completions",
                "http://127.0.0.1:8080/v1/chat/completions",
            ),
            (
                Api::Chat,
                "http://127.0.0.1:8080/",
                "/v1/chat/completions",
                "http://127.0.0.1:8080/v1/chat/completions",
            ),
            (Api::Chat, "http://h/v1/", "/v1/chat/completions", "http://h/v1/chat/completions"),
            (
                Api::Chat,
                "https://h/api/paas/v4",
                "/chat/completions",
                "https://h/api/paas/v4/chat/completions",
            ),
            (Api::Chat, "https://h/inference", "/chat/completions", "https://h/inference/chat/completions"),
            (
                Api::Chat,
                "https://h/openai/deployments/d?api-version=2",
                "/chat/completions",
                "https://h/openai/deployments/d/chat/completions?api-version=2",
            ),
            (Api::Chat, "https://h/x/chat/completions", "/chat/completions", "https://h/x/chat/completions"),
            (
                Api::Responses,
                "https://api.openai.com/v1",
                "/responses",
                "https://api.openai.com/v1/responses",
            ),
            (
                Api::Messages,
                "https://api.anthropic.com",
                "/v1/messages",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                Api::Messages,
                "https://api.anthropic.com/v1",
                "/v1/messages",
                "https://api.anthropic.com/v1/messages",
            ),
            (Api::Messages, "https://h/anthropic", "/v1/messages", "https://h/anthropic/v1/messages"),
            (Api::Gemini, "https://h", "/models/m:s?alt=sse", "https://h/v1beta/models/m:s?alt=sse"),
            (Api::Gemini, "https://h/v1beta", "/models/m:s?alt=sse", "https://h/v1beta/models/m:s?alt=sse"),
            (
                Api::Gemini,
                "https://h/v1?key=K",
                "/models/m:s?alt=sse",
                "https://h/v1/models/m:s?key=K&alt=sse",
            ),
        ];
        for (api, base, path, expected) in table {
            let url = Endpoint::new(api, Some(base)).url(api, path);
            assert_eq!(url.map(String::from), Ok(expected.to_owned()), "{base} + {path}");
        }
    }

    #[test]
    fn a_wrong_base_address_is_refused_with_a_reason() {
        for base in ["", "nonsense", "ftp://h", "http://", "file:///etc/passwd"] {
            let wrong = Endpoint::new(Api::Chat, Some(base)).url(Api::Chat, "/x");
            let message = wrong.expect_err(base);
            assert!(message.starts_with("the base address `"), "{message}");
            assert!(message.ends_with("; write one such as https://host/v1"), "{message}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        assert_eq!(shown("https://user:pw@h:1/v1/x?key=K#f"), "https://h:1/v1/x");
        assert_eq!(shown("user:pw@h"), "h");
    }

    #[test]
    fn an_endpoint_never_shows_a_key() {
        let mut endpoint = Endpoint::new(Api::Chat, Some("https://u:passcanary@h/v1?key=querycanary"));
        endpoint.key = Some(Secret::new("keycanary\n"));
        endpoint.headers = vec![("x-team-token".into(), "headercanary".into())];
        let shown = format!("{endpoint:?} {} {:?}", Secret::new("keycanary"), endpoint.header_map());
        assert!(!shown.contains("canary"), "{shown}");
        let hidden: Vec<String> =
            endpoint.secrets().iter().map(|secret| secret.reveal().to_owned()).collect();
        assert_eq!(hidden, ["headercanary", "querycanary", "passcanary", "keycanary"]);
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named_without_its_value() {
        let mut endpoint = Endpoint::new(Api::Chat, None);
        endpoint.key = Some(Secret::new("two\nlines-canary"));
        let message = endpoint.header_map().expect_err("a line end cannot be sent");
        assert_eq!(message, "the value of the header `authorization` from OPENAI_API_KEY cannot be sent");
    }
}
