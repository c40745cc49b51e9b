//! The one HTTP client of a process, made at the first request.
//!
//! Making it loads the system's certificates, which a start without an HTTP model must not pay for.
//! Everything about the network is given: this file asks neither the environment nor the system for proxies.
//!
//! Invariants: no request follows a redirect, as keys must not travel to another host; no answer is asked
//! for in compressed form; there is no time-out on a whole answer, only on silence.

use super::proxies::Proxies;
use crate::model::ModelError;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Proxy, Url};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// What a process knows about its network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Which proxies to go through.
    pub proxies: Proxies,
    /// Files with further certificate authorities, in PEM.
    pub ca_files: Vec<PathBuf>,
    /// Whether certificates are checked.
    pub certificates: Certificates,
    /// How the program names itself to servers.
    pub user_agent: String,
}

/// Whether certificates are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certificates {
    /// They must be signed by an authority that the system or the settings know.
    #[default]
    Checked,
    /// Anything is taken: `--insecure`.
    Unchecked,
}

/// The client of a process. Making this costs nothing; the first request pays.
#[derive(Debug, Default)]
pub struct Transport {
    network: Network,
    client: OnceLock<Result<Client, ModelError>>,
}

impl Transport {
    /// A transport for this network.
    pub fn new(network: Network) -> Self {
        Self { network, client: OnceLock::new() }
    }

    /// The client, made now if this is the first request.
    pub(crate) fn client(&self) -> Result<Client, ModelError> {
        self.client.get_or_init(|| self.network.client().map_err(ModelError::Refused)).clone()
    }

    /// Whether a client was made.
    #[cfg(test)]
    pub(crate) fn is_used(&self) -> bool {
        self.client.get().is_some()
    }

    /// The proxy that a request goes through, for messages.
    pub(crate) fn proxy_for(&self, url: &Url) -> Option<String> {
        self.network.proxies.choose(url).map(super::endpoint::shown)
    }
}

impl Network {
    fn client(&self) -> Result<Client, String> {
        // An error says that the process has a provider already, which serves as well.
        rustls::crypto::ring::default_provider().install_default().ok();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT)
            .redirect(Policy::none())
            .referer(false)
            .no_proxy()
            .tls_certs_merge(self.certificates()?);
        if !self.user_agent.is_empty() {
            builder = builder.user_agent(&self.user_agent);
        }
        if self.certificates == Certificates::Unchecked {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        if self.proxies.is_any()? {
            let proxies = self.proxies.clone();
            builder = builder.proxy(Proxy::custom(move |url| {
                proxies.choose(url).and_then(|address| super::proxies::parse(address).ok())
            }));
        }
        builder.build().map_err(|error| {
            let cause = super::errors::innermost(&error);
            format!("the HTTP client cannot be set up: {cause}; check the certificates and proxies in the settings")
        })
    }

    fn certificates(&self) -> Result<Vec<Certificate>, String> {
        let mut all = Vec::new();
        for file in &self.ca_files {
            let shown = file.display();
            let pem = std::fs::read(file)
                .map_err(|error| format!("the certificate file {shown} cannot be read: {error}"))?;
            let found = Certificate::from_pem_bundle(&pem).unwrap_or_default();
            if found.is_empty() {
                return Err(format!("the certificate file {shown} holds no certificate in PEM form"));
            }
            all.extend(found);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::{Certificates, Network, Transport};
    use crate::model::ModelError;

    #[test]
    fn nothing_is_made_before_the_first_request() {
        let transport = Transport::new(Network::default());
        assert!(!transport.is_used());
        assert!(transport.client().is_ok());
        assert!(transport.is_used());
    }

    #[test]
    fn a_wrong_certificate_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, empty) = (folder.path().join("missing.pem"), folder.path().join("empty.pem"));
        std::fs::write(&empty, "nothing in here").unwrap();
        for (file, why) in
            [(&missing, "cannot be read: No such file"), (&empty, "holds no certificate in PEM form")]
        {
            let network = Network { ca_files: vec![file.clone()], ..Network::default() };
            let Err(ModelError::Refused(message)) = Transport::new(network).client() else { panic!("{why}") };
            assert!(
                message.starts_with(&format!("the certificate file {} {why}", file.display())),
                "{message}"
            );
        }
    }

    #[test]
    fn checks_can_be_switched_off() {
        let network = Network { certificates: Certificates::Unchecked, ..Network::default() };
        assert!(Transport::new(network).client().is_ok());
    }
}
