//! Tests of the corpus.

mod attacks;
mod corpus_properties;
mod differences;
