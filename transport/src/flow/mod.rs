//! The engine that numbers, acknowledges, paces and recovers packets without touching their bytes.
