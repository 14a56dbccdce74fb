//! Controllers in closed loop: the behaviour that their papers are known for.

mod bbr;
mod bbr3;
mod delay;
