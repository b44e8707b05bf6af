//! Writes JSON in which no string has a character that a terminal or a page would act on.

use std::io::{self, Write};

use cli_support::text::escape_json;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Where JSON is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// A file of its own.
    File,
    /// A script element of HTML, which a string with `<` could end.
    ScriptElement,
}

impl Formatter for Container {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let safe = escape_json(fragment);
        match self {
            Self::ScriptElement if safe.contains('<') => {
                out.write_all(safe.replace('<', "\\u003c").as_bytes())
            }
            _ => out.write_all(safe.as_bytes()),
        }
    }
}

/// Writes a value as JSON, with control characters in escapes.
pub(super) fn write_json(
    out: &mut dyn Write,
    value: &impl Serialize,
    container: Container,
) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, container))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_value_and_cannot_end_a_script() {
        let value = ["</script>\u{9B}\u{202E}\"\n", "é"];
        for (container, expected) in [
            (Container::File, "[\"</script>\\u009b\\u202e\\\"\\n\",\"é\"]"),
            (Container::ScriptElement, "[\"\\u003c/script>\\u009b\\u202e\\\"\\n\",\"é\"]"),
        ] {
            let mut written = Vec::new();
            write_json(&mut written, &value, container).expect("to memory");
            assert_eq!(String::from_utf8_lossy(&written), expected);
            assert_eq!(serde_json::from_slice::<[String; 2]>(&written).expect("JSON"), value);
        }
    }
}
