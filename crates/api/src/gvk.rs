//! Group, version, kind and resource names, and how they are written.

use std::borrow::Cow;
use std::fmt;

type Name = Cow<'static, str>;

/// `apps/v1`, or `v1` for the core group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersion {
    pub group: Name,
    pub version: Name,
}

impl GroupVersion {
    pub fn new(group: impl Into<Name>, version: impl Into<Name>) -> Self {
        Self { group: group.into(), version: version.into() }
    }

    /// Splits an `apiVersion`. The core group has no slash.
    pub fn parse(api_version: &str) -> Self {
        match api_version.split_once('/') {
            Some((group, version)) => Self::new(group.to_owned(), version.to_owned()),
            None => Self::new("", api_version.to_owned()),
        }
    }

    pub fn with_kind(&self, kind: impl Into<Name>) -> GroupVersionKind {
        GroupVersionKind { group: self.group.clone(), version: self.version.clone(), kind: kind.into() }
    }

    pub fn with_resource(&self, resource: impl Into<Name>) -> GroupVersionResource {
        GroupVersionResource { group: self.group.clone(), version: self.version.clone(), resource: resource.into() }
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() { f.write_str(&self.version) } else { write!(f, "{}/{}", self.group, self.version) }
    }
}

/// Which type an object is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    pub group: Name,
    pub version: Name,
    pub kind: Name,
}

impl GroupVersionKind {
    pub fn new(group: impl Into<Name>, version: impl Into<Name>, kind: impl Into<Name>) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    pub fn group_version(&self) -> GroupVersion {
        GroupVersion { group: self.group.clone(), version: self.version.clone() }
    }

    /// `apps/v1` or `v1`.
    pub fn api_version(&self) -> String {
        self.group_version().to_string()
    }
}

impl fmt::Display for GroupVersionKind {
    /// Upstream's form in error texts: `apps/v1, Kind=Deployment`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.group_version(), self.kind)
    }
}

/// Which collection a URL names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    pub group: Name,
    pub version: Name,
    pub resource: Name,
}

impl GroupVersionResource {
    pub fn new(group: impl Into<Name>, version: impl Into<Name>, resource: impl Into<Name>) -> Self {
        Self { group: group.into(), version: version.into(), resource: resource.into() }
    }

    pub fn group_version(&self) -> GroupVersion {
        GroupVersion { group: self.group.clone(), version: self.version.clone() }
    }

    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group.clone(), resource: self.resource.clone() }
    }
}

/// A resource whatever its version; what error texts and RBAC speak of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupResource {
    pub group: Name,
    pub resource: Name,
}

impl GroupResource {
    pub fn new(group: impl Into<Name>, resource: impl Into<Name>) -> Self {
        Self { group: group.into(), resource: resource.into() }
    }
}

impl fmt::Display for GroupResource {
    /// `deployments.apps`, or `pods` for the core group.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() { f.write_str(&self.resource) } else { write!(f, "{}.{}", self.resource, self.group) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_as_upstream_prints_them() {
        assert_eq!(GroupVersion::parse("apps/v1"), GroupVersion::new("apps", "v1"));
        assert_eq!(GroupVersion::parse("v1").to_string(), "v1");
        assert_eq!(GroupVersionKind::new("apps", "v1", "Deployment").to_string(), "apps/v1, Kind=Deployment");
        assert_eq!(GroupVersionKind::new("", "v1", "Pod").to_string(), "v1, Kind=Pod");
        assert_eq!(GroupResource::new("apps", "deployments").to_string(), "deployments.apps");
        assert_eq!(GroupResource::new("", "pods").to_string(), "pods");
    }
}
