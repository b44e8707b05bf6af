//! The requests and bodies of the Debug Adapter Protocol (1.65) that the adapter uses.
//!
//! Fields have the protocol's names, through serde, and its units and meanings
//! (microsoft.github.io/debug-adapter-protocol).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Request {
    pub(super) seq: i64,
    pub(super) command: String,
    #[serde(default)]
    arguments: Value,
}

impl Request {
    pub(super) fn arguments<T: DeserializeOwned>(&self) -> Result<T, String> {
        let given = self.arguments.clone();
        let given = if given.is_null() { Value::Object(serde_json::Map::new()) } else { given };
        serde_json::from_value(given)
            .map_err(|error| format!("invalid arguments of {}: {error}", self.command))
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Message<'a> {
    Response {
        seq: u64,
        request_seq: i64,
        command: &'a str,
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(skip_serializing_if = "Value::is_null")]
        body: Value,
    },
    Event {
        seq: u64,
        event: &'a str,
        #[serde(skip_serializing_if = "Value::is_null")]
        body: Value,
    },
}

/// The features of the adapter; others are not supported.
pub(super) const CAPABILITIES: [&str; 24] = [
    "supportsConfigurationDoneRequest",
    "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints",
    "supportsFunctionBreakpoints",
    "supportsLogPoints",
    "supportsInstructionBreakpoints",
    "supportsDataBreakpoints",
    "supportsDataBreakpointBytes",
    "supportsStepBack",
    "supportsSteppingGranularity",
    "supportsReadMemoryRequest",
    "supportsWriteMemoryRequest",
    "supportsDisassembleRequest",
    "supportsEvaluateForHovers",
    "supportsSetVariable",
    "supportsSetExpression",
    "supportsCompletionsRequest",
    "supportsLoadedSourcesRequest",
    "supportsGotoTargetsRequest",
    "supportsTerminateRequest",
    "supportsRestartRequest",
    "supportsExceptionInfoRequest",
    "supportsDelayedStackTraceLoading",
    "supportsBreakpointLocationsRequest",
];

/// Arguments of `initialize` that the adapter supports with one value only.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientFormat {
    lines_start_at1: Option<bool>,
    columns_start_at1: Option<bool>,
    path_format: Option<String>,
}

impl ClientFormat {
    /// Checks that the client counts from 1 and uses paths.
    pub(super) fn check(&self) -> Result<(), String> {
        let counts =
            [("linesStartAt1", self.lines_start_at1), ("columnsStartAt1", self.columns_start_at1)];
        for (name, given) in counts {
            if given == Some(false) {
                return Err(format!("{name} is false, but this adapter counts from 1"));
            }
        }
        match self.path_format.as_deref() {
            None | Some("path") => Ok(()),
            Some(_) => Err("pathFormat must be \"path\"".to_owned()),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct SetExpressionArguments {
    pub(super) expression: String,
    pub(super) value: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct CompletionsArguments {
    pub(super) text: String,
    /// The position of the cursor, from 1, in UTF-16 code units.
    pub(super) column: usize,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct GotoTargetsArguments {
    #[serde(default)]
    pub(super) source: Source,
    pub(super) line: u32,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GotoArguments {
    /// The address of the target.
    pub(super) target_id: u16,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Source {
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) source_reference: Option<u64>,
}

/// A requested breakpoint; which field has its location depends on the request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestedBreakpoint {
    pub(super) line: Option<u32>,
    pub(super) name: Option<String>,
    pub(super) instruction_reference: Option<String>,
    #[serde(default)]
    pub(super) offset: i64,
    pub(super) data_id: Option<String>,
    pub(super) access_type: Option<String>,
    pub(super) condition: Option<String>,
    pub(super) hit_condition: Option<String>,
    pub(super) log_message: Option<String>,
}

/// Arguments of the `set...Breakpoints` requests, each of which replaces those of its kind.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct SetBreakpointsArguments {
    #[serde(default)]
    pub(super) source: Source,
    #[serde(default)]
    pub(super) breakpoints: Vec<RequestedBreakpoint>,
}

/// The result of setting a breakpoint.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BreakpointStatus {
    pub(super) id: Option<u32>,
    pub(super) verified: bool,
    pub(super) reason: Option<&'static str>,
    pub(super) message: Option<String>,
    pub(super) source: Option<Source>,
    pub(super) line: Option<u32>,
    pub(super) instruction_reference: Option<String>,
}

impl BreakpointStatus {
    pub(super) fn refused(message: String) -> Self {
        Self { message: Some(message), reason: Some("failed"), ..Self::default() }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BreakpointLocationsArguments {
    #[serde(default)]
    pub(super) source: Source,
    pub(super) line: u32,
    pub(super) end_line: Option<u32>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataBreakpointInfoArguments {
    pub(super) variables_reference: Option<u64>,
    pub(super) name: String,
    #[serde(default)]
    pub(super) as_address: bool,
    pub(super) bytes: Option<u32>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTraceArguments {
    #[serde(default)]
    pub(super) start_frame: usize,
    #[serde(default)]
    pub(super) levels: usize,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VariablesArguments {
    pub(super) variables_reference: u64,
    #[serde(default)]
    pub(super) start: usize,
    #[serde(default)]
    pub(super) count: usize,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) evaluate_name: Option<String>,
    pub(super) memory_reference: Option<String>,
    pub(super) presentation_hint: Option<PresentationHint>,
    pub(super) variables_reference: u64,
}

/// The attributes of a variable, such as `readOnly`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PresentationHint {
    pub(super) attributes: Vec<&'static str>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetVariableArguments {
    pub(super) variables_reference: u64,
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct EvaluateArguments {
    pub(super) expression: String,
    pub(super) context: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceArguments {
    #[serde(default)]
    pub(super) source: Source,
    pub(super) source_reference: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DisassembleArguments {
    pub(super) memory_reference: String,
    #[serde(default)]
    pub(super) offset: i64,
    #[serde(default)]
    pub(super) instruction_offset: i64,
    pub(super) instruction_count: usize,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DisassembledInstruction {
    pub(super) address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) instruction_bytes: String,
    pub(super) instruction: String,
    pub(super) symbol: Option<String>,
    pub(super) location: Option<Source>,
    pub(super) line: Option<u32>,
    pub(super) presentation_hint: Option<&'static str>,
}

impl DisassembledInstruction {
    /// An entry in place of an instruction that lies outside memory.
    pub(super) fn filler() -> Self {
        // VS Code skips instructions at address -1; the protocol does not define one.
        let address = "-1".to_owned();
        let presentation_hint = Some("invalid");
        Self { address, presentation_hint, ..Self::default() }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MemoryArguments {
    pub(super) memory_reference: String,
    #[serde(default)]
    pub(super) offset: i64,
    #[serde(default)]
    pub(super) count: usize,
    #[serde(default)]
    pub(super) data: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct StepArguments {
    #[serde(default)]
    pub(super) granularity: String,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackFrame {
    pub(super) id: usize,
    pub(super) name: String,
    pub(super) source: Option<Source>,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) instruction_pointer_reference: String,
    pub(super) presentation_hint: Option<&'static str>,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoppedBody {
    pub(super) reason: &'static str,
    pub(super) thread_id: u64,
    pub(super) all_threads_stopped: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) hit_breakpoint_ids: Vec<u32>,
}
