//! The option `--unprotected`, which allows a server to listen on addresses other than loopback.

use std::net::SocketAddr;

use clap::Args;

use crate::exit::{CommandError, USAGE};

/// The option `--unprotected`.
#[derive(Args, Debug, Default)]
pub struct ListenProtection {
    /// Listen at an address that other computers can reach; whoever connects controls the board
    #[arg(long)]
    unprotected: bool,
}

impl ListenProtection {
    /// Checks the address to listen at.
    ///
    /// # Errors
    /// Returns a usage error for an address beyond the loopback interface without the option.
    pub fn check(&self, address: SocketAddr) -> Result<(), CommandError> {
        if address.ip().is_loopback() || self.unprotected {
            return Ok(());
        }
        let problem = format!(
            "other computers can connect to {address}, without authentication; pass --unprotected \
             to allow that, or use a tunnel (docs/NETWORK.md)"
        );
        Err(CommandError::new(USAGE, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_beyond_loopback_need_the_option() {
        let code = |address: &str, unprotected| {
            let address = address.parse().expect("an address with a port");
            ListenProtection { unprotected }.check(address).err().map(|error| error.code)
        };
        for own in ["127.0.0.1:1", "127.8.9.1:1", "[::1]:1"] {
            assert_eq!(code(own, false), None, "{own}");
        }
        for wide in ["0.0.0.0:1", "192.168.1.2:1", "[::]:1", "[fe80::1]:1"] {
            assert_eq!(code(wide, false), Some(USAGE), "{wide}");
            assert_eq!(code(wide, true), None, "{wide}");
        }
    }
}
