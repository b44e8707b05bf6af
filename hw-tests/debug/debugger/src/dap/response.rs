//! Builds the bodies of responses; shared by all request handlers.

use serde::Serialize;
use serde_json::Value;

use super::types::Source;
use crate::Debugger;

/// The id of the only thread.
pub(super) const THREAD_ID: u64 = 1;

/// The body of a response, or an error message.
pub(super) type ResponseBody = Result<Value, String>;

/// Returns a body without members that are `None`: to the protocol `null` is not the same.
pub(super) fn to_body(value: &impl Serialize) -> ResponseBody {
    let mut body = serde_json::to_value(value).map_err(|error| error.to_string())?;
    remove_nulls(&mut body);
    Ok(body)
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
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
pub(super) fn source_of(debugger: &Debugger, file: &str) -> Source {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned();
    if let Some(path) = debugger.code().path(file) {
        let path = Some(path.display().to_string());
        return Source { name: Some(name), path, source_reference: None };
    }
    let number = debugger.code().files().iter().position(|other| *other == file);
    let source_reference = number.map(|number| number as u64 + 1);
    // Clients show the path, and request the text by the number.
    Source { name: Some(name), path: Some(file.to_owned()), source_reference }
}

/// Returns the file name of the source that a client refers to.
pub(super) fn source_name(debugger: &Debugger, source: &Source) -> Option<String> {
    let number = source.source_reference.and_then(|number| number.checked_sub(1));
    let files = debugger.code().files();
    // A number may be that of another file after the program was loaded again, a path is not.
    let path = source.path.as_deref().filter(|path| files.contains(path));
    let known = path.or_else(|| files.get(usize::try_from(number?).ok()?).copied());
    known.map(str::to_owned).or_else(|| source.path.clone()).or_else(|| source.name.clone())
}
