//! Exports profiles in speedscope's file format (speedscope.app): a sample for each chain of calls,
//! weighted by its own T-states.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::profiling::profile::qualified_name;
use crate::profiling::step_counter::StepCounter;
use firmware::code_map::CodeMap;

/// Returns the profile in speedscope's JSON format.
pub fn to_speedscope(meter: &StepCounter, code: &CodeMap, name: &str) -> Value {
    let mut collector = Collector::new(meter, code);
    collector.add(0, &mut Vec::new());
    let Collector { frames, samples, weights, .. } = collector;
    let all: u64 = weights.iter().sum();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": concat!("hw-tests ", env!("CARGO_PKG_VERSION")),
        "name": name,
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled", "name": "T-states", "unit": "none",
            "startValue": 0, "endValue": all, "samples": samples, "weights": weights
        }]
    })
}

struct Collector<'a> {
    meter: &'a StepCounter,
    code: &'a CodeMap,
    frames: Vec<Value>,
    /// The index of each routine's frame.
    known: HashMap<u16, usize>,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

impl<'a> Collector<'a> {
    fn new(meter: &'a StepCounter, code: &'a CodeMap) -> Self {
        Self {
            meter,
            code,
            frames: Vec::new(),
            known: HashMap::new(),
            samples: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Adds a node and its callees; `chain` has the frames of its callers.
    fn add(&mut self, number: usize, chain: &mut Vec<usize>) {
        let node = self.meter.calls().node(number);
        if number != 0 {
            chain.push(self.frame(node.routine));
        }
        if node.own > 0 {
            self.samples.push(chain.clone());
            self.weights.push(node.own);
        }
        for callee in &node.callees {
            self.add(*callee, chain);
        }
        if number != 0 {
            chain.pop();
        }
    }

    fn frame(&mut self, routine: u16) -> usize {
        if let Some(known) = self.known.get(&routine) {
            return *known;
        }
        let mut frame = json!({ "name": qualified_name(self.code, routine) });
        if let Some(line) = self.code.line_at(routine) {
            frame["file"] = (*line.place.file).into();
            frame["line"] = line.place.line.into();
        }
        self.frames.push(frame);
        self.known.insert(routine, self.frames.len() - 1);
        self.frames.len() - 1
    }
}
