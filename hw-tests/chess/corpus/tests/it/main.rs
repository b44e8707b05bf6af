//! Tests of the corpus.

mod article;
mod attacks;
mod capturers;
mod corpus_properties;
mod differences;
mod fetches;
