//! `rcflash serve`.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use cli_support::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE};
use cli_support::text::print;
use rcflash_transport::network::{Event, Protocol, Server, listen_at};

use super::stop_on_interrupt;
use super::target::BoardArgs;

/// The TCP port of RFC 2217 servers where nobody chose another.
const USUAL: u16 = 2217;

#[derive(Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The TCP port, or address and port, at which clients are waited for; 0 is any port
    #[arg(
        long,
        value_name = "[ADDRESS:]PORT",
        value_parser = listen_at,
        default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, USUAL))
    )]
    listen: SocketAddr,
    /// Listen at an address that other computers reach: whoever reaches it has the board
    #[arg(long)]
    unprotected: bool,
    /// Pass bytes only, for tcp://host:port, instead of RFC 2217
    #[arg(long)]
    raw: bool,
}

pub(super) fn serve(args: &ServeArgs) -> Outcome {
    if !args.listen.ip().is_loopback() && !args.unprotected {
        let problem = format!(
            "{} is reached from other computers, and whoever reaches it has the board; \
             say --unprotected if that is meant, or use a tunnel (docs/NETWORK.md)",
            args.listen
        );
        return Err(Failure::new(USAGE, problem));
    }
    let target = args.board.target()?;
    let stop = stop_on_interrupt()?;
    // A port that is not there, or is in use, is reported now and not to the first client.
    drop(target.open()?);
    let protocol = if args.raw { Protocol::Raw } else { Protocol::Rfc2217 };
    let failed = |problem: &dyn std::fmt::Display| Failure::new(RIG, problem);
    let server = Server::listen(args.listen, protocol, target.baud());
    let server = server.map_err(|error| failed(&error))?;
    let address = server.address().map_err(|error| failed(&error))?;
    let port = &target.rig.port;
    print(&format!("{}://{address}\n", protocol.scheme())).map_err(|error| failed(&error))?;
    cli_support::tell!("{port} is served at {address}; Ctrl-C ends it");
    let open = || target.open().map_err(|failure| failure.message);
    server.run(open, &stop, |event| note(&event)).map_err(|error| failed(&error))?;
    Ok(INTERRUPTED)
}

fn note(event: &Event) {
    match event {
        Event::Connected(client) => cli_support::tell!("{client} has the port"),
        Event::Refused(client) => {
            cli_support::tell!("{client} is refused: another client has the port");
        }
        Event::NoPort(client, why) => cli_support::tell!("{client} is refused: {why}"),
        Event::Left(client, how) => cli_support::tell!("{client} has left: {how}"),
        Event::PortFailed(client, why) => {
            cli_support::tell!("the port failed while {client} had it: {why}");
        }
    }
}
