//! `rcflash ports`.

use std::path::PathBuf;

use clap::Args;
use cli_support::exit::{Failure, NOTHING, Outcome, RIG};
use cli_support::text::{print, visible, visible_json};
use rcflash_rig::RigFile;
use rcflash_transport::port::{self, PortInfo};

#[derive(Args)]
pub(super) struct PortsArgs {
    /// Print JSON, one line a port
    #[arg(long)]
    json: bool,
    /// The rig file; if not given, that of RCFLASH_RIG, else rcflash/rig.toml in your folder for
    /// settings
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
}

pub(super) fn ports(args: &PortsArgs) -> Outcome {
    let ports = port::list()
        .map_err(|error| Failure::new(RIG, format!("can't list the serial ports: {error}")))?;
    let rig = RigFile::read(args.rig.as_deref())?;
    if ports.is_empty() {
        return Err(Failure::new(NOTHING, "no serial port is there; plug the board's adapter in"));
    }
    for port in &ports {
        let names = rig.names_of(port);
        let line = if args.json { json(port, &names) } else { plain(port, &names) };
        let line = if args.json { visible_json(&line) } else { visible(&line) };
        if print(&format!("{line}\n")).is_err() {
            break; // there is nobody to print for
        }
    }
    Ok(0)
}

/// One line for people, such as
/// `/dev/ttyUSB0 usb 0403:6001 TTL232R-3V3 FTBYMC2X /dev/serial/by-id/usb-FTDI... (bench)`.
fn plain(port: &PortInfo, names: &[&str]) -> String {
    let usb = port.usb.map(|(vendor, product)| format!("{vendor:04x}:{product:04x}"));
    let names = (!names.is_empty()).then(|| format!("({})", names.join(", ")));
    let words = [
        Some(port.path.clone()),
        Some(port.kind.to_owned()),
        usb,
        port.product.clone(),
        port.serial.clone(),
        port.by_id.clone(),
        names,
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn json(port: &PortInfo, names: &[&str]) -> String {
    let hex = |number: u16| format!("{number:04x}");
    serde_json::json!({
        "path": port.path,
        "kind": port.kind,
        "vid": port.usb.map(|(vid, _)| hex(vid)),
        "pid": port.usb.map(|(_, pid)| hex(pid)),
        "product": port.product,
        "serial": port.serial,
        "by_id": port.by_id,
        "names": names,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_line_with_all_that_is_known_of_it() {
        let usb = PortInfo {
            path: "/dev/ttyUSB0".to_owned(),
            kind: "usb",
            usb: Some((0x0403, 0x6001)),
            product: Some("TTL232R-3V3".to_owned()),
            serial: Some("FTBYMC2X".to_owned()),
            by_id: Some("/dev/serial/by-id/usb-1".to_owned()),
        };
        assert_eq!(
            plain(&usb, &["bench"]),
            "/dev/ttyUSB0 usb 0403:6001 TTL232R-3V3 FTBYMC2X /dev/serial/by-id/usb-1 (bench)"
        );
        let product = None;
        let serial = None;
        let by_id = None;
        let bare = PortInfo {
            path: "/dev/ttyS0".to_owned(),
            kind: "built in",
            usb: None,
            product,
            serial,
            by_id,
        };
        assert_eq!(plain(&bare, &[]), "/dev/ttyS0 built in");
        let value: serde_json::Value = serde_json::from_str(&json(&usb, &["bench"])).expect("JSON");
        assert_eq!((&value["vid"], &value["names"][0]), (&"0403".into(), &"bench".into()));
    }
}
