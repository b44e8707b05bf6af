//! `hw-tests dap`: the Debug Adapter Protocol on standard input and output.

use std::io;

use clap::Args;
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use hw_tests::debug::{Debugger, at_exchange, dap};
use rcflash::exit::{Failure, Outcome, RIG};
use rcflash::rig::DEFAULT_BOARD;
use serde_json::Value;

use super::session::parse_position;
use super::square_name;

#[derive(Args)]
pub(super) struct DapArgs {}

pub(super) fn serve(_args: &DapArgs) -> Outcome {
    let (input, mut output) = (io::BufReader::new(io::stdin()), io::stdout().lock());
    dap::serve(input, &mut output, &launch)
        .map_err(|error| Failure::new(RIG, format!("the client: {error}")))?;
    Ok(0)
}

/// The debugger that the arguments of `launch` ask for.
fn launch(arguments: &Value) -> Result<Debugger, String> {
    let text = |name: &str| arguments[name].as_str();
    let fen = text("fen").ok_or("launch needs \"fen\": a position")?;
    let square = square_name(text("square").ok_or("launch needs \"square\": such as e4")?)?;
    let profile = Profile::named(text("board").unwrap_or(DEFAULT_BOARD));
    let profile = profile.map_err(|error| error.to_string())?;
    let behaviour = text("behaviour").unwrap_or("mended").parse()?;
    let evaluator = Evaluator { behaviour, own: text("sargonDir").map(Into::into) };
    let position = parse_position(fen)?;
    at_exchange(&profile, &evaluator, &position, square).map_err(|error| error.to_string())
}
