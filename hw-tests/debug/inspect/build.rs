//! The version that `--version` shows.

fn main() {
    cli_support::version::emit_version_env();
}
