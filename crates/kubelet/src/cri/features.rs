//! The features that the runtime reports of itself and of its handlers. Pods whose fields need one
//! are judged by them (`unsupported`), and the node's status shows them. A runtime from before the
//! report has none (containerd reports handlers since 2.0).

use super::v1;
use ferry_api::view::core::v1::{NodeFeatures, NodeRuntimeHandler, NodeRuntimeHandlerFeatures};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuntimeFeatures {
    /// By name; the empty one is the default handler.
    pub handlers: BTreeMap<String, HandlerFeatures>,
    /// Whether Strict keeps the groups of the image out; `None` where the runtime reports nothing.
    pub supplemental_groups_policy: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HandlerFeatures {
    pub recursive_read_only: bool,
    pub user_namespaces: bool,
}

impl RuntimeFeatures {
    pub fn of(status: &v1::StatusResponse) -> Self {
        let handlers = status.runtime_handlers.iter().map(|handler| {
            let features = handler.features.unwrap_or_default();
            let own = HandlerFeatures {
                recursive_read_only: features.recursive_read_only_mounts,
                user_namespaces: features.user_namespaces,
            };
            (handler.name.clone(), own)
        });
        Self {
            handlers: handlers.collect(),
            supplemental_groups_policy: status.features.as_ref().map(|own| own.supplemental_groups_policy),
        }
    }

    pub fn handler(&self, name: &str) -> HandlerFeatures {
        self.handlers.get(name).copied().unwrap_or_default()
    }

    /// Node.status.runtimeHandlers.
    pub fn render_handlers(&self) -> Vec<NodeRuntimeHandler> {
        let render = |(name, own): (&String, &HandlerFeatures)| {
            let features = NodeRuntimeHandlerFeatures::new()
                .with_recursive_read_only_mounts(own.recursive_read_only)
                .with_user_namespaces(own.user_namespaces);
            NodeRuntimeHandler::new().with_name(name).with_features(features)
        };
        self.handlers.iter().map(render).collect()
    }

    /// Node.status.features; absent where the runtime reports none.
    pub fn render_features(&self) -> Option<NodeFeatures> {
        self.supplemental_groups_policy.map(|has| NodeFeatures::new().with_supplemental_groups_policy(has))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_those_that_the_runtime_reports() {
        assert_eq!(RuntimeFeatures::of(&v1::StatusResponse::default()), RuntimeFeatures::default());
        let handler = v1::RuntimeHandler {
            name: "runc".into(),
            features: Some(v1::RuntimeHandlerFeatures { user_namespaces: true, ..Default::default() }),
        };
        let status = v1::StatusResponse {
            runtime_handlers: vec![handler],
            features: Some(v1::RuntimeFeatures { supplemental_groups_policy: true }),
            ..Default::default()
        };
        let features = RuntimeFeatures::of(&status);
        assert!(features.handler("runc").user_namespaces && !features.handler("runc").recursive_read_only);
        assert!(!features.handler("other").user_namespaces);
        assert_eq!(features.supplemental_groups_policy, Some(true));
    }
}
