//! Baud rate, flow control and control lines of serial devices, by `serialport`.

use std::io;

use serialport::{ClearBuffer, FlowControl};

use super::serial::Device;

impl Device {
    /// Returns the baud rate.
    pub fn baud(&mut self) -> io::Result<u32> {
        Ok(self.settings().baud_rate()?)
    }

    /// Sets the baud rate.
    pub fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        Ok(self.settings().set_baud_rate(baud)?)
    }

    /// Returns `true` if the device has modem control lines; a pseudo-terminal has none. Only reads
    /// CTS, so no line changes.
    pub fn has_control_lines(&mut self) -> bool {
        self.settings().read_clear_to_send().is_ok()
    }

    /// Sets DTR.
    pub fn set_dtr(&mut self, on: bool) -> io::Result<()> {
        Ok(self.settings().write_data_terminal_ready(on)?)
    }

    /// Sets RTS.
    pub fn set_rts(&mut self, on: bool) -> io::Result<()> {
        Ok(self.settings().write_request_to_send(on)?)
    }

    /// Starts or ends a break condition.
    pub fn set_break(&mut self, on: bool) -> io::Result<()> {
        Ok(if on { self.settings().set_break() } else { self.settings().clear_break() }?)
    }

    /// Enables or disables RTS/CTS flow control; returns whether it was enabled before.
    pub fn set_hardware_flow_control(&mut self, on: bool) -> io::Result<bool> {
        let before = self.settings().flow_control()?;
        let flow = if on { FlowControl::Hardware } else { FlowControl::None };
        self.settings().set_flow_control(flow)?;
        Ok(before == FlowControl::Hardware)
    }

    /// Discards bytes that were written and not transmitted yet.
    pub fn discard_unsent(&mut self) -> io::Result<()> {
        Ok(self.settings().clear(ClearBuffer::Output)?)
    }
}
