//! AlwaysAdmit: lets everything pass. Off unless asked for; it is here because people's
//! lists of plugins name it.

use crate::admission::{AdmissionRequest, Plugin};

pub(crate) struct AlwaysAdmit;

impl Plugin for AlwaysAdmit {
    fn name(&self) -> &'static str {
        "AlwaysAdmit"
    }

    fn handles(&self, _: &AdmissionRequest<'_>) -> bool {
        false
    }
}
