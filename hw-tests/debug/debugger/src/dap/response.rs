//! Builds the bodies of responses; shared by all request handlers.

use serde_json::{Value, json};

use super::types::Source;
use crate::Debugger;

/// The id of the only thread.
pub(super) const THREAD_ID: u64 = 1;

/// The body of a response, or an error message. Members that are null are left out when it is sent:
/// to the protocol that is not the same.
pub(super) type ResponseBody = Result<Value, String>;

/// Removes members that are null, except the one that the protocol requires.
pub(super) fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| !member.is_null() || name == "dataId");
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// An address as a memory reference, which clients pass back.
pub(super) fn memory_reference(address: u16) -> String {
    format!("0x{address:04X}")
}

/// Describes a source by the user's path, or by a number that stands for the text.
pub(super) fn source_of(debugger: &Debugger, file: &str) -> Value {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if let Some(path) = debugger.code().path(file) {
        return json!({ "name": name, "path": path.display().to_string() });
    }
    let number = debugger.code().files().iter().position(|other| *other == file);
    // Clients show the path, and request the text by the number.
    json!({ "name": name, "path": file, "sourceReference": number.map(|number| number + 1) })
}

/// Returns the file name of the source that a client refers to.
pub(super) fn source_name(debugger: &Debugger, source: &Source) -> Result<String, String> {
    let number = source.source_reference.and_then(|number| number.checked_sub(1));
    let files = debugger.code().files();
    // A number may be that of another file after the program was loaded again, a path is not.
    let path = source.path.as_deref().filter(|path| files.contains(path));
    let known = path.or_else(|| files.get(usize::try_from(number?).ok()?).copied());
    let name = known.map(str::to_owned).or_else(|| source.path.clone());
    name.or_else(|| source.name.clone()).ok_or_else(|| "no source given".to_owned())
}
