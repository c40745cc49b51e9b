//! Certificates: unknown ones are refused, added authorities are believed, and checks can be switched off.
//!
//! The files in `tls` are made for these tests; the authority's own key was thrown away.

use super::*;
use crate::model::http::transport::Certificates;
use expect_test::expect;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

const AUTHORITY: &[u8] = include_bytes!("tls/ca.pem");

/// A server that answers one connection over TLS.
async fn tls_server() -> (String, JoinSet<()>) {
    let chain = vec![CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (connection, _) = listener.accept().await.unwrap();
        let Ok(mut connection) = TlsAcceptor::from(Arc::new(config)).accept(connection).await else { return };
        connection.read_u8().await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n";
        connection.write_all(answer).await.unwrap();
        // A client that has its answer does not wait for the end.
        connection.shutdown().await.ok();
    });
    (base, tasks)
}

async fn ask_over(network: Network) -> String {
    let (base, _tasks) = tls_server().await;
    ask(&HttpModel { transport: Arc::new(Transport::new(network)), ..model_at(&base) }).await
}

#[tokio::test]
async fn certificates_are_checked_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, AUTHORITY).unwrap();
    let networks = [
        Network::default(),
        Network { ca_files: vec![file], ..Network::default() },
        Network { certificates: Certificates::Unchecked, ..Network::default() },
    ];
    let mut said = Vec::new();
    for network in networks {
        said.push(ask_over(network).await);
    }
    expect![[r#"
        Broken("cannot connect to https://SERVER/v1/chat/completions: invalid peer certificate: UnknownIssuer; if its certificate is signed by an authority of your own, add that to the settings; `--insecure` skips the check")
        "hi" · done "hi"
        "hi" · done "hi""#]].assert_eq(&said.join("\n"));
}
