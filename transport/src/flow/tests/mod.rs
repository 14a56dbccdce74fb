//! Tests of sender and receiver together, over a channel of fixed delay.

mod channel;
mod coding;
mod notices;
mod property;
mod recovery;
mod sending;
mod spraying;
