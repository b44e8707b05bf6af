//! `hw-tests gdb`: gdb's remote protocol on a TCP port.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;

use board_debugger::gdb::{Client, SessionEnd, accept_connections, serve};
use clap::Args;
use cli_support::exit::{Failure, Outcome, RIG, USAGE};

use super::session::SessionArgs;
use cli_support::output::print;

#[derive(Args)]
pub(super) struct GdbArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The place to wait for gdb; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:3333")]
    listen: SocketAddr,
    /// Listen on an address that other computers reach: whoever connects controls the board
    #[arg(long)]
    allow_remote: bool,
}

pub(super) fn gdb(args: &GdbArgs) -> Outcome {
    if !args.listen.ip().is_loopback() && !args.allow_remote {
        let problem = format!(
            "{} can be reached by other computers, and whoever connects controls the board; \
             add --allow-remote if that is meant",
            args.listen
        );
        return Err(Failure::new(USAGE, problem));
    }
    let mut begun = args.session.begin(&AtomicBool::new(false))?;
    if let Some(message) = &begun.message {
        cli_support::tell!("{message}");
    }
    let failed = |error| Failure::new(RIG, format!("{}: {error}", args.listen));
    let listener = TcpListener::bind(args.listen).map_err(failed)?;
    print(&format!("{}\n", listener.local_addr().map_err(failed)?))?;
    cli_support::tell!("waiting for gdb; `kill` in gdb ends this, `detach` waits for the next");
    let refused = |peer| cli_support::tell!("{peer} is refused, since another gdb is connected");
    let accept_connections = accept_connections(listener, refused).map_err(failed)?;
    for visitor in accept_connections {
        let mut visitor = visitor.map_err(failed)?;
        let peer = visitor.peer;
        cli_support::tell!("{peer} is connected");
        let mut client = Client::new(&mut visitor.stream);
        match serve(&mut begun.debugger, &mut client) {
            Ok(SessionEnd::Killed) => return Ok(0),
            Ok(SessionEnd::Detached) => cli_support::tell!("{peer} has gone"),
            Err(error) => cli_support::tell!("{peer}: {error}"),
        }
    }
    Err(Failure::new(RIG, format!("{}: no more connections can be accepted", args.listen)))
}
