//! Which models can be reached now, and why others cannot; the only place here that uses the network.
//!
//! Everybody is asked at the same time. A server of this machine that nobody configured is only asked when
//! something listens on its usual port.

use super::builtin::Place;
use super::facts::Facts;
use super::provider::host;
use super::{Provider, Providers, Purpose, Served};
use crate::exit::{Exit, Failure};
use caret_engine::model::http::models;
use caret_engine::model::http::transport::Transport;
use caret_engine::model::{ModelError, http};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long a port of this machine may take to answer.
const KNOCK: Duration = Duration::from_millis(300);
/// Words in the ids of models that do not hold conversations.
const NO_CONVERSATION: [&str; 10] = [
    "embedding",
    "embed-",
    "whisper",
    "tts-",
    "-tts",
    "dall-e",
    "moderation",
    "realtime",
    "transcribe",
    "-image-",
];

/// What was found at one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The provider's name.
    pub provider: String,
    /// Its models, or why there are none.
    pub models: Result<Vec<Facts>, String>,
}

/// Asks every provider; `current` is the one of the run, which also gets the run's key.
pub async fn look(
    providers: &Providers,
    transport: &Arc<Transport>,
    current: Option<&str>,
    program: &str,
) -> Vec<Found> {
    let mut asking = JoinSet::new();
    for (number, provider) in providers.all().iter().enumerate() {
        let is_current = current == Some(&provider.name) || provider.name == super::ENDPOINT;
        let purpose = if is_current { Purpose::Run } else { Purpose::Look };
        let endpoint = providers.endpoint(provider, purpose);
        let no_key = provider.needs_key() && endpoint.key.is_none();
        let (provider, transport, program) = (provider.clone(), Arc::clone(transport), program.to_owned());
        asking.spawn(async move {
            let models = match no_key {
                true => Err(no_key_reason(&provider, &program)),
                false => ask(&provider, &endpoint, &transport).await,
            };
            (number, Found { provider: provider.name, models })
        });
    }
    let mut found: Vec<(usize, Found)> = Vec::new();
    while let Some(one) = asking.join_next().await {
        found.extend(one.ok());
    }
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, found)| found).collect()
}

fn no_key_reason(provider: &Provider, program: &str) -> String {
    let name = &provider.name;
    format!("no key: set {}, or run `{program} login {name}`", provider.wanted_key())
}

async fn ask(
    provider: &Provider,
    endpoint: &http::endpoint::Endpoint,
    transport: &Transport,
) -> Result<Vec<Facts>, String> {
    if provider.place == Place::Local && !provider.is_configured && !answers(&provider.base).await {
        return Err(format!("no server at {}", provider.base));
    }
    let listed = models::list(transport, endpoint, provider.listing()).await;
    let listed = listed.map_err(|error| error.to_string())?;
    let holds_conversations = |id: &str| !NO_CONVERSATION.iter().any(|word| id.contains(word));
    let listed = listed.iter().filter(|model| holds_conversations(&model.id));
    let mut all: Vec<Facts> = listed.map(|model| provider.facts(&model.id, Some(&model.into()))).collect();
    for model in &provider.models {
        if !all.iter().any(|other| other.id == model.id) {
            all.push(provider.facts(&model.id, None));
        }
    }
    Ok(all)
}

/// Whether something listens where a local server usually does.
async fn answers(base: &str) -> bool {
    let port = base.rsplit(':').next().and_then(|port| port.trim_end_matches('/').parse::<u16>().ok());
    let Some(port) = port else { return false };
    let connecting = tokio::net::TcpStream::connect((host(base).to_owned(), port));
    matches!(tokio::time::timeout(KNOCK, connecting).await, Ok(Ok(_)))
}

/// The first model of a provider's own list, for `auto`.
pub async fn first(
    providers: &Providers,
    transport: &Transport,
    name: &str,
    parameters: Vec<(String, String)>,
) -> Result<Served, Failure> {
    let provider = providers.get(name).ok_or_else(|| super::unknown_provider(name))?;
    let endpoint = providers.endpoint(provider, Purpose::Run);
    let unavailable = |why: String| {
        Failure::new(Exit::Unavailable, format!("{why}\nname a model with --model, or use --model offline"))
    };
    let listed = ask(provider, &endpoint, transport).await.map_err(unavailable)?;
    let seen = listed.into_iter().next();
    let seen = seen.ok_or_else(|| unavailable(format!("{} lists no models", provider.title)))?;
    Ok(Served { provider: name.to_owned(), model: seen.id.clone(), parameters, seen: Some(seen) })
}

/// Finds out whether a provider takes its key.
pub async fn check(
    providers: &Providers,
    transport: &Transport,
    provider: &Provider,
) -> Result<(), ModelError> {
    let endpoint = providers.endpoint(provider, Purpose::Run);
    models::list(transport, &endpoint, provider.listing()).await.map(drop)
}
