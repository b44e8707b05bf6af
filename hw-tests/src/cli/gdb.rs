//! `hw-tests gdb`: gdb's remote protocol on a TCP port.

use std::net::{SocketAddr, TcpListener};

use clap::Args;
use hw_tests::debug::gdb::{Ended, serve};
use rcflash::exit::{Failure, Outcome, RIG};

use super::print;
use super::session::SessionArgs;

#[derive(Args)]
pub(super) struct GdbArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Where to wait for gdb; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:3333")]
    listen: SocketAddr,
}

pub(super) fn gdb(args: &GdbArgs) -> Outcome {
    let mut debugger = args.session.debugger()?;
    let failed = |error| Failure::new(RIG, format!("{}: {error}", args.listen));
    let listener = TcpListener::bind(args.listen).map_err(failed)?;
    print(&format!("{}\n", listener.local_addr().map_err(failed)?))?;
    eprintln!("waiting for gdb; `kill` in gdb ends this, `detach` waits for the next");
    loop {
        let (mut stream, peer) = listener.accept().map_err(failed)?;
        eprintln!("{peer} is here");
        match serve(&mut debugger, &mut stream) {
            Ok(Ended::Killed) => return Ok(0),
            Ok(Ended::Detached) => eprintln!("{peer} has gone"),
            Err(error) => eprintln!("{peer}: {error}"),
        }
    }
}
