//! The kinds of the group `scheduling.k8s.io`.

pub mod priority_class;
