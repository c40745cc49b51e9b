//! Which provider, key and model come of what was said.

use super::*;
use crate::environment::Environment;
use choice::Auto;
use serde_json::{Value, json};
use std::path::Path;

fn sources(variables: &[(&str, &str)], configured: Option<Value>) -> Sources {
    Sources { environment: Environment::made_up(variables, Path::new("/")), configured, ..Sources::default() }
}

fn providers(variables: &[(&str, &str)]) -> Providers {
    Providers::new(&sources(variables, None)).unwrap()
}

fn told(failure: Failure) -> String {
    match failure {
        Failure::Told { message, .. } => message,
        Failure::NobodyReads => String::new(),
    }
}

#[test]
fn an_id_names_a_provider_or_is_known_to_exactly_one() {
    let providers = providers(&[("OPENAI_API_KEY", "k")]);
    let id = |text: &str| providers.choose(text, Vec::new()).map(|served| served.id()).map_err(told);
    for (text, expected) in [
        ("gpt-5", "openai/gpt-5"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("openai/whatever-comes", "openai/whatever-comes"),
        ("openrouter/meta/llama", "openrouter/meta/llama"),
        ("ollama/qwen2.5-coder:1.5b", "ollama/qwen2.5-coder:1.5b"),
        ("openai/gpt-5", "openai/gpt-5"),
    ] {
        assert_eq!(id(text), Ok(expected.to_owned()), "{text}");
    }
    let wrong = id("gtp-5").unwrap_err();
    assert!(
        wrong.starts_with("Cannot use this model: gtp-5. Available models: offline, openai/gpt-5,"),
        "{wrong}"
    );
    assert!(wrong.ends_with("(Did you mean gpt-5?)"), "{wrong}");
}

#[test]
fn parameters_are_checked_against_what_is_known() {
    let providers = providers(&[]);
    let choose = |id: &str, name: &str, value: &str| {
        let parameters = vec![(name.to_owned(), value.to_owned())];
        providers.choose(id, parameters).map(|served| served.id()).map_err(told)
    };
    assert_eq!(choose("gpt-5", "effort", "high"), Ok("openai/gpt-5[effort=high]".into()));
    assert_eq!(choose("openai/new", "effort", "enormous"), Ok("openai/new[effort=enormous]".into()));
    let message = "error: the effort of 'gpt-5' is one of minimal, low, medium, high, not 'enormous'";
    assert_eq!(choose("gpt-5", "effort", "enormous"), Err(message.into()));
    assert!(choose("gpt-5", "thinking", "maybe").is_err() && choose("gpt-5", "colour", "red").is_err());
}

#[test]
fn auto_is_the_first_provider_with_a_key_and_then_a_configured_server() {
    let auto = |variables: &[(&str, &str)], configured: Option<Value>| match Providers::new(&sources(
        variables, configured,
    ))
    .unwrap()
    .auto(&[])
    {
        Auto::Model(served) => served.id(),
        Auto::FirstOf(name) => format!("first of {name}"),
        Auto::Offline => "offline".into(),
    };
    let local = json!({"house": {"baseUrl": "http://127.0.0.1:9"}});
    let keyed = json!({"firm": {"baseUrl": "https://f", "keyVariable": "FIRM", "models": [{"id": "m"}]}});
    assert_eq!(auto(&[], None), "offline");
    assert_eq!(auto(&[("CURSOR_API_KEY", "k")], None), "offline");
    assert_eq!(auto(&[("XAI_API_KEY", "k"), ("GOOGLE_API_KEY", "k")], None), "gemini/gemini-2.5-pro");
    assert_eq!(auto(&[], Some(local)), "first of house");
    assert_eq!(auto(&[("FIRM", "k")], Some(keyed.clone())), "firm/m");
    assert_eq!(auto(&[], Some(keyed)), "offline");
}

#[test]
fn a_key_goes_to_the_providers_own_variable_first_and_to_nobody_else() {
    let providers = providers(&[("CURSOR_API_KEY", "any"), ("OPENAI_API_KEY", "own")]);
    let key = |name: &str, purpose| {
        let key = providers.key(providers.get(name).unwrap(), purpose);
        key.map(|key| (key.secret.reveal().to_owned(), key.source.to_string()))
    };
    let pair = |key: &str, source: &str| Some((key.to_owned(), source.to_owned()));
    assert_eq!(key("openai", Purpose::Run), pair("own", "OPENAI_API_KEY"));
    assert_eq!(key("xai", Purpose::Run), pair("any", "CURSOR_API_KEY"));
    assert_eq!(key("xai", Purpose::Look), None);
    assert_eq!(key("ollama", Purpose::Run), None);
    let mut sources = sources(&[("OPENAI_API_KEY", "own")], None);
    sources.flag = Some((Secret::new("flag"), "--api-key"));
    let providers = Providers::new(&sources).unwrap();
    let key = providers.key(providers.get("openai").unwrap(), Purpose::Run).unwrap();
    assert_eq!((key.secret.reveal(), key.source), ("flag", KeySource::Flag("--api-key")));
}

#[test]
fn an_endpoint_has_the_manners_of_its_host_and_takes_every_id() {
    for (base, api, family) in [
        ("http://127.0.0.1:8080", None, "chat"),
        ("https://gateway.example/x", None, "chat"),
        ("https://api.anthropic.com", None, "messages"),
        ("https://api.openai.com/v1", None, "responses"),
        ("https://generativelanguage.googleapis.com", None, "gemini"),
        ("https://gateway.example/x", Some("messages"), "messages"),
        ("https://api.openai.com/v1", Some("chat-openai"), "chat-openai"),
    ] {
        let mut sources = sources(&[], None);
        (sources.endpoint, sources.api) = (Some(base.into()), api.map(str::to_owned));
        let providers = Providers::new(&sources).unwrap();
        assert_eq!(providers.get(ENDPOINT).unwrap().family, family, "{base} {api:?}");
        assert_eq!(providers.choose("a/b", Vec::new()).unwrap().id(), "a/b");
    }
    let mut sources = sources(&[], None);
    (sources.endpoint, sources.api) = (Some("http://h".into()), Some("soap".into()));
    assert!(told(Providers::new(&sources).unwrap_err()).contains("'--endpoint-api' is one of chat, "));
}

#[test]
fn configured_providers_are_understood_or_refused_with_a_reason() {
    let read = |value: Value| Providers::new(&sources(&[], Some(value)));
    let providers = read(json!({"openai": {"baseUrl": "http://localhost:1/v1", "api": "chat-openai"},
        "mine": {"baseUrl": "https://m/v1", "key": "canary", "headers": {"x": "y"}, "extraBody": {"seed": 1},
                 "models": [{"id": "big", "context": 1000, "maxOutput": 10}]}}))
    .unwrap();
    let openai = providers.get("openai").unwrap();
    assert_eq!(
        (openai.family.as_str(), openai.place, openai.needs_key()),
        ("chat-openai", Place::Local, false)
    );
    let served = providers.choose("big", Vec::new()).unwrap();
    let model = providers.model(&served, &Arc::default()).unwrap();
    assert_eq!((model.target.max_output, model.target.extra_body.len()), (10, 1));
    assert_eq!(model.endpoint.headers, [("x".to_owned(), "y".to_owned())]);
    for (value, why) in [
        (json!([]), "'providers' in cli-config.json must be an object"),
        (json!({"a/b": {}}), "needs a name without slash"),
        (json!({"x": {}}), "needs a 'baseUrl'"),
        (json!({"x": {"baseUrl": "http://h", "api": "soap"}}), "has the api 'soap'; there are chat, "),
        (json!({"x": {"baseUrl": "http://h", "kee": "canary"}}), "unknown field `kee`"),
        (json!({"x": {"baseUrl": "http://h", "models": "canary"}}), "a field has the wrong type"),
    ] {
        let message = told(read(value).unwrap_err());
        assert!(message.contains(why) && !message.contains("canary"), "{message}");
    }
}

#[test]
fn an_unknown_model_gets_the_safe_guess() {
    let providers = providers(&[]);
    let most = |id: &str| {
        let served = providers.choose(id, Vec::new()).unwrap();
        providers.model(&served, &Arc::default()).unwrap().target.max_output
    };
    assert_eq!((most("xai/new"), most("ollama/small"), most("gpt-5")), (4096, 1024, 128_000));
}
