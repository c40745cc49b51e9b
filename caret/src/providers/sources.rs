//! What arguments, environment and configuration say about reaching models; cheap to make and to copy.
//!
//! A run on the offline model makes one and asks it nothing more than whether there is anything to look at.

use super::builtin::BUILT_IN;
use crate::args::options::Options;
use crate::config::{Config, Origin};
use crate::environment::Environment;
use crate::roots::Roots;
use caret_engine::model::http::proxies::Proxies;
use caret_engine::model::http::secret::Secret;
use caret_engine::model::http::transport::{Certificates, Network};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

/// What decides where a model is reached.
#[derive(Clone, Default)]
pub struct Sources {
    /// `providers` of the user's configuration; never of a project's.
    pub configured: Option<Value>,
    /// The file with the keys that `login` took.
    pub key_file: Option<PathBuf>,
    /// The machine.
    pub environment: Environment,
    /// `--endpoint`, or its variable.
    pub endpoint: Option<String>,
    /// `--endpoint-api`.
    pub api: Option<String>,
    /// `-H`.
    pub headers: Vec<String>,
    /// `-k`.
    pub insecure: bool,
    /// `--api-key`, or `--auth-token`.
    pub flag: Option<(Secret, &'static str)>,
}

impl fmt::Debug for Sources {
    /// Nearly everything in here may hold a key.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sources").field("key_file", &self.key_file).finish_non_exhaustive()
    }
}

impl Sources {
    /// Takes out of everything that was said what concerns models.
    pub fn new(config: &Config, roots: Option<&Roots>, options: &Options, environment: &Environment) -> Self {
        let configured = config
            .get("providers")
            .filter(|(_, origin)| matches!(origin, Origin::User(_)))
            .map(|(value, _)| value);
        let key = |text: &Option<String>, name| {
            text.as_deref().filter(|key| !key.trim().is_empty()).map(|key| (Secret::new(key), name))
        };
        let endpoint =
            options.endpoint.clone().or_else(|| environment.text("CURSOR_API_ENDPOINT").map(str::to_owned));
        Self {
            configured: configured.cloned(),
            key_file: roots.map(|roots| roots.config.join("auth.json")),
            environment: environment.clone(),
            endpoint: endpoint.filter(|endpoint| !endpoint.trim().is_empty()),
            api: options.endpoint_api.clone(),
            headers: options.header.clone(),
            insecure: options.insecure,
            flag: key(&options.api_key, "--api-key").or_else(|| key(&options.auth_token, "--auth-token")),
        }
    }

    /// Whether anything but the offline model may be reachable without being named.
    pub fn is_any(&self) -> bool {
        self.endpoint.is_some()
            || self.configured.is_some()
            || BUILT_IN
                .iter()
                .flat_map(|provider| provider.variables)
                .any(|name| self.environment.text(name).is_some())
            || self.key_file.as_ref().is_some_and(|file| file.exists())
    }

    /// How servers are connected to.
    pub fn network(&self) -> Network {
        let text =
            |names: [&str; 2]| names.iter().find_map(|name| self.environment.text(name)).map(str::to_owned);
        Network {
            proxies: Proxies {
                // The upper-case form is what a web server makes of a caller's header; here nobody calls us.
                http: text(["http_proxy", "HTTP_PROXY"]),
                https: text(["https_proxy", "HTTPS_PROXY"]),
                all: text(["all_proxy", "ALL_PROXY"]),
                bypass: text(["no_proxy", "NO_PROXY"]).unwrap_or_default(),
            },
            ca_files: ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]
                .into_iter()
                .filter_map(|name| self.environment.path(name))
                .collect(),
            certificates: if self.insecure { Certificates::Unchecked } else { Certificates::Checked },
            user_agent: format!("caret/{}", crate::version::SEMANTIC),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_network_is_what_environment_and_options_say() {
        let variables = [
            ("HTTPS_PROXY", "http://p:1"),
            ("https_proxy", "http://p:2"),
            ("ALL_PROXY", "socks5h://p:3"),
            ("NO_PROXY", "a,b"),
            ("SSL_CERT_FILE", "ca.pem"),
        ];
        let environment = Environment::made_up(&variables, Path::new("/cwd"));
        let sources = Sources { environment, insecure: true, ..Sources::default() };
        let expected = Network {
            proxies: Proxies {
                http: None,
                https: Some("http://p:2".into()),
                all: Some("socks5h://p:3".into()),
                bypass: "a,b".into(),
            },
            ca_files: vec!["/cwd/ca.pem".into()],
            certificates: Certificates::Unchecked,
            user_agent: format!("caret/{}", crate::version::SEMANTIC),
        };
        assert_eq!(sources.network(), expected);
    }

    #[test]
    fn keys_in_sources_are_never_printed() {
        let environment = Environment::made_up(&[("OPENAI_API_KEY", "canary")], Path::new("/"));
        let sources = Sources {
            environment,
            headers: vec!["x-key: canary".into()],
            configured: Some(serde_json::json!({"x": {"key": "canary"}})),
            endpoint: Some("http://u:canary@h".into()),
            ..Sources::default()
        };
        assert!(!format!("{sources:?}").contains("canary"));
        assert!(sources.is_any() && !Sources::default().is_any());
    }
}
