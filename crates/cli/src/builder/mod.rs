//! The objects that a command is about: `pods web`, `deploy/web svc/web`, `-f web.yaml`, `pods -l
//! app=web`. Every verb that takes resources asks here, so that the rules and the error
//! sentences are the same for all (cli-runtime/pkg/resource/builder.go).

pub(crate) mod files;

use crate::discovery::{Discovery, Resource};
use crate::error::{CliError, Result};
use crate::session::Session;
use ferry_client::Request;
use files::{FileFlags, SourcedObject};
use serde_json::Value;

/// A resource with the objects of it that are meant: by name, or all that the selectors leave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    pub resource: Resource,
    /// Empty: all namespaces, or a resource without any.
    pub namespace: String,
    pub name: Option<String>,
}

impl Target {
    pub(crate) fn url(&self) -> String {
        self.resource.path().url(&self.namespace, self.name.as_deref(), None)
    }

    pub(crate) fn subresource_url(&self, subresource: &str) -> String {
        self.resource.path().url(&self.namespace, self.name.as_deref(), Some(subresource))
    }

    /// `deployment.apps/web`
    pub(crate) fn printed_name(&self) -> String {
        format!("{}/{}", self.resource.singular_with_group(), self.name.as_deref().unwrap_or_default())
    }
}

/// One object with its resource: read from a file, from the server, or both.
#[derive(Clone, Debug)]
pub(crate) struct Info {
    pub target: Target,
    pub object: Value,
    /// The file; empty for an object that was asked for by name.
    pub source: String,
}

impl Info {
    pub(crate) fn name(&self) -> &str {
        self.target.name.as_deref().unwrap_or_default()
    }

    pub(crate) fn kind(&self) -> &str {
        &self.target.resource.kind
    }
}

/// What may narrow a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Selectors {
    pub labels: Option<String>,
    pub fields: Option<String>,
}

impl Selectors {
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.as_deref().unwrap_or_default().is_empty() && self.fields.as_deref().unwrap_or_default().is_empty()
    }

    pub(crate) fn query(&self) -> Vec<(String, String)> {
        let pairs = [("labelSelector", &self.labels), ("fieldSelector", &self.fields)];
        pairs
            .into_iter()
            .filter_map(|(key, value)| value.as_ref().filter(|v| !v.is_empty()).map(|v| (key.to_owned(), v.clone())))
            .collect()
    }
}

/// The arguments as targets. `namespace` is empty for all namespaces.
pub(crate) fn targets(discovery: &Discovery, args: &[String], namespace: &str) -> Result<Vec<Target>> {
    let target = |resource: &Resource, name: Option<&str>| Target {
        namespace: if resource.is_namespaced { namespace.to_owned() } else { String::new() },
        resource: resource.clone(),
        name: name.map(str::to_owned),
    };
    let Some(first) = args.first() else { return Ok(Vec::new()) };
    if args.iter().any(|arg| arg.contains('/')) {
        if !first.contains('/') {
            return Err("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'".to_string()
            .into());
        }
        return args
            .iter()
            .map(|arg| match arg.split('/').collect::<Vec<_>>()[..] {
                [word, name] if !word.is_empty() && !name.is_empty() => Ok(target(discovery.resolve(word)?, Some(name))),
                [_, _] => Err("arguments in resource/name form must have a single resource and name".into()),
                _ if !arg.contains('/') => Err(
                    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'".into(),
                ),
                _ => Err("arguments in resource/name form may not have more than one slash".into()),
            })
            .collect();
    }
    let mut resources = Vec::new();
    for word in first.split(',').filter(|word| !word.is_empty()) {
        match discovery.resolve(word) {
            Ok(resource) => resources.push(resource),
            Err(error) => match discovery.of_category(word) {
                found if found.is_empty() => return Err(error),
                found => resources.extend(found),
            },
        }
    }
    let names = &args[1..];
    if names.is_empty() {
        return Ok(resources.into_iter().map(|resource| target(resource, None)).collect());
    }
    Ok(resources.iter().flat_map(|resource| names.iter().map(|name| target(resource, Some(name)))).collect())
}

/// The objects of files, each with its resource and its namespace.
pub(crate) async fn infos_of_files(session: &Session, flags: &FileFlags) -> Result<Vec<Info>> {
    let objects = files::read(session, flags)?;
    let discovery = session.discovery().await?;
    objects.into_iter().map(|object| info_of(session, discovery, object)).collect()
}

pub(crate) fn info_of(session: &Session, discovery: &Discovery, read: SourcedObject) -> Result<Info> {
    let SourcedObject { mut object, source } = read;
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
    let own_namespace = text("/metadata/namespace");
    let Some(resource) = discovery.of_kind(&api_version, &kind) else {
        return Err(CliError::Message(format!(
            "resource mapping not found for name: \"{name}\" namespace: \"{own_namespace}\" from \"{source}\": no matches for kind \"{kind}\" in version \"{api_version}\"\nensure CRDs are installed first"
        )));
    };
    let namespace = if !resource.is_namespaced {
        String::new()
    } else if own_namespace.is_empty() {
        let namespace = session.namespace()?.to_owned();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("namespace".into(), namespace.clone().into());
        }
        namespace
    } else {
        if let Some(asked) = session.flags.namespace.as_deref().filter(|asked| *asked != own_namespace) {
            return Err(format!(
                "the namespace from the provided object \"{own_namespace}\" does not match the namespace \"{asked}\". You must pass '--namespace={own_namespace}' to perform this operation."
            )
            .into());
        }
        own_namespace
    };
    let target = Target { resource: resource.clone(), namespace, name: Some(name).filter(|name| !name.is_empty()) };
    Ok(Info { target, object, source })
}

/// The choice that a verb on existing objects gets: files, names or selectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    pub args: Vec<String>,
    pub files: FileFlags,
    pub selectors: Selectors,
    pub is_all: bool,
    pub all_namespaces: bool,
}

impl Choice {
    /// The objects as the server has them now. `args` without names need a selector or `--all`.
    pub(crate) async fn existing(&self, session: &Session) -> Result<Vec<Info>> {
        let mut infos = Vec::new();
        for target in self.targets(session).await? {
            match target.name {
                Some(_) => {
                    let request = Request { path: target.url(), ..Default::default() };
                    let object = session.json(request).await?;
                    infos.push(Info { target, object, source: String::new() });
                }
                None => infos.extend(list(session, &target, &self.selectors).await?),
            }
        }
        Ok(infos)
    }

    /// The targets, those of files by the names of their objects.
    pub(crate) async fn targets(&self, session: &Session) -> Result<Vec<Target>> {
        if !self.files.is_empty() {
            if !self.args.is_empty() {
                return Err(
                    "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
                        .into(),
                );
            }
            let infos = infos_of_files(session, &self.files).await?;
            for info in &infos {
                if info.target.name.is_none() {
                    return Err(format!("{}: resource name may not be empty", info.source).into());
                }
            }
            return Ok(infos.into_iter().map(|info| info.target).collect());
        }
        if self.args.is_empty() {
            return Err("resource(s) were provided, but no name was specified".into());
        }
        let namespace = if self.all_namespaces { "" } else { session.namespace()? };
        let targets = targets(session.discovery().await?, &self.args, namespace)?;
        let is_named = targets.iter().all(|target| target.name.is_some());
        if is_named && !self.selectors.is_empty() {
            return Err("name cannot be provided when a selector is specified".into());
        }
        if is_named && self.all_namespaces && targets.iter().any(|t| t.resource.is_namespaced) {
            return Err("a resource cannot be retrieved by name across all namespaces".into());
        }
        if !is_named && self.selectors.is_empty() && !self.is_all {
            return Err("resource(s) were provided, but no name was specified".into());
        }
        Ok(targets)
    }
}

/// Every object of a target, page by page.
pub(crate) async fn list(session: &Session, target: &Target, selectors: &Selectors) -> Result<Vec<Info>> {
    let mut infos = Vec::new();
    let mut token = String::new();
    loop {
        let mut query = selectors.query();
        query.push(("limit".into(), "500".into()));
        if !token.is_empty() {
            query.push(("continue".into(), token));
        }
        let page = session.json(Request { path: target.url(), query, ..Default::default() }).await?;
        let kind_of_items = (target.resource.api_version(), target.resource.kind.clone());
        for item in page.get("items").and_then(Value::as_array).into_iter().flatten() {
            let mut object = item.clone();
            if let Some(map) = object.as_object_mut() {
                map.entry("apiVersion").or_insert_with(|| kind_of_items.0.clone().into());
                map.entry("kind").or_insert_with(|| kind_of_items.1.clone().into());
            }
            let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
            let target = Target {
                resource: target.resource.clone(),
                namespace: text("/metadata/namespace"),
                name: Some(text("/metadata/name")),
            };
            infos.push(Info { target, object, source: String::new() });
        }
        token = page.pointer("/metadata/continue").and_then(Value::as_str).unwrap_or_default().to_owned();
        if token.is_empty() {
            return Ok(infos);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::tests::sample;

    fn check(args: &[&str], expected: &[&str]) {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let made = match targets(&sample(), &args, "ns") {
            Ok(targets) => targets.iter().map(Target::url).collect(),
            Err(error) => vec![error.render()],
        };
        assert_eq!(made, expected, "{args:?}");
    }

    #[test]
    fn arguments_name_types_names_and_pairs() {
        check(&["po"], &["/api/v1/namespaces/ns/pods"]);
        check(&["po", "a", "b"], &["/api/v1/namespaces/ns/pods/a", "/api/v1/namespaces/ns/pods/b"]);
        check(&["po,deploy"], &["/api/v1/namespaces/ns/pods", "/apis/apps/v1/namespaces/ns/deployments"]);
        check(&["no/x", "po/y"], &["/api/v1/nodes/x", "/api/v1/namespaces/ns/pods/y"]);
        check(&["all"], &["/api/v1/namespaces/ns/pods", "/apis/apps/v1/namespaces/ns/deployments"]);
        check(&["po/a/b"], &["error: arguments in resource/name form may not have more than one slash"]);
        check(&["po/"], &["error: arguments in resource/name form must have a single resource and name"]);
        check(&["nope"], &["error: the server doesn't have a resource type \"nope\""]);
    }
}
