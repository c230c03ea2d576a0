//! The objects of the Kubernetes libraries: values that only their own functions look into.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ferry_api::quantity::Quantity;

use crate::error::{EvalError, Evaluated};
use crate::library::authorizer::{Authorizer, Decision, GroupCheck, PathCheck, ResourceCheck};
use crate::library::format::NamedFormat;
use crate::library::semver::Version;
use crate::library::url::Url;

#[derive(Clone, Debug)]
pub enum Opaque<'v> {
    Quantity(Arc<Quantity>),
    Url(Arc<Url>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Semver(Arc<Version>),
    Format(&'static NamedFormat),
    Authorizer(Arc<Authorizer<'v>>),
    PathCheck(Arc<PathCheck<'v>>),
    GroupCheck(Arc<GroupCheck<'v>>),
    ResourceCheck(Arc<ResourceCheck<'v>>),
    Decision(Arc<Decision>),
}

impl Opaque<'_> {
    pub fn type_name(&self) -> &'static str {
        match self {
            Opaque::Quantity(_) => "kubernetes.Quantity",
            Opaque::Url(_) => "kubernetes.URL",
            Opaque::Ip(_) => "net.IP",
            Opaque::Cidr(..) => "net.CIDR",
            Opaque::Semver(_) => "kubernetes.Semver",
            Opaque::Format(_) => "kubernetes.NamedFormat",
            Opaque::Authorizer(_) => "kubernetes.authorization.Authorizer",
            Opaque::PathCheck(_) => "kubernetes.authorization.PathCheck",
            Opaque::GroupCheck(_) => "kubernetes.authorization.GroupCheck",
            Opaque::ResourceCheck(_) => "kubernetes.authorization.ResourceCheck",
            Opaque::Decision(_) => "kubernetes.authorization.Decision",
        }
    }

    pub(crate) fn equal(&self, other: &Self) -> Evaluated<bool> {
        match (self, other) {
            (Opaque::Quantity(a), Opaque::Quantity(b)) => Ok(a == b),
            (Opaque::Url(a), Opaque::Url(b)) => Ok(a.to_string() == b.to_string()),
            (Opaque::Ip(a), Opaque::Ip(b)) => Ok(a == b),
            (Opaque::Cidr(a, ab), Opaque::Cidr(b, bb)) => Ok(a == b && ab == bb),
            (Opaque::Semver(a), Opaque::Semver(b)) => Ok(a.cmp(b).is_eq()),
            (Opaque::Format(a), Opaque::Format(b)) => Ok(a.name == b.name),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    /// The bytes of an address or of a network's prefix, which their costs count.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Opaque::Ip(address) => Some(if address.is_ipv4() { 4 } else { 16 }),
            Opaque::Cidr(_, bits) => Some(u64::from(*bits).div_ceil(8)),
            _ => None,
        }
    }
}

impl fmt::Display for Opaque<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Opaque::Quantity(quantity) => quantity.fmt(f),
            Opaque::Url(url) => url.fmt(f),
            Opaque::Ip(address) => address.fmt(f),
            Opaque::Cidr(address, bits) => write!(f, "{address}/{bits}"),
            Opaque::Semver(version) => version.fmt(f),
            other => f.write_str(other.type_name()),
        }
    }
}
