//! CPUs, memory and devices of a node: who has which, by rules that need no machine.
//!
//! Everything here is pure. The kubelet
//! (`ferry_kubelet::devices`) reads the machine, asks here at a pod's admission, keeps the checkpoints, and gives
//! containers what was assigned.

pub mod claims;
pub mod cpu;
mod cpu_set;
pub mod plugin;
pub mod topology;

pub use cpu_set::{CpuSet, CpuSetError};
