//! `rcflash serve`.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, INTERRUPTED};
use cli_support::listen::ListenProtection;
use cli_support::output::print;
use rcflash_transport::network::{Protocol, Server, ServerEvent, parse_listen_address};

use super::stop_on_interrupt;
use super::target::BoardArgs;

/// The default TCP port of RFC 2217 servers.
const DEFAULT_TCP_PORT: u16 = 2217;

#[derive(Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// TCP port, or address and port, to listen at; 0 selects a free port
    #[arg(
        long,
        value_name = "[ADDRESS:]PORT",
        value_parser = parse_listen_address,
        default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_TCP_PORT))
    )]
    listen: SocketAddr,
    #[command(flatten)]
    protection: ListenProtection,
    /// Serve raw bytes, for tcp://host:port, instead of RFC 2217
    #[arg(long)]
    raw: bool,
}

pub(super) fn serve(args: &ServeArgs) -> CommandResult {
    args.protection.check(args.listen)?;
    let target = args.board.target()?;
    let stop = stop_on_interrupt()?;
    // Report a missing or busy port now, not to the first client.
    drop(target.open()?);
    let protocol = if args.raw { Protocol::Raw } else { Protocol::Rfc2217 };
    let failed = |problem: &dyn std::fmt::Display| CommandError::new(ENVIRONMENT, problem);
    let server = Server::bind(args.listen, protocol, target.baud());
    let server = server.map_err(|error| failed(&error))?;
    let address = server.local_addr().map_err(|error| failed(&error))?;
    let port = &target.rig.port;
    print(&format!("{}://{address}\n", protocol.scheme()))?;
    cli_support::eprint_message!("serving {port} at {address}; press Ctrl-C to stop");
    let open = || target.open().map_err(|error| error.to_string());
    server.run(open, &stop, |event| print_event(&event));
    Ok(INTERRUPTED)
}

fn print_event(event: &ServerEvent) {
    match event {
        ServerEvent::Connected(client) => cli_support::eprint_message!("{client} connected"),
        ServerEvent::Refused(client, why) | ServerEvent::PortUnavailable(client, why) => {
            cli_support::eprint_message!("{client} rejected: {why}");
        }
        ServerEvent::Disconnected(client, how) => {
            cli_support::eprint_message!("{client} disconnected: {how}")
        }
        ServerEvent::PortFailed(client, why) => {
            cli_support::eprint_message!("the port failed while {client} was connected: {why}");
        }
    }
}
