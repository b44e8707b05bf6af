//! The version and commit that the module states.

fn main() {
    cli_support::commit::set_version();
}
