//! Which models a server has, in the four shapes that servers list them.
//!
//! Lists are asked for by `caret models` and `doctor`, while somebody waits: short time-outs, few pages.

use super::endpoint::{Api, Endpoint};
use super::errors;
use super::provider::{refused, site};
use super::transport::Transport;
use crate::model::ModelError;
use reqwest::Url;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// The longest wait for one page.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most pages that are asked for.
const MOST_PAGES: usize = 20;
/// The largest page.
const LARGEST_PAGE: usize = 16 << 20;

/// How a server lists its models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// `GET /v1/models` as OpenAI, llama.cpp, vLLM, LM Studio and OpenRouter answer it.
    OpenAi,
    /// Anthropic's `GET /v1/models`.
    Anthropic,
    /// Gemini's `GET /v1beta/models`.
    Gemini,
    /// Ollama's own `GET /api/tags`.
    Ollama,
}

impl From<Api> for Listing {
    fn from(api: Api) -> Self {
        match api {
            Api::Chat | Api::Responses => Self::OpenAi,
            Api::Messages => Self::Anthropic,
            Api::Gemini => Self::Gemini,
        }
    }
}

/// A model as its server describes it; what the server does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerModel {
    /// The id that the server takes.
    pub id: String,
    /// The name that people read.
    pub name: Option<String>,
    /// The window, in tokens.
    pub context: Option<u64>,
    /// The most tokens of one answer.
    pub max_output: Option<u64>,
    /// Whether it takes pictures.
    pub images: Option<bool>,
    /// Whether it can call tools.
    pub tools: Option<bool>,
    /// Whether it can think aloud.
    pub thinking: Option<bool>,
}

/// Asks a server for its models, in its own order.
///
/// # Errors
/// As for any request; also when the answer is no list of models.
pub async fn list(
    transport: &Transport,
    endpoint: &Endpoint,
    listing: Listing,
) -> Result<Vec<ServerModel>, ModelError> {
    let mut models = Vec::new();
    let mut next = Some(listing.first_url(endpoint).map_err(ModelError::Refused)?);
    for _ in 0..MOST_PAGES {
        let Some(url) = next else { break };
        let page = page(transport, endpoint, &url).await?;
        let found = listing.entries(&page).ok_or_else(|| {
            let site = site(transport, endpoint, &url, "");
            let start = site.harmless(&page.to_string());
            ModelError::Refused(format!(
                "{} lists no models; check the base address: {start}",
                site.through()
            ))
        })?;
        models.extend(found.iter().filter_map(|entry| listing.model(entry)));
        next = listing.next_url(&url, &page);
    }
    Ok(models)
}

async fn page(transport: &Transport, endpoint: &Endpoint, url: &Url) -> Result<Value, ModelError> {
    let site = site(transport, endpoint, url, "");
    let headers = endpoint.header_map().map_err(ModelError::Refused)?;
    let asking = async {
        let sent = transport.client()?.get(url.clone()).headers(headers).send().await;
        let mut response = sent.map_err(|error| errors::from_connection(&site, &error))?;
        if !response.status().is_success() {
            return Err(refused(&site, response).await);
        }
        let mut body = Vec::new();
        while let Some(bytes) =
            response.chunk().await.map_err(|error| errors::from_connection(&site, &error))?
        {
            body.extend_from_slice(&bytes);
            if body.len() > LARGEST_PAGE {
                let most = LARGEST_PAGE >> 20;
                let site = site.through();
                return Err(ModelError::Refused(format!("{site} sent a list of more than {most} MiB")));
            }
        }
        serde_json::from_slice(&body).map_err(|_| {
            let start = site.harmless(&String::from_utf8_lossy(&body));
            let at = site.through();
            ModelError::Refused(format!(
                "{at} answered with no list of models; check the base address: {start}"
            ))
        })
    };
    match timeout(PATIENCE, asking).await {
        Ok(answer) => answer,
        Err(_) => {
            let why = format!(
                "did not list its models within {} s; check that the server runs",
                PATIENCE.as_secs()
            );
            Err(errors::cut(&site, &why, ""))
        }
    }
}

impl Listing {
    fn first_url(self, endpoint: &Endpoint) -> Result<Url, String> {
        match self {
            Self::OpenAi => endpoint.url(Api::Chat, "/models"),
            Self::Anthropic => endpoint.url(Api::Messages, "/v1/models?limit=1000"),
            Self::Gemini => endpoint.url(Api::Gemini, "/models?pageSize=1000"),
            Self::Ollama => endpoint.root_url("/api/tags"),
        }
    }

    fn next_url(self, url: &Url, page: &Value) -> Option<Url> {
        let (name, value) = match self {
            Self::OpenAi | Self::Ollama => return None,
            Self::Anthropic => {
                page.get("has_more")?.as_bool()?.then_some(())?;
                ("after_id", page.get("last_id")?.as_str()?)
            }
            Self::Gemini => ("pageToken", page.get("nextPageToken")?.as_str()?),
        };
        let kept: Vec<(String, String)> =
            url.query_pairs().into_owned().filter(|(known, _)| known != name).collect();
        let mut next = url.clone();
        next.query_pairs_mut().clear().extend_pairs(kept).append_pair(name, value);
        (!value.is_empty() && next != *url).then_some(next)
    }

    fn entries(self, page: &Value) -> Option<&[Value]> {
        let list = match self {
            // Some relatives answer with the list alone.
            Self::OpenAi if page.is_array() => page,
            Self::OpenAi | Self::Anthropic => page.get("data")?,
            Self::Gemini | Self::Ollama => page.get("models")?,
        };
        list.as_array().map(Vec::as_slice)
    }

    fn model(self, entry: &Value) -> Option<ServerModel> {
        let text =
            |path: &str| entry.pointer(path)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let count = |paths: &[&str]| paths.iter().find_map(|path| entry.pointer(path)?.as_u64());
        let holds = |path: &str, word: &str| {
            let all = entry.pointer(path)?.as_array()?;
            Some(all.iter().any(|item| item.as_str() == Some(word)))
        };
        Some(match self {
            Self::OpenAi => ServerModel {
                id: text("/id")?,
                name: text("/name"),
                context: count(&["/meta/n_ctx", "/max_model_len", "/context_length", "/max_context_length"]),
                max_output: count(&["/top_provider/max_completion_tokens", "/max_output_tokens"]),
                images: holds("/architecture/input_modalities", "image"),
                tools: holds("/supported_parameters", "tools"),
                thinking: holds("/supported_parameters", "reasoning"),
            },
            Self::Anthropic => ServerModel {
                id: text("/id")?,
                name: text("/display_name"),
                context: count(&["/max_input_tokens"]),
                max_output: count(&["/max_tokens"]),
                images: supported(entry, "/capabilities/image_input"),
                tools: None,
                thinking: supported(entry, "/capabilities/thinking"),
            },
            Self::Gemini => {
                // Models that only embed cannot answer.
                if holds("/supportedGenerationMethods", "generateContent") == Some(false) {
                    return None;
                }
                ServerModel {
                    id: text("/name")?.trim_start_matches("models/").to_owned(),
                    name: text("/displayName"),
                    context: count(&["/inputTokenLimit"]),
                    max_output: count(&["/outputTokenLimit"]),
                    thinking: entry.get("thinking").and_then(Value::as_bool),
                    ..ServerModel::default()
                }
            }
            Self::Ollama => ServerModel {
                id: text("/model").or_else(|| text("/name"))?,
                name: text("/name"),
                context: count(&["/details/context_length"]),
                images: holds("/capabilities", "vision"),
                tools: holds("/capabilities", "tools"),
                thinking: holds("/capabilities", "thinking"),
                ..ServerModel::default()
            },
        })
    }
}

/// A capability is a truth value, or an object with `supported`.
fn supported(entry: &Value, path: &str) -> Option<bool> {
    let capability = entry.pointer(path)?;
    capability.as_bool().or_else(|| capability.get("supported")?.as_bool())
}
