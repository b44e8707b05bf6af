//! The limit of a run, as `report.json` has it: shares of the time, and the name of the one that
//! was used nearly all of it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::live::{Limit, LineLoad, Load};

/// The fields of `limit`.
#[derive(Serialize, Deserialize)]
struct Shares {
    /// The name of the limit, or `other`.
    #[serde(skip_deserializing)]
    by: &'static str,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    processor: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<f64>,
    #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
    sending: Option<f64>,
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    hearing: Option<f64>,
}

impl Serialize for Load {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { processor, waits, line } = *self;
        let by = match self.limit() {
            Some(Limit::Processor) => "processor",
            Some(Limit::Sending) => "out",
            Some(Limit::Hearing) => "in",
            None => "other",
        };
        let sending = line.map(|line| line.sending);
        let hearing = line.map(|line| line.hearing);
        Shares { by, processor, waits, sending, hearing }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Shares { processor, waits, sending, hearing, .. } = Shares::deserialize(from)?;
        let line = sending.zip(hearing).map(|(sending, hearing)| LineLoad { sending, hearing });
        Ok(Self { processor, waits, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_was_used_up_is_named_and_all_are_read_back() {
        let line = |sending, hearing| Some(LineLoad { sending, hearing });
        let cases = [
            ("processor", Some(0.9375), None, line(0.25, 0.375)),
            ("out", Some(0.5), Some(0.5), line(0.9375, 0.375)),
            ("in", Some(0.5), None, line(0.75, 0.9375)),
            ("other", Some(0.5), None, line(0.75, 0.875)),
            ("other", None, None, line(0.125, 0.25)),
            ("processor", None, Some(0.03125), None),
            ("other", None, Some(0.5), None),
        ];
        for (by, processor, waits, line) in cases {
            let load = Load { processor, waits, line };
            let json = serde_json::to_value(load).expect("JSON");
            assert_eq!(json["by"], by);
            let share = |name: &str| json.get(name).and_then(serde_json::Value::as_f64);
            let both = line.map(|line| (line.sending, line.hearing));
            assert_eq!((share("processor"), share("waits")), (processor, waits), "{json}");
            assert_eq!(share("out").zip(share("in")), both, "{json}");
            assert_eq!(serde_json::from_value::<Load>(json).expect("a load"), load);
        }
    }
}
