//! In-band network telemetry: what each hop wrote into a packet, as HPCC and PowerTCP read it.

use crate::units::{Rate, Timestamp};

/// The state of one egress port when a packet left it (HPCC, SIGCOMM'19, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntHop {
    /// Identity of the port, so that a changed route is noticed.
    pub port: u32,
    /// The hop's clock when the packet's last bit left.
    pub at: Timestamp,
    /// Bytes the port has sent since it came up, this packet included.
    pub tx_bytes: u64,
    /// Bytes queued behind the packet.
    pub queue_bytes: u64,
    /// The port's rate.
    pub rate: Rate,
}
