//! A board with its port, wiring and reset.

use std::io;
use std::net::ToSocketAddrs;
use std::time::Duration;

use rcflash_transport::network::NetworkAddress;
use rcflash_transport::port::{self, OpenError};
use rcflash_transport::{Transport, network};
use serde::Deserialize;

use super::labgrid::LabgridPlace;
use super::method::{ResetConfig, ResetMethod};
use super::reset;

/// The profile of boards without an entry.
pub const DEFAULT_BOARD: &str = "rc2014-classic";

/// The flow control by which the board suspends the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowControl {
    /// The board's RTS is connected to the host's CTS.
    #[default]
    RtsCts,
    /// None, or the adapter's CTS is not connected.
    None,
}

/// Delays in text for an interactive monitor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pacing {
    /// The delay after each character.
    pub char_delay: Duration,
    /// The additional delay after each line end.
    pub line_delay: Duration,
}

/// A board and how it is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rig {
    /// The name in the rig file.
    pub name: Option<String>,
    /// The path of the device, or the address.
    pub port: String,
    /// The serial number of the adapter, if the rig file identifies it by that.
    pub serial: Option<String>,
    /// The name of the profile.
    pub board: String,
    /// The speed, if it differs from the profile's.
    pub baud: Option<u32>,
    /// The flow control.
    pub flow: FlowControl,
    /// How the board is reset.
    pub reset: ResetConfig,
    /// The pace of text.
    pub pacing: Pacing,
}

impl Rig {
    /// Returns a board about which only the port is known.
    pub fn from_port(port: &str) -> Self {
        Self {
            name: None,
            port: port.to_owned(),
            serial: None,
            board: DEFAULT_BOARD.to_owned(),
            baud: None,
            flow: FlowControl::default(),
            reset: ResetConfig {
                labgrid: LabgridPlace::from_port_name(port),
                ..ResetConfig::default()
            },
            pacing: Pacing::default(),
        }
    }

    /// Returns a text that is the same for all names of the port: the device's own path, or the
    /// address of the server as a number. Names that can't be resolved are their own identity.
    pub fn port_identity(&self) -> String {
        let adapter = self.serial.as_deref().and_then(|serial| port_of_adapter(serial).ok()?);
        let port = adapter.as_ref().unwrap_or(&self.port);
        if let Ok(Some(address)) = NetworkAddress::parse(port) {
            let found = (address.host.as_str(), address.port).to_socket_addrs().ok();
            let found = found.and_then(|mut all| all.next());
            return found.map_or_else(|| port.clone(), |at| format!("{at}{}", address.path));
        }
        let device = std::fs::canonicalize(port).ok();
        device.map_or_else(|| port.clone(), |path| path.to_string_lossy().into_owned())
    }

    /// Opens the port, at `baud` if the rig has no speed of its own, and sets its control lines.
    ///
    /// # Errors
    /// Returns [`OpenError`], whose message includes a hint.
    pub fn open(&self, baud: u32) -> Result<Box<dyn Transport + Send>, OpenError> {
        // An adapter that was replugged may have another path.
        let adapter_path =
            self.serial.as_deref().and_then(|serial| port_of_adapter(serial).ok().flatten());
        let labgrid_address = self.reset.labgrid.as_ref().map(LabgridPlace::address).transpose();
        let labgrid_address =
            labgrid_address.map_err(|error| OpenError::Other(self.port.clone(), error))?;
        let device = labgrid_address.as_ref().or(adapter_path.as_ref()).unwrap_or(&self.port);
        let mut port = network::open(device, self.baud.unwrap_or(baud))?;
        let configured = port
            .set_flow_control(self.flow == FlowControl::RtsCts)
            .and_then(|_| reset::release(&self.reset, &mut *port))
            .and_then(|()| self.keep_lines_at_close(&mut *port));
        configured.map_err(|error| OpenError::Other(self.port.clone(), error))?;
        Ok(port)
    }

    /// Keeps DTR and RTS when the port is closed, if one of them is connected to the reset circuit.
    fn keep_lines_at_close(&self, port: &mut dyn Transport) -> io::Result<()> {
        match self.reset.method {
            ResetMethod::Dtr | ResetMethod::Rts => port.keep_lines_at_close(),
            ResetMethod::Ask | ResetMethod::None | ResetMethod::Break | ResetMethod::Command => {
                Ok(())
            }
        }
    }
}

pub(crate) fn port_of_adapter(serial: &str) -> io::Result<Option<String>> {
    let adapter = port::list()?.into_iter().find(|port| port.serial.as_deref() == Some(serial));
    Ok(adapter.map(|port| port.path))
}
