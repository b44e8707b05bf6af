//! The version that `--version` shows.

fn main() {
    cli_support::commit::set_version();
}
