//! Coded flows: block laws by hand, at random, and before hostile peers.

mod hostile;
mod link;
mod property;
mod receiver;
mod sender;
