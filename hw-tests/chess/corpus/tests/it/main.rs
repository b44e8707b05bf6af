//! Tests of the corpus.

mod article;
mod attacks;
mod corpus_properties;
mod differences;
