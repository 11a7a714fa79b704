//! `host:port`, as it is written.

use std::fmt;

/// Where to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// A name or a number; an IPv6 number without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AddressError {
    #[error("address {text:?} has no port: `host:port` is wanted")]
    NoPort { text: String },
    #[error("address {text:?} has no host: `host:port` is wanted")]
    NoHost { text: String },
    #[error("the port of address {text:?} is not a number from 1 to 65535")]
    BadPort { text: String },
    #[error(
        "the host of address {text:?} has colons: an IPv6 address stands in brackets, as in `[::1]:9990`"
    )]
    NoBrackets { text: String },
    #[error("split {split} reads from port {port} + {split}, which is beyond 65535")]
    PortOverflow { port: u16, split: usize },
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self, AddressError> {
        let owned = || text.to_owned();
        // A bracket after the last colon: the colon is one of an IPv6 address.
        let Some((host, port)) = text.rsplit_once(':').filter(|(_, port)| !port.contains(']'))
        else {
            return Err(AddressError::NoPort { text: owned() });
        };
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if bracketed.is_none() && host.contains(':') {
            return Err(AddressError::NoBrackets { text: owned() });
        }
        let host = bracketed.unwrap_or(host);
        if host.trim().is_empty() {
            return Err(AddressError::NoHost { text: owned() });
        }
        if port.is_empty() {
            return Err(AddressError::NoPort { text: owned() });
        }
        match port.parse() {
            Ok(port) if port > 0 => Ok(Self { host: host.to_owned(), port }),
            _ => Err(AddressError::BadPort { text: owned() }),
        }
    }

    /// The address that split `split` reads from: each has a port of its own.
    pub(super) fn of_split(mut self, split: usize) -> Result<Self, AddressError> {
        let port = self.port;
        let beyond = AddressError::PortOverflow { port, split };
        let step = u16::try_from(split).ok();
        self.port = step.and_then(|step| port.checked_add(step)).ok_or(beyond)?;
        Ok(self)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(&str, u16), &str>) {
        match (Address::parse(text), expected) {
            (Ok(address), Ok((host, port))) => {
                assert_eq!((&*address.host, address.port), (host, port));
                assert_eq!(address.to_string(), text);
            }
            (Err(error), Err(part)) => {
                let error = error.to_string();
                assert!(error.contains(part), "{error}");
                assert!(error.contains(&format!("{text:?}")), "{error}");
            }
            (got, expected) => panic!("{text:?} gave {got:?}, not {expected:?}"),
        }
    }

    #[test]
    fn host_and_port() {
        check("localhost:9990", Ok(("localhost", 9_990)));
        check("127.0.0.1:65535", Ok(("127.0.0.1", 65_535)));
        check("[::1]:1", Ok(("::1", 1)));
    }

    #[test]
    fn what_is_missing_is_named() {
        check("", Err("no port"));
        check("localhost", Err("no port"));
        check("localhost:", Err("no port"));
        check("[::1]", Err("no port"));
        check(":9990", Err("no host"));
        check("[]:9990", Err("no host"));
        check("localhost:http", Err("not a number from 1 to 65535"));
        check("localhost:0", Err("not a number from 1 to 65535"));
        check("localhost:65536", Err("not a number from 1 to 65535"));
        check("localhost:-1", Err("not a number from 1 to 65535"));
        check("::1:9990", Err("brackets"));
    }

    #[test]
    fn the_port_follows_the_split() {
        let address = Address::parse("h:65530").unwrap();
        assert_eq!(address.clone().of_split(5).unwrap().port, 65_535);
        let error = address.clone().of_split(6).unwrap_err().to_string();
        assert_eq!(error, "split 6 reads from port 65530 + 6, which is beyond 65535");
        assert!(address.of_split(1 << 16).is_err());
    }
}
