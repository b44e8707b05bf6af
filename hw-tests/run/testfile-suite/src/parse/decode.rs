//! The deserializer of test files.
//!
//! Numbers may be expressions over the labels of the program. Some fields of structs are not keys:
//! `+` is the table itself, `=` a value that stands there instead of a table, and `*` all keys
//! without a field of their own.

use std::collections::HashMap;
use std::fmt;
use std::vec;

use cli_support::text::Escape;
use serde::de::{self, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use toml::de::DeValue;

use super::Reader;
use super::call::MAX_TIMEOUT;
use super::values::width;
use crate::document::Node;

/// Similarity of names, from 0 to 1, from which one is suggested instead of the other.
const SIMILAR: f64 = 0.75;
/// The keys of arrays that may also be a single value.
const ONE_OR_MORE: [&str; 2] = ["check", "returns"];
/// What keys have, with an example.
const DESCRIPTIONS: [(&str, &str); 38] = [
    ("args", "a table such as { A = \"u8\", HL = \"0..1000\" }"),
    ("arrays", "arrays such as [{ at = \"BUFFER\", length = \"1..=64\", byte = \"u8\" }]"),
    ("arrays.length", "a range such as \"1..=64\""),
    ("at", "an address such as \"BUFFER\""),
    ("boards", "an array of strings such as [\"rc2014-classic\"]"),
    ("bytes", "an array such as [1, 2]"),
    ("call", "an address such as \"MUL\""),
    ("calls", "a table such as { PUTC = 3 }"),
    ("case", "an array of tables: [[case]]"),
    ("check", "a string such as \"HL == A * DE\""),
    ("clobbers", "a string such as \"AF BC\""),
    ("defines", "a table such as { DEBUG = 1 }"),
    ("exhaustive", "true or false"),
    ("expect", "a table such as { HL = 21, flags = \"NC\" }"),
    ("file", "a string such as \"input.bin\""),
    ("flags", "a string such as \"C NZ\""),
    ("in", "a table such as { A = 1, flags = \"C\" }"),
    ("include", "an array of strings such as [\"include\"]"),
    ("input", "a string such as \"HELLO\\r\""),
    ("interrupt", "an array of tables such as [{ at = 100, handler = \"ISR\" }]"),
    ("interrupt.at", "T-states such as 100"),
    ("memory", "memory such as [{ at = \"BUFFER\", bytes = [1, 2] }]"),
    ("mock", "a table such as { PUTC = { returns = { A = 1 } } }"),
    ("name", "a string such as \"wraps at 256\""),
    ("objects", "an array of strings such as [\"mul.o\"]"),
    ("outputs", "an array such as [\"HL\", \"FC\"]"),
    ("pane", "an array of tables: [[pane]]"),
    ("ports", "a table of ports such as { 10H = [1, 2] }"),
    ("property", "an array of tables: [[property]]"),
    ("reference", "an array of strings such as [\"python3\", \"mul.py\"]"),
    ("rows", "rows such as [[\"in.A\", \"expect.HL\"], [3, 21]]"),
    ("setup", "an array of calls such as [{ call = \"INIT\" }]"),
    ("skip", "a string such as \"needs a CTC\""),
    ("sources", "an array of strings such as [\"mul.asm\"]"),
    ("steps", "an array of calls such as [{ call = \"INIT\" }]"),
    ("tags", "an array of strings such as [\"slow\"]"),
    ("words", "an array such as [1, 2]"),
    ("writes", "memory such as [{ at = \"BUFFER\", size = 16 }]"),
];

fn description(key: &str) -> Option<&'static str> {
    DESCRIPTIONS.iter().find(|(known, _)| *known == key).map(|(_, what)| *what)
}

/// Why a value can't be decoded.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct DecodeError {
    /// The innermost value that is wrong.
    node: Option<Node>,
    message: String,
    kind: DecodeErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecodeErrorKind {
    /// The message is the expected type.
    Type,
    /// The value of a key that must be there was reported, and left out.
    Reported,
    Other,
}

impl DecodeError {
    fn at(self, node: Node) -> Self {
        Self { node: self.node.or(Some(node)), ..self }
    }
}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { node: None, message: message.to_string(), kind: DecodeErrorKind::Other }
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self { node: None, message: expected.to_string(), kind: DecodeErrorKind::Type }
    }
}

impl<'t> Reader<'_, 't> {
    /// Decodes a value. What is wrong is reported, and left out if the type permits.
    pub(super) fn decode<T: Deserialize<'t>>(&self, node: Node) -> Option<T> {
        let value = NodeDeserializer { reader: *self, node, except: &[], width: 2, absent: None };
        loop {
            let error = match T::deserialize(value) {
                Ok(value) => return Some(value),
                Err(error) => error,
            };
            let wrong = error.node.unwrap_or(node);
            match error.kind {
                DecodeErrorKind::Type => self.report_type(wrong, &error.message),
                DecodeErrorKind::Reported => {}
                DecodeErrorKind::Other => self.document.report(wrong, error.message),
            }
            if self.document.is_same(wrong, node) {
                return None;
            }
            self.document.reject(wrong);
        }
    }

    /// Reports a value of another type than its key has.
    pub(super) fn report_type(&self, node: Node, otherwise: &str) {
        let known = description(self.document.key(node));
        self.document.report_expected(node, known.unwrap_or(otherwise));
    }

    /// Reports the keys that no struct has a field for.
    pub(super) fn report_unknown_keys(&self) {
        let document = self.document;
        let mut tables: HashMap<*const DeValue<'_>, (Node, Vec<&str>)> = HashMap::new();
        for (table, fields) in document.decoded.take() {
            let (_, known) =
                tables.entry(document.data(table).value).or_insert((table, Vec::new()));
            let new = fields.iter().filter(|field| is_key(field) && !known.contains(field));
            known.extend(new.copied().collect::<Vec<_>>());
        }
        for (table, known) in tables.into_values() {
            let children = document.children(table).into_iter();
            for node in children.filter(|node| !known.contains(&document.key(*node))) {
                let message = unknown_key(document.key(node), &known);
                document.report_at(document.key_position(node), message);
            }
        }
    }
}

/// Returns `true` if a field is that of a key.
fn is_key(field: &str) -> bool {
    field.starts_with(char::is_alphabetic)
}

/// Returns the bytes of the numbers of a key: of a register, or of memory.
fn width_of(key: &str) -> Option<u16> {
    match key {
        "bytes" => Some(1),
        "cycles" | "stack" => Some(4),
        "at" | "words" => Some(2),
        _ => z80_core::canonical_register_name(key).map(width),
    }
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    let similar = known.iter().map(|known| (strsim::jaro(key, known), known));
    let similar = similar.filter(|(similarity, _)| *similarity >= SIMILAR);
    let suggestion = similar.max_by(|one, other| one.0.total_cmp(&other.0));
    let suggestion = suggestion.map(|(_, known)| format!("; did you mean '{known}'?"));
    let (key, all) = (key.escaped(), known.join(", "));
    format!("unknown key '{key}': expected one of {all}{}", suggestion.unwrap_or_default())
}

/// Returns the least and most that an integer of a key may be.
fn range_of(key: &str) -> (i64, i64) {
    match key {
        "cases" => (1, 99_999_999),
        "period" | "timeout" => (1, MAX_TIMEOUT),
        "size" => (1, 0x1_0000),
        _ => (0, i64::MAX - 1),
    }
}

#[derive(Clone, Copy)]
struct NodeDeserializer<'d, 't> {
    reader: Reader<'d, 't>,
    node: Node,
    /// The keys of the table that are not read.
    except: &'static [&'static str],
    /// The bytes of numbers, unless the key determines them.
    width: u16,
    /// A key that the table lacks, which is decoded.
    absent: Option<&'static str>,
}

impl<'t> NodeDeserializer<'_, 't> {
    fn wrong_type<T>(&self, expected: &dyn Expected) -> Result<T, DecodeError> {
        let error: DecodeError = de::Error::invalid_type(Unexpected::Unit, expected);
        Err(error.at(self.node))
    }

    fn missing<T>(&self, key: &str) -> Result<T, DecodeError> {
        let table = self.reader.document.key(self.node);
        let known = description(&format!("{table}.{key}")).or(description(key));
        let example = known.and_then(|what| what.split_once(" such as "));
        let example = example.map(|(_, example)| format!(": {key} = {example}"));
        let message = format!("'{key}' is missing{}", example.unwrap_or_default());
        let kind = match self.value().as_table() {
            Some(table) if table.contains_key(key) => DecodeErrorKind::Reported,
            _ => DecodeErrorKind::Other,
        };
        Err(DecodeError { node: Some(self.node), message, kind })
    }

    fn value(&self) -> &'t DeValue<'t> {
        self.reader.document.data(self.node).value
    }

    /// Returns the values of the table or array, by their keys.
    fn children(&self) -> Children<'_, 't> {
        let document = self.reader.document;
        let children = document.children(self.node).into_iter().filter(|_| self.absent.is_none());
        let children = children.map(|node| {
            let key = document.key(node);
            (key, Self { node, except: &[], width: width_of(key).unwrap_or(self.width), ..*self })
        });
        let children = children.filter(|(key, _)| !self.except.contains(key));
        Children { children: children.collect::<Vec<_>>().into_iter(), value: None }
    }

    /// Returns the values of the fields of a struct.
    fn fields(&self, fields: &'static [&'static str]) -> Children<'_, 't> {
        let is_table = self.value().is_table() && self.absent.is_none();
        let mut children: Vec<_> =
            self.children().children.filter(|(key, _)| fields.contains(key)).collect();
        for field in fields {
            let is_given = children.iter().any(|(key, _)| key == field);
            match *field {
                "*" if is_table => children.push((field, Self { except: fields, ..*self })),
                "+" => children.push((field, *self)),
                "=" if !is_table && self.absent.is_none() => children.push((field, *self)),
                _ if is_given => {}
                _ => children.push((field, Self { absent: Some(field), ..*self })),
            }
        }
        Children { children: children.into_iter(), value: None }
    }
}

impl<'t> Deserializer<'t> for NodeDeserializer<'_, 't> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if let Some(key) = self.absent {
            return self.missing(key);
        }
        match self.value() {
            DeValue::String(text) => visitor.visit_borrowed_str(text),
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Array(_) => visitor.visit_seq(self.children()),
            DeValue::Table(_) => visitor.visit_map(self.children()),
            _ => self.wrong_type(&visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.absent {
            Some(_) => visitor.visit_bool(false),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.absent {
            Some(_) => visitor.visit_map(self.children()),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let key = self.reader.document.key(self.node);
        if self.absent.is_some() {
            visitor.visit_seq(self.children())
        } else if self.value().is_array() || !ONE_OR_MORE.contains(&key) {
            self.deserialize_any(visitor)
        } else {
            visitor.visit_seq(Children { children: vec![(key, self)].into_iter(), value: None })
        }
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let is_table = self.value().is_table();
        let is_right = |field: &&str| match is_table {
            true => is_key(field) || *field == "*",
            false => *field == "=",
        };
        match self.absent {
            None if !fields.iter().any(is_right) => return self.wrong_type(&visitor),
            Some(key) if fields.contains(&"=") => return self.missing(key),
            _ => {}
        }
        if self.absent.is_none() && is_table && !fields.contains(&"*") {
            self.reader.document.decoded.borrow_mut().push((self.node, fields));
        }
        visitor.visit_map(self.fields(fields))
    }

    /// Decodes a [`Node`].
    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.absent {
            Some(key) => self.missing(key),
            None => visitor.visit_newtype_struct(self.node.0.into_deserializer()),
        }
    }

    /// Decodes a number that may be an expression.
    fn deserialize_u32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.absent {
            Some(key) => self.missing(key),
            None => visitor.visit_u32(self.reader.number(self.node, self.width)),
        }
    }

    fn deserialize_u16<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_u32(visitor)
    }

    fn deserialize_u8<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        Self { width: 1, ..self }.deserialize_u32(visitor)
    }

    /// Decodes an integer.
    fn deserialize_u64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let (least, most) = range_of(self.reader.document.key(self.node));
        visitor.visit_i64(self.reader.document.integer(self.node, least..most + 1))
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.absent {
            Some(_) => visitor.visit_none(),
            None => visitor.visit_some(self),
        }
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        i8 i16 i32 i64 i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct enum identifier ignored_any
    }
}

/// The values of a table or array.
struct Children<'d, 't> {
    children: vec::IntoIter<(&'t str, NodeDeserializer<'d, 't>)>,
    /// The value of the last key.
    value: Option<NodeDeserializer<'d, 't>>,
}

impl<'t> MapAccess<'t> for Children<'_, 't> {
    type Error = DecodeError;

    fn next_key_seed<K: de::DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, value)) = self.children.next() else { return Ok(None) };
        self.value = Some(value);
        let key = seed.deserialize(key.into_deserializer());
        key.map(Some).map_err(|error: DecodeError| error.at(value.node))
    }

    fn next_value_seed<S: de::DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, DecodeError> {
        let missing = || de::Error::custom("a value was read before its key");
        let value = self.value.take().ok_or_else(missing)?;
        seed.deserialize(value).map_err(|error| error.at(value.node))
    }
}

impl<'t> SeqAccess<'t> for Children<'_, 't> {
    type Error = DecodeError;

    fn next_element_seed<S: de::DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        let Some((_, value)) = self.children.next() else { return Ok(None) };
        seed.deserialize(value).map(Some).map_err(|error| error.at(value.node))
    }
}
