//! The node's settings for pressure and for its end, in the names, texts and defaults of
//! kubelet.config.k8s.io/v1beta1, with upstream's validation messages. The reader of the
//! configuration file passes the values on as they stand there; the kubelet validates them and
//! reads the amounts out of them when it starts.
//!
//! Upstream: pkg/kubelet/apis/config/validation/validation.go, pkg/kubelet/eviction/helpers.go.

mod eviction;
mod image_gc;
mod log_rotation;
mod shutdown;

pub use eviction::EvictionSettings;
pub use image_gc::ImageGcSettings;
pub use log_rotation::LogRotationSettings;
pub use shutdown::{PriorityGracePeriod, ShutdownSettings};

use ferry_api::rules::duration::{GoDuration, format_duration};

/// A duration as Go prints it.
fn text(duration: GoDuration) -> String {
    format_duration(duration.0)
}
