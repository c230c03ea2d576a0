//! The kinds of the group `flowcontrol.apiserver.k8s.io`.

pub mod defaults;
pub mod flow_schema;
pub mod priority_level_configuration;
