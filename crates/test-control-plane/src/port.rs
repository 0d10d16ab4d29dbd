//! Ports that are reserved even while no program listens on them.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::sockopt::set_socket_reuseport;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

/// A port of 127.0.0.1 for programs that listen with `SO_REUSEPORT`. This value binds it without listening, so that
/// they can listen on it.
///
/// The system could assign a port that is only known to be free to another process, or, while a server is restarted, to
/// any outgoing connection.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _bound: OwnedFd,
}

impl Port {
    pub fn reserve() -> Result<Port, String> {
        let reserved = || -> rustix::io::Result<Port> {
            let bound = socket(AddressFamily::INET, SocketType::STREAM, None)?;
            rustix::io::fcntl_setfd(&bound, rustix::io::FdFlags::CLOEXEC)?;
            set_socket_reuseport(&bound, true)?;
            bind(&bound, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
            let address = SocketAddr::try_from(getsockname(&bound)?)?;
            Ok(Port { number: address.port(), _bound: bound })
        };
        reserved().map_err(|error| format!("failed to reserve a port: {error}"))
    }

    pub fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn nobody_else_is_given_a_reserved_port() {
        let port = Port::reserve().unwrap();
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port.number())).is_err());
        assert_ne!(Port::reserve().unwrap().number(), port.number());
    }
}
