//! Generated from the facts; see view/generate.rs.
pub mod admissionregistration {
    pub mod v1;
}
pub mod apiextensions {
    pub mod v1;
}
pub mod apiregistration {
    pub mod v1;
}
pub mod apps {
    pub mod v1;
}
pub mod authentication {
    pub mod v1;
}
pub mod authorization {
    pub mod v1;
}
pub mod autoscaling {
    pub mod v1;
    pub mod v2;
}
pub mod batch {
    pub mod v1;
}
pub mod certificates {
    pub mod v1;
}
pub mod coordination {
    pub mod v1;
}
pub mod core {
    pub mod v1;
}
pub mod discovery {
    pub mod v1;
}
pub mod events {
    pub mod v1;
}
pub mod flowcontrol {
    pub mod v1;
}
pub mod meta {
    pub mod v1;
}
pub mod metrics {
    pub mod v1beta1;
}
pub mod networking {
    pub mod v1;
}
pub mod node {
    pub mod v1;
}
pub mod policy {
    pub mod v1;
}
pub mod rbac {
    pub mod v1;
}
pub mod resource {
    pub mod v1;
}
pub mod scheduling {
    pub mod v1;
}
pub mod storage {
    pub mod v1;
}
