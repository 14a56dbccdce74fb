//! Links, written once for simulator and emulator: how fast they serve, and what they do to packets on the way.
