//! What a model with a small context is sent: five tools in few words, on every wire.

use crate::support::{Setup, script};
use caret_engine::engine::ProfileChoice;
use caret_engine::model::http::endpoint::{Api, Endpoint};
use caret_engine::model::http::mock::{Mock, MockSettings, serve};
use caret_engine::model::http::provider::HttpModel;
use caret_engine::model::http::transport::{Network, Transport};
use caret_engine::model::http::{Target, family};
use caret_engine::model::{Chunk, Model, ModelError, Request};
use caret_engine::tools::Profile;
use caret_protocol::content::Reply;
use caret_protocol::event::Mode;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// About 600 tokens.
const BUDGET_BYTES: usize = 2_400;

/// Notes the tools it is offered, and says how large its context is.
struct Small(Option<u64>, Arc<Mutex<Vec<String>>>);

impl Model for Small {
    fn id(&self) -> &str {
        "small"
    }

    fn name(&self) -> &str {
        "Small"
    }

    fn context_window(&self) -> Option<u64> {
        self.0
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        *self.1.lock().unwrap() = request.tools.iter().map(|tool| tool.name.to_owned()).collect();
        stream::iter([Ok(Chunk::Done(Reply::default()))]).boxed()
    }
}

async fn offered(window: Option<u64>, profile: ProfileChoice, mode: Mode) -> String {
    let noted = Arc::<Mutex<Vec<String>>>::default();
    let mut setup = Setup::model(Small(window, Arc::clone(&noted)));
    (setup.profile, setup.mode) = (profile, mode);
    setup.open().await.say("hi").await;
    noted.lock().unwrap().join(" ")
}

#[tokio::test]
async fn a_small_context_gets_five_tools_unless_the_user_says_otherwise() {
    let five = "Grep Read Shell StrReplace Write";
    let (full, tiny) = (ProfileChoice::Always(Profile::Full), ProfileChoice::Always(Profile::Tiny));
    let by_model = ProfileChoice::ByModel;
    for (window, profile) in
        [(Some(4_096), by_model), (Some(16_384), by_model), (None, tiny), (Some(200_000), tiny)]
    {
        assert_eq!(offered(window, profile, Mode::Agent).await, five, "{window:?} {profile:?}");
    }
    for (window, profile) in [(None, by_model), (Some(16_385), by_model), (Some(4_096), full)] {
        assert!(offered(window, profile, Mode::Agent).await.contains("ApplyPatch"), "{window:?} {profile:?}");
    }
    assert_eq!(offered(Some(8_192), by_model, Mode::Ask).await, "Grep Read");
}

#[tokio::test]
async fn the_first_request_of_a_small_model_keeps_its_budget_on_every_wire() {
    for api in Api::ALL {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let settings = MockSettings { remember: 1, ..MockSettings::new(api) };
        let mock = Arc::new(Mock::new(script("[[turn]]\nemit = [{ text = \"hi\" }]"), settings));
        let mut tasks = JoinSet::new();
        let served = Arc::clone(&mock);
        tasks.spawn(async move { drop(serve(listener, served).await) });
        let setup = Setup::model(HttpModel {
            id: "m".into(),
            name: "M".into(),
            family: Arc::from(family(api.name()).unwrap()),
            endpoint: Endpoint::new(api, Some(&base)),
            target: Target {
                model: "m".into(),
                max_output: 1024,
                context_window: Some(4096),
                ..Target::default()
            },
            transport: Arc::new(Transport::new(Network::default())),
        });
        setup.open().await.say("hi").await;
        let body = mock.requests().pop().unwrap().body;
        assert!(body.len() <= BUDGET_BYTES, "{}: {} bytes", api.name(), body.len());
    }
}
