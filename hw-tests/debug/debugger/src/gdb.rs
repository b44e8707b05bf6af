//! gdb's remote serial protocol ("Debugging with GDB", appendix E), for a gdb with Z80 support. The
//! packets are those of `gdbstub`. Breakpoints do not modify memory.

mod client;
mod connections;
mod target;
mod z80;

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;

use gdbstub::conn::Connection;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, SingleThreadStopReason};

use super::debugger::Debugger;

pub use client::{GdbClient, GdbStream};
pub use connections::{GdbConnection, accept_connections};

use target::{GdbTarget, SharedClient};

/// Maximum packet size.
const MAX_PACKET: usize = 0x1000;

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// gdb detached or disconnected, and may reconnect.
    Detached,
    /// gdb sent `k` (kill).
    Killed,
}

/// Serves gdb until it detaches, kills the session or disconnects, then removes its breakpoints.
///
/// # Errors
/// Returns the error of the line to gdb if it fails, or one of kind `InvalidData` for bytes that
/// are not gdb's.
pub fn serve(debugger: &mut Debugger, client: &mut GdbClient<'_>) -> io::Result<SessionEnd> {
    let client = RefCell::new(client);
    let mut target = GdbTarget::new(debugger, &client);
    let end = run_session(&mut target, &client);
    target.remove_stops();
    end
}

/// What the stub writes.
struct Replies<'t, 'c, 's>(&'t SharedClient<'c, 's>);

impl Connection for Replies<'_, '_, '_> {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.0.borrow_mut().reply.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

fn run_session(
    target: &mut GdbTarget<'_, '_, '_>,
    client: &SharedClient<'_, '_>,
) -> io::Result<SessionEnd> {
    let stub = GdbStub::builder(Replies(client)).packet_buffer_size(MAX_PACKET).build();
    let stub = stub.map_err(|error| io::Error::other(error.to_string()))?;
    let mut machine = stub.run_state_machine(target).map_err(failed)?;
    loop {
        let next = match machine {
            GdbStubStateMachine::Idle(idle) => {
                let byte = client.borrow_mut().byte()?;
                let Some(byte) = byte else { return Ok(SessionEnd::Detached) };
                idle.incoming_data(target, byte)
            }
            GdbStubStateMachine::Running(running) => {
                client.borrow_mut().flush()?; // the acknowledgement
                let reason = target.run();
                running.report_stop(target, reason)
            }
            // The board has halted by itself meanwhile.
            GdbStubStateMachine::CtrlCInterrupt(interrupt) => {
                interrupt.interrupt_handled(target, None::<SingleThreadStopReason<u64>>)
            }
            GdbStubStateMachine::Disconnected(end) => {
                if end.get_reason() != DisconnectReason::Kill {
                    return Ok(SessionEnd::Detached);
                }
                // `vKill` has a reply; after `k`, gdb is gone.
                let _ = client.borrow_mut().send("OK");
                return Ok(SessionEnd::Killed);
            }
        };
        machine = next.map_err(failed)?;
    }
}

fn failed(error: GdbStubError<Infallible, io::Error>) -> io::Error {
    let problem = format!("these bytes are not gdb's, the connection is closed: {error}");
    match error.into_connection_error() {
        Some((error, _)) => error,
        None => io::Error::new(io::ErrorKind::InvalidData, problem),
    }
}
