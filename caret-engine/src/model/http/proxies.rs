//! Which proxy a request goes through.
//!
//! The choice is made here, for the client and for messages alike, so that a message never names a proxy
//! that was not used. A server on this machine is never reached through a proxy: nobody means that, and the
//! proxy would look for it on its own machine.

use reqwest::Url;
use std::net::IpAddr;

/// Proxies, written as the usual environment variables hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `http` addresses.
    pub http: Option<String>,
    /// For `https` addresses.
    pub https: Option<String>,
    /// For both, where the one above says nothing.
    pub all: Option<String>,
    /// Hosts, domains, addresses and networks that are reached directly, separated by commas; `*` is all.
    pub bypass: String,
}

impl Proxies {
    /// The proxy for an address, as it is written.
    pub(crate) fn choose(&self, url: &Url) -> Option<&str> {
        let own = if url.scheme() == "https" { &self.https } else { &self.http };
        let proxy =
            own.as_deref().or(self.all.as_deref()).map(str::trim).filter(|proxy| !proxy.is_empty())?;
        let host = url.host_str()?.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let direct =
            is_this_machine(&host) || self.bypass.split([',', ' ']).any(|rule| covers(rule.trim(), &host));
        (!direct).then_some(proxy)
    }

    /// Whether there is any proxy.
    ///
    /// # Errors
    /// Names the one that is no address.
    pub(crate) fn is_any(&self) -> Result<bool, String> {
        let given = [&self.http, &self.https, &self.all];
        let mut given = given.into_iter().flatten().filter(|proxy| !proxy.trim().is_empty()).peekable();
        let any = given.peek().is_some();
        given.try_for_each(|proxy| parse(proxy).map(drop))?;
        Ok(any)
    }
}

/// A proxy's address; `host:port` alone means `http`.
pub(crate) fn parse(proxy: &str) -> Result<Url, String> {
    let proxy = proxy.trim();
    let full = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    let known =
        |url: &Url| matches!(url.scheme(), "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h");
    Url::parse(&full).ok().filter(|url| known(url) && url.host_str().is_some()).ok_or_else(|| {
        let shown = super::endpoint::shown(proxy);
        format!(
            "the proxy `{shown}` is no address; write one such as http://host:3128 or socks5h://host:1080"
        )
    })
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether one rule of the bypass list covers a host.
fn covers(rule: &str, host: &str) -> bool {
    if rule == "*" {
        return true;
    }
    if let (Some((network, bits)), Ok(address)) = (rule.split_once('/'), host.parse::<IpAddr>()) {
        return match (network.parse::<IpAddr>(), bits.parse::<u32>()) {
            (Ok(network), Ok(bits)) => is_inside(address, network, bits),
            _ => false,
        };
    }
    // A port in a rule is left out: `host:443` covers the host.
    let rule = match rule.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => rule,
    };
    let rule =
        rule.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.').to_ascii_lowercase();
    !rule.is_empty() && (host == rule || host.strip_suffix(&rule).is_some_and(|rest| rest.ends_with('.')))
}

fn is_inside(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let differing = match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (u32::from(address) ^ u32::from(network)).checked_shr(32_u32.saturating_sub(bits)).map(u128::from)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            (u128::from(address) ^ u128::from(network)).checked_shr(128_u32.saturating_sub(bits))
        }
        _ => return false,
    };
    // A shift by the whole width means that no bit is compared.
    differing.unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::Proxies;
    use reqwest::Url;

    #[test]
    fn the_bypass_list_and_this_machine_are_reached_directly() {
        let proxies = Proxies {
            http: Some("http://plain:1".into()),
            https: Some("secure:2".into()),
            all: Some("socks5h://all:3".into()),
            bypass: "internal.example, .corp.example,*.lab.example,10.0.0.0/8,fd00::/8,one.example:8443"
                .into(),
        };
        let table = [
            ("https://api.example/v1", Some("secure:2")),
            ("http://api.example/v1", Some("http://plain:1")),
            ("https://internal.example/v1", None),
            ("https://a.internal.example/v1", None),
            ("https://notinternal.example/v1", Some("secure:2")),
            ("https://x.corp.example", None),
            ("https://X.Lab.Example.", None),
            ("https://one.example", None),
            ("http://10.1.2.3", None),
            ("http://11.1.2.3", Some("http://plain:1")),
            ("http://[fd12::1]", None),
            ("http://[fe80::1]", Some("http://plain:1")),
            ("http://localhost:8080", None),
            ("http://127.0.0.1:8080", None),
            ("http://[::1]:8080", None),
        ];
        for (address, expected) in table {
            assert_eq!(proxies.choose(&Url::parse(address).unwrap()), expected, "{address}");
        }
        let all = Proxies { all: Some("socks5h://all:3".into()), ..Proxies::default() };
        assert_eq!(all.choose(&Url::parse("http://h").unwrap()), Some("socks5h://all:3"));
        let none = Proxies { bypass: "*".into(), ..all };
        assert_eq!(none.choose(&Url::parse("http://h").unwrap()), None);
    }

    #[test]
    fn a_wrong_proxy_is_refused_without_showing_its_password() {
        let wrong = Proxies { all: Some("ftp://user:canary@host".into()), ..Proxies::default() };
        let message = wrong.is_any().expect_err("ftp is no proxy");
        assert!(message.starts_with("the proxy `ftp://host` is no address"), "{message}");
        assert_eq!(Proxies::default().is_any(), Ok(false));
        assert_eq!(Proxies { all: Some(" ".into()), ..Proxies::default() }.is_any(), Ok(false));
    }
}
