//! [`Utilization`] as the field `limit` of `report.json`: shares of the time, and the bottleneck.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Bottleneck, LineUtilization, Utilization};

#[derive(Serialize, Deserialize)]
struct UtilizationFields {
    /// Name of the bottleneck, or `other`.
    #[serde(skip_deserializing)]
    by: &'static str,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    processor: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<f64>,
    #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
    tx: Option<f64>,
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    rx: Option<f64>,
}

impl Serialize for Utilization {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { processor, waits, line } = *self;
        let by = match self.bottleneck() {
            Some(Bottleneck::Processor) => "processor",
            Some(Bottleneck::LineTx) => "out",
            Some(Bottleneck::LineRx) => "in",
            None => "other",
        };
        let tx = line.map(|line| line.tx);
        let rx = line.map(|line| line.rx);
        UtilizationFields { by, processor, waits, tx, rx }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Utilization {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let UtilizationFields { processor, waits, tx, rx, .. } =
            UtilizationFields::deserialize(from)?;
        let line = tx.zip(rx).map(|(tx, rx)| LineUtilization { tx, rx });
        Ok(Self { processor, waits, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottleneck_is_named_and_all_fields_are_read_back() {
        let line = |tx, rx| Some(LineUtilization { tx, rx });
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
            let utilization = Utilization { processor, waits, line };
            let json = serde_json::to_value(utilization).expect("JSON");
            assert_eq!(json["by"], by);
            let share = |name: &str| json.get(name).and_then(serde_json::Value::as_f64);
            let both = line.map(|line| (line.tx, line.rx));
            assert_eq!((share("processor"), share("waits")), (processor, waits), "{json}");
            assert_eq!(share("out").zip(share("in")), both, "{json}");
            assert_eq!(
                serde_json::from_value::<Utilization>(json).expect("a utilization"),
                utilization
            );
        }
    }
}
