//! The operations above all resources: discovery of groups and versions, the server's
//! version, the documents of OpenID. Version 2 has them beside the others; version 3 has a
//! document for each.

use super::definitions::{Definitions, Dialect};
use super::operation::{Body, Operation, render_path};
use super::paths::{MEDIA, group_id, group_tag};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// `/api/`: the versions of the group without a name.
    Core,
    /// `/apis/`: the groups.
    Groups,
    /// `/apis/apps/`.
    Group(String),
    /// `/version/`.
    Version,
    /// `/.well-known/openid-configuration/`.
    OpenIdConfiguration,
    /// `/openid/v1/jwks/`.
    OpenIdKeys,
}

impl Root {
    /// All of them, for a server of these named groups.
    pub fn all(groups: impl IntoIterator<Item = String>) -> impl Iterator<Item = Self> {
        let fixed = [Self::Core, Self::Groups, Self::Version, Self::OpenIdConfiguration, Self::OpenIdKeys];
        fixed.into_iter().chain(groups.into_iter().map(Self::Group))
    }

    /// Where the document of version 3 is, below `/openapi/v3/`, and the path it tells of.
    pub fn document(&self) -> String {
        match self {
            Self::Core => "api".into(),
            Self::Groups => "apis".into(),
            Self::Group(group) => format!("apis/{group}"),
            Self::Version => "version".into(),
            Self::OpenIdConfiguration => ".well-known/openid-configuration".into(),
            Self::OpenIdKeys => "openid/v1/jwks".into(),
        }
    }

    pub(super) fn render(&self, definitions: &mut Definitions, paths: &mut Map<String, Value>) {
        let text = json!({"type": "string"});
        let of_core = MEDIA.to_vec();
        let json_only = vec!["application/json"];
        let (id, tag, description, consumes, produces, given) = match self {
            Self::Core => {
                let given = definitions.meta("APIVersions");
                (
                    "getCoreAPIVersions".into(),
                    "core".into(),
                    "get available API versions",
                    of_core.clone(),
                    of_core,
                    given,
                )
            }
            Self::Groups => {
                let given = definitions.meta("APIGroupList");
                ("getAPIVersions".into(), "apis".into(), "get available API versions", of_core.clone(), of_core, given)
            }
            Self::Group(group) => {
                let given = definitions.meta("APIGroup");
                let id = format!("get{}APIGroup", group_id(group));
                (id, group_tag(group), "get information of a group", of_core.clone(), of_core, given)
            }
            Self::Version => {
                let given =
                    definitions.plain("io.k8s.apimachinery.pkg.version.Info", version_info(definitions.dialect));
                let description = "get the version of the server";
                ("getCodeVersion".into(), "version".into(), description, json_only.clone(), json_only, given)
            }
            Self::OpenIdConfiguration => {
                let id = "getServiceAccountIssuerOpenIDConfiguration".into();
                let description = "get the OpenID configuration of the issuer of service account tokens";
                (id, "WellKnown".into(), description, Vec::new(), json_only, text)
            }
            Self::OpenIdKeys => {
                let id = "getServiceAccountIssuerOpenIDKeyset".into();
                let description = "get the keys that prove service account tokens";
                (id, "openid".into(), description, Vec::new(), vec!["application/jwk-set+json"], text)
            }
        };
        let operation = Operation {
            id,
            description: description.to_owned(),
            tag,
            action: None,
            parameters: Vec::new(),
            body: Body::None,
            consumes,
            produces,
            responses: vec![("200", given)],
        };
        paths.insert(format!("/{}/", self.document()), render_path(vec![("get", operation)], definitions.dialect));
    }
}

/// What `/version` gives; no API type, so the facts do not have it.
fn version_info(dialect: Dialect) -> Value {
    let always =
        ["major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"];
    let sometimes = ["emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"];
    let field = match dialect {
        Dialect::V2 => json!({"type": "string"}),
        Dialect::V3 => json!({"type": "string", "default": ""}),
    };
    let mut properties: Map<String, Value> = always.map(|name| (name.to_owned(), field.clone())).into_iter().collect();
    properties.extend(sometimes.map(|name| (name.to_owned(), json!({"type": "string"}))));
    json!({"type": "object", "required": always, "properties": properties})
}
