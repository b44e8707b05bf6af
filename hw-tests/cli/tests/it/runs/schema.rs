//! Validates real reports against docs/report.schema.json: all fields are described, and all
//! required ones are present.

use std::collections::BTreeSet;
use std::path::Path;

use hil_harness::report::SCHEMA_VERSION;
use serde_json::Value;

use super::hw_tests;
use super::reports::WrittenReport;

pub(crate) fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Validates reports against the schema. Supports only the keywords that the schema uses.
pub(crate) struct Checker {
    schema: Value,
    /// The properties found, as KIND.NAME.
    found: BTreeSet<String>,
}

impl Checker {
    pub(crate) fn new(schema: Value) -> Self {
        Self { schema, found: BTreeSet::new() }
    }

    /// Returns the properties that are described, but were not found, as KIND.NAME.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let kinds = self.schema["$defs"].as_object().into_iter().flatten();
        let fields = kinds.flat_map(|(kind, rule)| {
            let names = rule["properties"].as_object().into_iter().flat_map(|all| all.keys());
            names.map(move |name| format!("{kind}.{name}"))
        });
        fields.filter(|field| !self.found.contains(field)).collect()
    }

    /// Checks a value; returns a description of the violation.
    pub(crate) fn check(&mut self, rule: &Value, value: &Value, at: &str) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{at}: {what}: {value} against {rule}"));
        for (word, operand) in self.with_base(rule).as_object().expect("a rule") {
            match word.as_str() {
                "$ref" => {
                    let kind = operand.as_str().and_then(|path| path.strip_prefix("#/$defs/"));
                    let kind = kind.expect("a definition");
                    let rule = self.schema["$defs"][kind].clone();
                    self.check(&rule, value, &format!("{at}|{kind}"))?;
                }
                "type" if !is_any_of(operand, value) => return wrong("the type"),
                "const" if operand != value => return wrong("the value"),
                "enum" if !operand.as_array().is_some_and(|all| all.contains(value)) => {
                    return wrong("the value");
                }
                "minimum" if value.as_f64() < operand.as_f64() => return wrong("too low"),
                "maximum" if value.as_f64() > operand.as_f64() => return wrong("too high"),
                "anyOf" => {
                    let mut rules = operand.as_array().expect("rules").clone().into_iter();
                    if !rules.any(|rule| self.check(&rule, value, at).is_ok()) {
                        return wrong("none of them");
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(operand, item, &format!("{at}[{index}]"))?;
                    }
                }
                "required" => {
                    let names = operand.as_array().expect("names").iter();
                    for name in names.filter_map(Value::as_str) {
                        if value.get(name).is_none() {
                            return wrong(&format!("{name} is missing"));
                        }
                    }
                }
                "properties" => self.properties(&self.with_base(rule), value, at)?,
                // Those that are forbidden are found by `properties`.
                "additionalProperties" if operand.is_boolean() => {}
                "additionalProperties" => {
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        if rule["properties"].get(name).is_none() {
                            self.check(operand, inner, &format!("{at}.{name}"))?;
                        }
                    }
                }
                "type" | "const" | "enum" | "minimum" | "maximum" | "description" => {}
                other => panic!("this checker does not know '{other}'"),
            }
        }
        Ok(())
    }

    /// Returns a rule that has properties besides those of the one it refers to, with all of them.
    fn with_base(&self, rule: &Value) -> Value {
        let mut all = rule.clone();
        let Some(path) = rule["properties"].as_object().and(rule["$ref"].as_str()) else {
            return all;
        };
        let base = &self.schema["$defs"][path.trim_start_matches("#/$defs/")];
        let own = rule["required"].as_array().into_iter().flatten();
        let required = base["required"].as_array().into_iter().flatten().chain(own);
        all["required"] = required.cloned().collect();
        for (name, inner) in base["properties"].as_object().into_iter().flatten() {
            all["properties"][name] = inner.clone();
        }
        if let Some(all) = all.as_object_mut() {
            all.remove("$ref");
        }
        all
    }

    fn properties(&mut self, rule: &Value, value: &Value, at: &str) -> Result<(), String> {
        let rules = &rule["properties"];
        let others_allowed = rule["additionalProperties"].is_object();
        let kind = at.rsplit(['|', '.']).next().unwrap_or_default().to_owned();
        for (name, inner) in value.as_object().into_iter().flatten() {
            let Some(rule) = rules.get(name) else {
                if others_allowed {
                    continue;
                }
                return Err(format!("{at}: {name} is not described"));
            };
            self.found.insert(format!("{kind}.{name}"));
            self.check(rule, inner, &format!("{at}.{name}"))?;
        }
        Ok(())
    }
}

fn is_any_of(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        other => panic!("'{other}' is no type"),
    };
    let several = || kinds.as_array().into_iter().flatten().filter_map(Value::as_str).any(is);
    kinds.as_str().map_or_else(several, is)
}

/// Fields that do not occur in these runs: for lost, differing or replaced boards, full disks, and
/// a seed with a shard.
const ELSEWHERE: [&str; 10] = [
    "summary.last_restart",
    "summary.unobserved",
    "board_verdict.reason",
    "ended.board-lost",
    "ended.file-failed",
    "fault.boards",
    "fault.unknown",
    "report.earlier_boards",
    "report.user_routines",
    "run.shard",
];

/// A test file with a wrong register, a limit that a board can't measure, a property that fails, and
/// a routine that writes to its code.
const TEST_FILE: &str = "sources = [\"twice.asm\"]
[[case]]
name = \"wrong\"
tags = [\"fast\"]
call = \"TWICE\"
in = { A = 2 }
expect = { A = 5 }
[[case]]
name = \"slow\"
call = \"TWICE\"
expect = { cycles = 1000 }
[[property]]
name = \"small\"
call = \"TWICE\"
args = { A = \"u8\" }
check = \"out.A == in.A\"
[[case]]
name = \"writes code\"
call = \"POKE\"
";

/// Returns the reports of the test file on a simulated machine and on two boards.
fn test_file_reports() -> Vec<String> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let source = "TWICE: ADD A\n RET\nPOKE: STA TWICE\n RET\n .INTERN TWICE,POKE\n .END\n";
    std::fs::write(path("twice.asm"), source).expect("a file");
    std::fs::write(path("twice.test.toml"), TEST_FILE).expect("a file");
    let run = |report: &str, boards: &[&str]| {
        let (file, report) = (path("twice.test.toml"), path(report));
        let output = hw_tests(&[&["test", &file, "--report-dir", &report], boards].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        std::fs::read_to_string(format!("{report}/report.json")).expect("it is written")
    };
    vec![run("simulated", &[]), run("boards", &["--rig", "direct", "--rig", "direct"])]
}

#[test]
fn real_reports_conform_to_the_schema() {
    let schema: Value = serde_json::from_str(&document("report.schema.json")).expect("JSON");
    let mut checker = Checker::new(schema);
    let cheap = WrittenReport::of_a_cheap_rook(&["--tag", "document"]);
    let baseline = cheap.path("report.json").to_string_lossy().into_owned();
    let runs = [
        WrittenReport::from_run(&[
            "--rig",
            "direct",
            "byte.*",
            "array.*",
            "--shuffle",
            "1",
            "--faults",
            "1",
        ]),
        WrittenReport::from_run(&["--rig", "direct", "byte.*", "--for", "1s"]),
        WrittenReport::of_a_cheap_rook(&["--tag", "document", "--baseline", &baseline]),
        WrittenReport::of_a_cheap_rook_on(&[&["--rig", "direct"][..]; 2].concat(), &["play.00*"]),
        WrittenReport::from_run(&["--port", "/dev/no-such-board", "--tag", "document"]),
    ];
    let root = serde_json::json!({ "$ref": "#/$defs/report" });
    let reports = runs.iter().map(|run| run.text("report.json")).chain(test_file_reports());
    for report in reports {
        let report = serde_json::from_str(&report).expect("JSON");
        checker.check(&root, &report, "").unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(report["schema"], SCHEMA_VERSION);
    }
    for field in checker.unseen() {
        let is_elsewhere = ELSEWHERE.contains(&field.as_str()) || field == "case.reason";
        assert!(is_elsewhere, "{field} is described, but in no report");
    }
}
