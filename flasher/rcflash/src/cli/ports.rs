//! `rcflash ports`.

use std::path::PathBuf;

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, NOTHING_SELECTED};
use cli_support::output::print;
use cli_support::text::{escape_controls, escape_json};
use rcflash_link::rig::RigFile;
use rcflash_transport::port::{self, PortInfo};

#[derive(Args)]
pub(super) struct PortsArgs {
    /// Print JSON, one line per port
    #[arg(long)]
    json: bool,
    /// Rig file [default: RCFLASH_RIG, or rcflash/rig.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    rig_file: Option<PathBuf>,
}

pub(super) fn ports(args: &PortsArgs) -> CommandResult {
    let ports = list()?;
    let rig = RigFile::read(args.rig_file.as_deref())?;
    if ports.is_empty() {
        return Err(CommandError::new(
            NOTHING_SELECTED,
            "no serial port found; plug in the board's adapter",
        ));
    }
    for port in &ports {
        let names = rig.boards_on(port);
        let line = if args.json { json_line(port, &names) } else { text_line(port, &names) };
        let line = if args.json { escape_json(&line) } else { escape_controls(&line) };
        print(&format!("{line}\n"))?;
    }
    Ok(0)
}

/// Lists the serial ports.
pub(super) fn list() -> Result<Vec<PortInfo>, CommandError> {
    port::list().map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("can't list the serial ports: {error}"))
    })
}

/// Returns a line of text, such as
/// `/dev/ttyUSB0 usb 0403:6001 TTL232R-3V3 FTBYMC2X /dev/serial/by-id/usb-FTDI... (bench)`.
pub(super) fn text_line(port: &PortInfo, names: &[&str]) -> String {
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

fn json_line(port: &PortInfo, names: &[&str]) -> String {
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
            text_line(&usb, &["bench"]),
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
        assert_eq!(text_line(&bare, &[]), "/dev/ttyS0 built in");
        let value: serde_json::Value =
            serde_json::from_str(&json_line(&usb, &["bench"])).expect("JSON");
        assert_eq!((&value["vid"], &value["names"][0]), (&"0403".into(), &"bench".into()));
    }
}
