//! `rcflash ports`.

use std::io::Write;

use clap::Args;
use rcflash::exit::{Failure, NOTHING, Outcome, RIG};
use rcflash::port::{self, PortInfo};

#[derive(Args)]
pub(super) struct PortsArgs {
    /// Print JSON, one line a port
    #[arg(long)]
    json: bool,
}

pub(super) fn ports(args: &PortsArgs) -> Outcome {
    let ports = port::list()
        .map_err(|error| Failure::new(RIG, format!("can't list the serial ports: {error}")))?;
    if ports.is_empty() {
        return Err(Failure::new(NOTHING, "no serial port is there; plug the board's adapter in"));
    }
    for port in &ports {
        let line = if args.json { json(port) } else { plain(port) };
        if writeln!(std::io::stdout(), "{line}").is_err() {
            break; // whoever reads it has had enough
        }
    }
    Ok(0)
}

fn plain(port: &PortInfo) -> String {
    let usb = port.usb.map_or(String::new(), |(vid, pid)| format!(" {vid:04x}:{pid:04x}"));
    let word = |text: &Option<String>| text.as_ref().map_or(String::new(), |t| format!(" {t}"));
    format!("{} {}{usb}{}{}", port.path, port.kind, word(&port.product), word(&port.serial))
}

fn json(port: &PortInfo) -> String {
    let hex = |number: u16| format!("{number:04x}");
    serde_json::json!({
        "path": port.path,
        "kind": port.kind,
        "vid": port.usb.map(|(vid, _)| hex(vid)),
        "pid": port.usb.map(|(_, pid)| hex(pid)),
        "product": port.product,
        "serial": port.serial,
    })
    .to_string()
}
