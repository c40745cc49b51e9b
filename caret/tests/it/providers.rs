//! Whole turns of the real program over HTTP: the four wire formats, keys and where they never are, lists of
//! models, and what is said when a server cannot be used.

use crate::program::{Ended, Home, bad, good, mode};
use caret_engine::model::http::endpoint::Api;
use caret_engine::model::http::mock::{self, Mock, MockRequest, MockSettings};
use caret_engine::model::scripted::{Scripted, SourceName};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;

const CANARY: &str = "canary-4f1d9e7b2a";

/// A model server on loopback that lives as long as the test's process.
struct Server {
    mock: Arc<Mock>,
    address: String,
}

impl Server {
    fn new(api: Api, replies: &Value) -> Self {
        let turns: Vec<Value> =
            replies.as_array().unwrap().iter().map(|emit| json!({ "emit": emit })).collect();
        let script = json!({ "version": 1, "model": "mock-model", "turn": turns }).to_string();
        let script = Scripted::from_text(&script, SourceName::new("mock.json")).unwrap();
        let mock = Arc::new(Mock::new(script, MockSettings { remember: 100, ..MockSettings::new(api) }));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let served = Arc::clone(&mock);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                mock::serve(listener, served).await.unwrap()
            })
        });
        Self { mock, address }
    }

    fn header(&self, request: &MockRequest, name: &str) -> Option<String> {
        let found = request.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }

    /// The requests that asked for a reply.
    fn calls(&self) -> Vec<MockRequest> {
        self.mock.requests().into_iter().filter(|request| request.method == "POST").collect()
    }
}

/// A server that gives one answer to everything.
fn always(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut request = [0; 4096];
            assert!(connection.read(&mut request).unwrap() > 0);
            connection.write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

const REFUSED: &str = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 41\r\n\
     connection: close\r\n\r\n{\"error\":{\"message\":\"that key is unknown\"}}";

/// An address where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Reads, edits, runs a command that tells all that a child can see, and ends.
fn work() -> Value {
    let look = "env > seen.txt; for p in $$ $PPID; do cat /proc/$p/environ /proc/$p/cmdline >> seen.txt; done; echo ran";
    json!([
        [{"text": "Reading."}, {"call": "Read", "id": "call_1", "input": {"path": "notes.txt"}}],
        [{"call": "StrReplace", "id": "call_2", "input": {"path": "notes.txt", "old_string": "milk", "new_string": "tea"}}],
        [{"call": "Shell", "id": "call_3", "input": {"command": look}}],
        [{"text": "All done."}, {"usage": {"input": 12, "output": 3}}],
    ])
}

/// Fails when the key stands anywhere below a folder or in what a run said.
fn assert_no_canary(folder: &Path, ended: &Ended) {
    assert!(!ended.stdout.contains(CANARY) && !ended.stderr.contains(CANARY), "{ended:?}");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            assert_no_canary(&path, ended);
        } else if let Ok(bytes) = std::fs::read(&path) {
            let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
            assert!(!found, "the key is in {}", path.display());
        }
    }
}

fn key_header(api: Api) -> (&'static str, String) {
    match api {
        Api::Chat | Api::Responses => ("authorization", format!("Bearer {CANARY}")),
        Api::Messages => ("x-api-key", CANARY.to_owned()),
        Api::Gemini => ("x-goog-api-key", CANARY.to_owned()),
    }
}

#[test]
fn a_whole_turn_works_in_every_wire_format_and_the_key_goes_to_the_server_only() {
    for api in Api::ALL {
        let server = Server::new(api, &work());
        let home =
            Home::new().with("CURSOR_API_KEY", CANARY).with("OPENAI_API_KEY", &format!("{CANARY}-other"));
        home.write("work/notes.txt", "milk\n");
        let words = ["-p", "--trust", "--force", "--endpoint", &server.address, "--endpoint-api", api.name()];
        let more = ["-H", "X-Team: blue", "--model", "any/model", "--output-format", "json", "go on"];
        let ended = home.run(&[&words[..], &more].concat());
        assert_eq!(ended.code, 0, "{} {ended:?}", api.name());
        let result: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(
            (&result["is_error"], &result["subtype"]),
            (&json!(false), &json!("success")),
            "{}",
            api.name()
        );
        assert!(result["result"].as_str().unwrap().ends_with("All done."), "{result}");
        assert_eq!(home.read("work/notes.txt"), "tea\n");
        assert!(home.read("work/seen.txt").contains("PATH="));
        assert_no_canary(&home.path(""), &ended);
        let calls = server.calls();
        assert_eq!(calls.len(), 4, "{}", api.name());
        assert_eq!(server.mock.requests().len(), 4, "no list of models is asked for");
        let (name, value) = key_header(api);
        for call in &calls {
            assert_eq!(server.header(call, name), Some(value.clone()));
            assert_eq!(server.header(call, "x-team").as_deref(), Some("blue"));
        }
        assert!(String::from_utf8_lossy(&calls[1].body).contains("milk"), "the file went to the model");
    }
}

#[test]
fn a_refused_key_is_told_with_its_source_and_never_shown() {
    for api in Api::ALL {
        let said = format!("the key {CANARY} is wrong");
        let server = Server::new(api, &json!([[{"error": {"status": 401, "message": said}}]]));
        let home = Home::new().with("CURSOR_API_KEY", CANARY);
        let words = [
            "-p",
            "--trust",
            "--endpoint",
            &server.address,
            "--endpoint-api",
            api.name(),
            "--model",
            "m",
            "hi",
        ];
        let ended = home.run(&words);
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(ended.stderr.contains("401 Unauthorized"), "{ended:?}");
        assert!(ended.stderr.contains("check the key from CURSOR_API_KEY"), "{ended:?}");
        assert_no_canary(&home.path(""), &ended);
        assert_eq!(server.calls().len(), 1, "a refused key is not tried again");
    }
}

#[test]
fn a_model_that_its_server_does_not_know_is_told_with_what_to_check() {
    let server = Server::new(Api::Chat, &json!([[{"error": {"status": 404, "message": "no model m"}}]]));
    let message =
        bad(Home::new().run(&["-p", "--trust", "--endpoint", &server.address, "--model", "m", "hi"]));
    let advice = "check the base address and the model's id; `caret models` lists what there is";
    assert!(message.contains("404 Not Found: no model m") && message.contains(advice), "{message}");
}

#[test]
fn keys_in_the_configuration_are_used_and_not_shown() {
    let server = Server::new(Api::Chat, &json!([[{"text": "Hello."}]]));
    let home = Home::new();
    let config = json!({"version": 1, "providers": {"house": {"baseUrl": server.address, "key": CANARY,
        "headers": {"cookie": CANARY}, "models": [{"id": "m"}]}}});
    home.write(".caret/cli-config.json", &config.to_string());
    assert_eq!(home.run(&["-p", "--trust", "hi"]).stdout, "Hello.\n");
    assert_eq!(server.header(&server.calls()[0], "authorization"), Some(format!("Bearer {CANARY}")));
    for words in
        [&["config"][..], &["config", "get", "providers"], &["status"], &["doctor"], &["models"], &["about"]]
    {
        let ended = home.run(words);
        assert!(!ended.stdout.contains(CANARY) && !ended.stderr.contains(CANARY), "{words:?} {ended:?}");
    }
}

#[test]
fn an_endpoint_without_a_model_takes_the_first_that_it_lists() {
    let server = Server::new(Api::Chat, &json!([[{"text": "Hello."}]]));
    let home = Home::new().with("CURSOR_API_ENDPOINT", &server.address);
    assert_eq!(home.run(&["-p", "--trust", "hi"]).stdout, "Hello.\n");
    let body: Value = serde_json::from_slice(&server.calls()[0].body).unwrap();
    assert_eq!(body["model"], "mock-model");
    let text = good(home.run(&["models"]));
    assert!(text.contains("\nmock-model - mock-model  (current, default)\n"), "{text}");
}

#[test]
fn a_configured_provider_is_used_with_its_key_headers_and_facts() {
    let server = Server::new(Api::Messages, &json!([[{"text": "Hello."}]]));
    let home = Home::new().with("HOUSE_KEY", CANARY);
    let config = json!({"version": 1, "selectedModel": {"modelId": "house/mine",
        "parameters": [{"id": "effort", "value": "high"}]}, "providers": {"house": {"api": "messages", "baseUrl": server.address,
        "keyVariable": "HOUSE_KEY", "headers": {"x-house": "yes"}, "extraBody": {"top_k": 7},
        "models": [{"id": "mine", "name": "Mine", "maxOutput": 77}]}}});
    home.write(".caret/cli-config.json", &config.to_string());
    let out = home.run(&["-p", "--trust", "--output-format", "stream-json", "hi"]);
    assert_eq!(out.code, 0, "{out:?}");
    let first: Value = serde_json::from_str(out.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&first["model"], &first["apiKeySource"]), (&json!("Mine"), &json!("env")));
    let call = &server.calls()[0];
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(
        (&body["model"], &body["max_tokens"], &body["top_k"]),
        (&json!("mine"), &json!(77), &json!(7))
    );
    assert_eq!(body["output_config"]["effort"], "high");
    assert_eq!(server.header(call, "x-house").as_deref(), Some("yes"));
    assert_no_canary(&home.path(""), &out);
    let models: Value = serde_json::from_str(&good(home.run(&["models", "--format", "json"]))).unwrap();
    assert_eq!(models["current"], "house/mine");
    let row =
        models["models"].as_array().unwrap().iter().find(|row| row["id"] == "house/mock-model").unwrap();
    assert_eq!(row["provider"], "house");
    let reasons = models["unreachable"].as_array().unwrap();
    let openai = reasons.iter().find(|row| row["provider"] == "openai").unwrap();
    assert_eq!(openai["reason"], "no key: set OPENAI_API_KEY, or run `caret login openai`");
}

#[test]
fn a_project_cannot_say_where_requests_go() {
    let home = Home::new().with("HOUSE_KEY", CANARY);
    let server = Server::new(Api::Chat, &json!([[{"text": "Stolen."}]]));
    let config = json!({"providers": {"house": {"baseUrl": server.address, "keyVariable": "HOUSE_KEY"},
        "openai": {"baseUrl": server.address}}, "model": {"modelId": "house/x"}});
    home.write("work/.cursor/cli.json", &config.to_string());
    home.run(&["-p", "--trust", "hi"]);
    bad(home.run(&["-p", "--trust", "--model", "house/x", "hi"]));
    assert_eq!(server.mock.requests(), []);
}

#[test]
fn what_cannot_be_used_says_what_to_do() {
    let home = Home::new();
    let ask = |words: &[&str]| bad(home.run(&[&["-p", "--trust"], words, &["hi"]].concat()));
    let message = "Error: Authentication required. Please run 'caret login openai' first, or set the OPENAI_API_KEY \
                   environment variable.\n";
    assert_eq!(ask(&["--model", "openai/gpt-5"]), message);
    assert_eq!(ask(&["--model", "gpt-5"]), message);
    let message = ask(&["--model", "gtp-5"]);
    assert_eq!(message, "Cannot use this model: gtp-5. Available models: offline\n(Did you mean gpt-5?)\n");
    let message = ask(&["--endpoint", "nonsense", "--model", "m"]);
    assert!(message.contains("the base address `nonsense` is no address"), "{message}");
    let message = ask(&["--endpoint", &nobody(), "--model", "m", "--header", CANARY]);
    assert_eq!(message, "error: option '--header' needs the form 'Name: Value'\n");
    let message = ask(&["--endpoint", &nobody()]);
    assert!(message.contains("check that the server runs") && message.contains("--model"), "{message}");
}

#[test]
fn proxies_and_certificates_of_the_environment_are_used() {
    let reason = |home: &Home, endpoint: &str| {
        let words = ["models", "--format", "json", "--model", "m", "--endpoint", endpoint];
        let models: Value = serde_json::from_str(&good(home.run(&words))).unwrap();
        let rows = models["unreachable"].as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["provider"] == "endpoint").unwrap();
        row["reason"].as_str().unwrap().to_owned()
    };
    let proxy = nobody();
    let home = Home::new().with("HTTP_PROXY", &proxy);
    let why = reason(&home, "http://model.invalid");
    assert!(
        why.contains(&format!("(through the proxy {proxy})")) && why.ends_with("check the proxy"),
        "{why}"
    );
    let why = reason(&home.with("NO_PROXY", ".invalid"), "http://model.invalid");
    assert!(!why.contains("proxy"), "{why}");
    let home = Home::new().with("NODE_EXTRA_CA_CERTS", "/nowhere/ca.pem");
    let why = reason(&home, &nobody());
    assert!(why.starts_with("the certificate file /nowhere/ca.pem cannot be read"), "{why}");
}

#[test]
fn keys_are_kept_after_their_provider_took_them_and_can_be_forgotten() {
    let server = Server::new(Api::Chat, &json!([[{"text": "Hello."}]]));
    let config = |base: &str| {
        json!({"version": 1, "providers": {"openai": {"api": "chat-openai", "baseUrl": base,
            "models": [{"id": "mock-model"}]}}})
        .to_string()
    };
    let home = Home::new();
    home.write(".caret/cli-config.json", &config(&always(REFUSED)));
    let login = |home: &Home, more: &[&str]| {
        home.pipe(&[&["login", "openai", "--with-key", "-"], more].concat(), format!("{CANARY}\n").as_bytes())
    };
    let message = bad(login(&home, &[]));
    assert!(message.starts_with("⚠ Warning: The provided API key is invalid.\n"), "{message}");
    assert!(!home.exists(".caret/auth.json"));
    home.write(".caret/cli-config.json", &config(&server.address));
    assert_eq!(good(login(&home, &[])), "✓ The key for OpenAI is kept\n");
    assert_eq!(mode(&home.path(".caret/auth.json")), 0o600);
    let status = good(home.run(&["status"]));
    assert_eq!(status, "✓ Logged in as ada@localhost\nopenai: key from ~/.caret/auth.json\n");
    assert_eq!(home.run(&["-p", "--trust", "hi"]).stdout, "Hello.\n");
    assert_eq!(server.header(&server.calls()[0], "authorization"), Some(format!("Bearer {CANARY}")));
    assert_eq!(
        good(home.run(&["logout", "openai"])),
        "✓ The key for OpenAI is forgotten\n".replace("OpenAI", "openai")
    );
    assert_no_canary(&home.path(""), &home.run(&["status"]));
    assert_eq!(good(login(&home, &["--no-check"])), "✓ The key for OpenAI is kept\n");
    assert_eq!(good(home.run(&["logout"])), "✓ The key for openai is forgotten\n");
    assert_eq!(good(home.run(&["logout"])), "No key was kept\n");
    let message = bad(home.run(&["login", "openai", "--with-key", CANARY]));
    assert!(message.contains("takes only '-'") && !message.contains(CANARY), "{message}");
    assert!(bad(home.run(&["login"])).starts_with("error: name a provider, as in `caret login openai`"));
    assert!(bad(home.run(&["login", "opnai"])).ends_with("(Did you mean openai?)\n"));
}
