//! The version that `--version` shows.

fn main() {
    program_kit::commit::set_version();
}
