//! The kinds of the group `events.k8s.io`.

pub(crate) mod event;
