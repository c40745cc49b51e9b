//! `mock`: serves a script file as a model API, so that programs can be tested without a model.
//!
//! It listens on loopback only and runs until it is told to end, which is how it should end.

use super::Call;
use crate::args::commands::{Mock as Arguments, MockAction};
use crate::args::values::WireApi;
use crate::catalogue::Models;
use crate::exit::{Exit, Failure};
use crate::front::signals::Signals;
use caret_engine::model::http::endpoint::Api;
use caret_engine::model::http::mock::{Mock, MockSettings, serve};
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Serves until SIGINT, SIGTERM or SIGHUP.
pub fn run(call: Call<'_>, arguments: &Arguments) -> Result<Exit, Failure> {
    let MockAction::Serve = arguments.action;
    let folder = call.environment.folder().to_owned();
    let script = Models::new(folder.clone())
        .script(&arguments.script)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let settings =
        MockSettings { cwd: folder.to_string_lossy().into_owned(), ..MockSettings::new(api(arguments.api)) };
    let mock = Arc::new(Mock::new(script, settings));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Fault, format!("the runtime cannot be started: {error}")))?;
    runtime.block_on(listen(call, arguments.port, mock))
}

async fn listen(call: Call<'_>, port: u16, mock: Arc<Mock>) -> Result<Exit, Failure> {
    let unusable = |error: &io::Error| Failure::new(Exit::Unavailable, told(port, error));
    let mut signals = Signals::listen().map_err(|error| unusable(&error))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| unusable(&error))?;
    let address = listener.local_addr().map_err(|error| unusable(&error))?;
    call.output.line(&format!("listening on http://{address}"))?;
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let mut waiting = JoinSet::new();
    waiting.spawn(async move {
        signals.next().await;
        stopping.cancel();
    });
    match stop.run_until_cancelled(serve(listener, mock)).await {
        None => Ok(Exit::Success),
        Some(Err(error)) => Err(unusable(&error)),
        Some(Ok(never)) => match never {},
    }
}

fn told(port: u16, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("port {port} is taken: choose another with --port, or leave it out to get a free one")
        }
        io::ErrorKind::PermissionDenied => {
            format!("port {port} may not be used: choose one above 1023 with --port")
        }
        _ => format!("port {port} cannot be listened on: {error}"),
    }
}

fn api(api: WireApi) -> Api {
    match api {
        WireApi::Chat => Api::Chat,
        WireApi::Responses => Api::Responses,
        WireApi::Messages => Api::Messages,
        WireApi::Gemini => Api::Gemini,
    }
}
