//! The version and commit that the module states.

fn main() {
    cli_support::version::emit_version_env();
}
