//! `hw-inspect gdb`: gdb's remote protocol on a TCP port.

use std::fmt::Display;
use std::net::{SocketAddr, TcpListener};

use board_debugger::gdb::{GdbClient, SessionEnd, accept_connections, serve};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use cli_support::listen::ListenProtection;

use super::session::SessionArgs;
use cli_support::output::print;

#[derive(Args)]
pub(super) struct GdbArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Address on which to wait for gdb; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:3333")]
    listen: SocketAddr,
    #[command(flatten)]
    protection: ListenProtection,
}

pub(super) fn gdb(args: &GdbArgs) -> CommandResult {
    args.protection.check(args.listen)?;
    let mut session = args.session.start(&mut |_| false)?;
    if let Some(message) = &session.message {
        cli_support::eprint_message!("{message}");
    }
    let failed = |error| CommandError::new(ENVIRONMENT, format!("{}: {error}", args.listen));
    let listener = TcpListener::bind(args.listen).map_err(failed)?;
    print(&format!("{}\n", listener.local_addr().map_err(failed)?))?;
    cli_support::eprint_message!(
        "waiting for gdb; `kill` in gdb ends the server, after `detach` it waits for the next one"
    );
    let refused = |peer: SocketAddr, why: &dyn Display| {
        cli_support::eprint_message!("{peer} rejected: {why}");
    };
    for mut visitor in accept_connections(listener, refused).map_err(failed)? {
        let peer = *visitor.peer;
        cli_support::eprint_message!("{peer} is connected");
        let mut client = GdbClient::new(&mut visitor.stream);
        match serve(&mut session.debugger, &mut client) {
            Ok(SessionEnd::Killed) => return Ok(0),
            Ok(SessionEnd::Detached) => cli_support::eprint_message!("{peer} has disconnected"),
            Err(error) => cli_support::eprint_message!("{peer}: {error}"),
        }
    }
    let problem = format!("{}: no more connections can be accepted", args.listen);
    Err(CommandError::new(ENVIRONMENT, problem))
}
