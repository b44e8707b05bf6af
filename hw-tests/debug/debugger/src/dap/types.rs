//! The messages of the Debug Adapter Protocol (1.65) that the adapter uses.
//!
//! Fields have the protocol's names, through serde, and its units and meanings
//! (microsoft.github.io/debug-adapter-protocol).

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Request {
    pub(super) seq: i64,
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

impl Request {
    pub(super) fn arguments<T: DeserializeOwned>(&self) -> Result<T, String> {
        let given = Some(self.arguments.clone()).filter(|given| !given.is_null());
        serde_json::from_value(given.unwrap_or_else(|| serde_json::json!({})))
            .map_err(|error| format!("invalid arguments of {}: {error}", self.command))
    }
}

/// The features of the adapter, which are named `supports...`; others are not supported.
pub(super) const CAPABILITIES: &str = "
    BreakpointLocationsRequest CompletionsRequest ConditionalBreakpoints ConfigurationDoneRequest
    DataBreakpointBytes DataBreakpoints DelayedStackTraceLoading DisassembleRequest
    EvaluateForHovers ExceptionInfoRequest FunctionBreakpoints GotoTargetsRequest
    HitConditionalBreakpoints InstructionBreakpoints LoadedSourcesRequest LogPoints
    ReadMemoryRequest RestartRequest SetExpression SetVariable StepBack SteppingGranularity
    TerminateRequest WriteMemoryRequest";

/// The arguments of all requests but `launch` and `restart`; each request has some of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Arguments {
    pub(super) as_address: bool,
    pub(super) breakpoints: Vec<RequestedBreakpoint>,
    pub(super) bytes: Option<u32>,
    pub(super) column: usize,
    pub(super) columns_start_at1: Option<bool>,
    pub(super) context: Option<String>,
    pub(super) count: usize,
    pub(super) data: String,
    pub(super) end_line: Option<u32>,
    pub(super) expression: String,
    pub(super) granularity: Option<String>,
    pub(super) instruction_count: usize,
    pub(super) instruction_offset: i64,
    pub(super) levels: usize,
    pub(super) line: u32,
    pub(super) lines_start_at1: Option<bool>,
    pub(super) memory_reference: String,
    pub(super) name: String,
    pub(super) offset: i64,
    pub(super) path_format: Option<String>,
    pub(super) source: Source,
    pub(super) source_reference: Option<u64>,
    pub(super) start: usize,
    pub(super) start_frame: usize,
    /// The address of a target of `goto`.
    pub(super) target_id: Option<u16>,
    pub(super) text: String,
    pub(super) value: String,
    pub(super) variables_reference: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Source {
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) source_reference: Option<u64>,
}

/// A requested breakpoint; which field has its location depends on the request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestedBreakpoint {
    pub(super) line: u32,
    pub(super) name: String,
    pub(super) instruction_reference: String,
    pub(super) offset: i64,
    pub(super) data_id: String,
    pub(super) access_type: Option<String>,
    pub(super) condition: String,
    pub(super) hit_condition: String,
    pub(super) log_message: String,
}
