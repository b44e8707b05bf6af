//! Tests of the published interface.

mod lock;
mod port;
mod reconnect;
mod server;
mod test_port;
