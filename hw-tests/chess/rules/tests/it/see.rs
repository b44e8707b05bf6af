//! Static exchange evaluation against other programs and documents.

mod documents;
mod truth;
mod tutorial;
