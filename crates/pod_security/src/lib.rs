//! The Pod Security Standards (k8s.io/pod-security-admission upstream): which level and version a
//! namespace asks for, and how a pod violates them. Pure; the admission plugin PodSecurity of the
//! API server calls it (`apiserver/admission/plugins/pods/pod_security/`).
//!
//! ```text
//! policy.rs    labels and defaults -> level and version a mode
//! evaluate.rs  level, version, pod -> violations, by the table of checks/
//! ```

#![warn(unreachable_pub)]

mod checks;
pub mod evaluate;
pub mod policy;
