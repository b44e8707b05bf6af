//! The limit of a run, as `report.json` has it: shares of the time, and the name of the one that
//! was used nearly all of it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::live::{Limit, Load};

/// The fields of `limit`.
#[derive(Serialize, Deserialize)]
struct Shares {
    /// The name of the share that is the limit, or `other`.
    #[serde(skip_deserializing)]
    by: &'static str,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    processor: Option<f64>,
    #[serde(rename = "out")]
    sending: f64,
    #[serde(rename = "in")]
    hearing: f64,
}

impl Serialize for Load {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { processor, sending, hearing } = *self;
        let by = match self.limit() {
            Some(Limit::Processor) => "processor",
            Some(Limit::Sending) => "out",
            Some(Limit::Hearing) => "in",
            None => "other",
        };
        Shares { by, processor, sending, hearing }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Shares { processor, sending, hearing, .. } = Shares::deserialize(from)?;
        Ok(Self { processor, sending, hearing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_was_used_up_is_named_and_all_are_read_back() {
        let cases = [
            ("processor", Some(0.9375), 0.25, 0.375),
            ("out", Some(0.5), 0.9375, 0.375),
            ("in", Some(0.5), 0.75, 0.9375),
            ("other", Some(0.5), 0.75, 0.875),
            ("other", None, 0.125, 0.25),
        ];
        for (by, processor, sending, hearing) in cases {
            let load = Load { processor, sending, hearing };
            let json = serde_json::to_value(load).expect("JSON");
            assert_eq!(json["by"], by);
            assert_eq!(json.get("processor").is_some(), processor.is_some(), "{json}");
            assert_eq!((&json["out"], &json["in"]), (&sending.into(), &hearing.into()));
            assert_eq!(serde_json::from_value::<Load>(json).expect("a load"), load);
        }
    }
}
