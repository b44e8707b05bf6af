//! `hw-tests gdb`: gdb's remote protocol on a TCP port.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;

use board_debugger::gdb::{Client, Parting, serve, visitors};
use clap::Args;
use program_kit::exit::{Failure, Outcome, RIG, USAGE};

use super::session::SessionArgs;
use hw_console::print;

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
        program_kit::tell!("{message}");
    }
    let failed = |error| Failure::new(RIG, format!("{}: {error}", args.listen));
    let listener = TcpListener::bind(args.listen).map_err(failed)?;
    print(&format!("{}\n", listener.local_addr().map_err(failed)?))?;
    program_kit::tell!("waiting for gdb; `kill` in gdb ends this, `detach` waits for the next");
    let refused = |peer| program_kit::tell!("{peer} is refused, since another gdb is connected");
    let visitors = visitors(listener, refused).map_err(failed)?;
    for visitor in visitors {
        let mut visitor = visitor.map_err(failed)?;
        let peer = visitor.peer;
        program_kit::tell!("{peer} is connected");
        let mut client = Client::new(&mut visitor.stream);
        match serve(&mut begun.debugger, &mut client) {
            Ok(Parting::Killed) => return Ok(0),
            Ok(Parting::Detached) => program_kit::tell!("{peer} has gone"),
            Err(error) => program_kit::tell!("{peer}: {error}"),
        }
    }
    Err(Failure::new(RIG, format!("{}: no more connections can be accepted", args.listen)))
}
