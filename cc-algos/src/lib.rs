//! cc_algos
