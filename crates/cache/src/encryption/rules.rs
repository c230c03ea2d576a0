//! Which kinds go through which providers: the `resources` lists of the configurations in
//! force, one layer a file.

use super::config::EncryptionConfiguration;
use super::kms::Kms;
use super::provider::{self, Provider};
use std::borrow::Cow;
use std::sync::Arc;

/// `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub resource: String,
    pub group: String,
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Self {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        Self { resource: resource.to_owned(), group: group.to_owned() }
    }

    pub(super) fn is_everything(&self) -> bool {
        self.resource == "*" && self.group == "*"
    }

    /// As a configuration writes it.
    fn text(&self) -> String {
        match (self.resource.as_str(), self.group.as_str()) {
            ("*", "") => "*.".to_owned(),
            (resource, "") => resource.to_owned(),
            (resource, group) => format!("{resource}.{group}"),
        }
    }

    fn is(&self, resource: &str, group: &str) -> bool {
        self.resource == resource && self.group == group
    }
}

/// A kind as the store knows it.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    pub group: &'a str,
    pub resource: &'a str,
}

impl<'a> Kind<'a> {
    pub fn of(row: &'a ferry_resources::Row) -> Self {
        // Events of both groups are one stock of objects, which is the core group's.
        Self { group: &row.stored_as.group, resource: &row.plural }
    }
}

/// The rules of one file.
#[derive(Default)]
struct Layer(Vec<(Pattern, Vec<Arc<Provider>>)>);

impl Layer {
    fn providers(&self, kind: Kind<'_>) -> &[Arc<Provider>] {
        let find = |resource: &str, group: &str| self.0.iter().find(|(pattern, _)| pattern.is(resource, group));
        find(kind.resource, kind.group)
            .or_else(|| find("*", kind.group))
            .or_else(|| find("*", "*"))
            .map_or(&[], |(_, providers)| providers)
    }
}

/// Everything that is in force at one time. The first layer that has a rule for a kind
/// decides how it is sealed; every layer's providers for it open.
#[derive(Default)]
pub(super) struct Rules {
    layers: Vec<Layer>,
    kms: Vec<Arc<Kms>>,
}

impl Rules {
    /// Adds the rules of a file below those that are there. Rules that an earlier one of
    /// the same file would hide are refused, as upstream refuses them.
    pub(super) fn add(&mut self, config: &EncryptionConfiguration) -> Result<(), String> {
        let mut layer = Layer::default();
        for rule in &config.resources {
            let mut made = Vec::new();
            for config in &rule.providers {
                let mut kms = |config: &_| {
                    let kms = Kms::new(config)?;
                    self.kms.push(kms.clone());
                    Ok(kms)
                };
                made.push(Arc::new(
                    Provider::new(config, &mut kms)
                        .map_err(|why| format!("error while building transformers: {why}"))?,
                ));
            }
            for text in &rule.resources {
                let pattern = Pattern::parse(text);
                let hides = |earlier: &&(Pattern, _)| {
                    let earlier: &Pattern = &earlier.0;
                    earlier.is("*", &pattern.group) || earlier.is_everything()
                };
                if let Some((earlier, _)) = layer.0.iter().find(hides) {
                    return Err(format!(
                        "error while building transformers: resource {:?} is masked by earlier rule {:?}",
                        pattern.text(),
                        earlier.text()
                    ));
                }
                match layer.0.iter_mut().find(|(known, _)| *known == pattern) {
                    Some((_, providers)) => providers.extend(made.iter().cloned()),
                    None => layer.0.push((pattern, made.clone())),
                }
            }
        }
        self.layers.push(layer);
        Ok(())
    }

    /// Adds one provider for one kind below everything that is there.
    pub(super) fn add_provider(&mut self, resource: &str, provider: Provider) {
        self.layers.push(Layer(vec![(Pattern::parse(resource), vec![Arc::new(provider)])]));
    }

    fn providers(&self, kind: Kind<'_>) -> impl Iterator<Item = &Provider> {
        self.layers.iter().flat_map(move |layer| layer.providers(kind)).map(|provider| &**provider)
    }

    /// Whether any rule is about this kind.
    pub(super) fn covers(&self, kind: Kind<'_>) -> bool {
        self.providers(kind).next().is_some()
    }

    pub(super) fn seal(&self, kind: Kind<'_>, key: &str, plain: &[u8]) -> Result<Option<Vec<u8>>, String> {
        match self.providers(kind).next() {
            None | Some(Provider::Identity) => Ok(None),
            Some(first) => first.seal(key, plain).map(Some),
        }
    }

    pub(super) fn open<'a>(&self, kind: Kind<'_>, key: &str, sealed: &'a [u8]) -> Result<Cow<'a, [u8]>, String> {
        if !self.covers(kind) {
            return provider::open_unsealed(sealed);
        }
        provider::open(self.providers(kind), key, sealed)
    }

    pub(super) fn is_stale(&self, kind: Kind<'_>, sealed: &[u8]) -> bool {
        provider::is_stale(self.providers(kind), sealed)
    }

    /// The KMSs that may have sealed objects of this kind.
    pub(super) fn kms_of(&self, kind: Kind<'_>) -> impl Iterator<Item = &Arc<Kms>> {
        self.providers(kind).filter_map(Provider::kms)
    }

    pub(super) fn kms(&self) -> &[Arc<Kms>] {
        &self.kms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: Kind<'_> = Kind { group: "", resource: "secrets" };

    fn load(rules: &str) -> Result<Rules, String> {
        let text = format!("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: {rules}");
        let mut all = Rules::default();
        all.add(&EncryptionConfiguration::load(&text)?)?;
        Ok(all)
    }

    fn gcm(name: &str) -> String {
        format!("{{aesgcm: {{keys: [{{name: {name}, secret: MDEyMzQ1Njc4OWFiY2RlZg==}}]}}}}")
    }

    fn sealed_by(rules: &Rules, group: &str, resource: &str) -> String {
        let sealed = rules.seal(Kind { group, resource }, "k", b"{}").expect("sealed");
        sealed.map_or_else(|| "plain".into(), |sealed| provider::sealed_by(&sealed).replace("k8s:enc:aesgcm:v1:", ""))
    }

    #[test]
    fn the_closest_rule_of_the_first_file_seals() {
        let (one, two, three, four) = (gcm("one"), gcm("two"), gcm("three"), gcm("four"));
        let mut rules = load(&format!(
            "[{{resources: [secrets], providers: [{one}]}}, {{resources: ['*.apps', widgets.example.com], providers: [{two}]}}, {{resources: [configmaps], providers: [{{identity: {{}}}}]}}, {{resources: ['*.'], providers: [{three}]}}, {{resources: ['*.*'], providers: [{four}]}}]"
        ))
        .expect("valid");
        assert_eq!(sealed_by(&rules, "", "secrets"), "one");
        assert_eq!(sealed_by(&rules, "apps", "deployments"), "two");
        assert_eq!(sealed_by(&rules, "example.com", "widgets"), "two");
        assert_eq!(sealed_by(&rules, "example.com", "others"), "four");
        assert_eq!(sealed_by(&rules, "", "configmaps"), "plain");
        assert_eq!(sealed_by(&rules, "", "pods"), "three");
        rules.add_provider("secrets", Provider::aes_gcm([("below", &[1; 32][..])]).expect("a key"));
        assert_eq!(sealed_by(&rules, "", "secrets"), "one");
        let below = Provider::aes_gcm([("below", &[1; 32][..])]).expect("a key").seal("k", b"{}").expect("sealed");
        assert_eq!(rules.open(SECRETS, "k", &below).as_deref(), Ok(&b"{}"[..]));
        assert!(rules.is_stale(SECRETS, &below));
    }

    #[test]
    fn rules_that_would_never_be_asked_are_refused() {
        let one = gcm("one");
        let why =
            load(&format!("[{{resources: ['*.'], providers: [{one}]}}, {{resources: [secrets], providers: [{one}]}}]"));
        assert_eq!(
            why.err().as_deref(),
            Some("error while building transformers: resource \"secrets\" is masked by earlier rule \"*.\"")
        );
        let why = load(&format!(
            "[{{resources: ['*.*'], providers: [{one}]}}, {{resources: ['*.apps'], providers: [{one}]}}]"
        ));
        assert_eq!(
            why.err().as_deref(),
            Some("error while building transformers: resource \"*.apps\" is masked by earlier rule \"*.*\"")
        );
    }
}
