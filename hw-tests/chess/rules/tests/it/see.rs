//! Static exchange evaluation against other programs and documents.

mod documents;
mod forms;
mod truth;
mod tutorial;
