//! The version and commit that the module states.

fn main() {
    program_kit::commit::set_version();
}
