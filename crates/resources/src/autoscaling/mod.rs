//! The kinds of the group `autoscaling`. Its one kind is stored as v2; v1 says less and
//! carries the rest in annotations.

mod convert;
mod horizontal_pod_autoscaler;
mod horizontal_pod_autoscaler_v1;
mod metrics;

pub(crate) use horizontal_pod_autoscaler::HorizontalPodAutoscaler;
pub(crate) use horizontal_pod_autoscaler_v1::HorizontalPodAutoscalerV1;
