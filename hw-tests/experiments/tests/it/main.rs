//! Tests of the searcher, of matches and of their statistics, by values from outside this project.

mod games;
mod search;
mod statistics;
