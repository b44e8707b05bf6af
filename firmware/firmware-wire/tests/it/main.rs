//! Tests of the published interface.

mod decoders;
mod messages;
mod replies;
mod requests;
