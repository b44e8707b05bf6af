//! Places in external areas: no section holds them.

use super::names::{Definition, Name, State};

/// Whether a symbol has a value that moves with an external, without being one.
pub(super) fn is_in_shared(name: &Name) -> bool {
    let State::Value(value) = name.state else { return false };
    let moves = !value.is_absolute() && value.base.external().is_some();
    moves && name.definition != Definition::External
}
