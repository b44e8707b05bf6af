//! Tests of notation and exchange evaluation.

mod notation;
mod see;
