//! The rules of a definition: names, scope, versions, conversion, and what an update may
//! not change (apiextensions/validation/validation.go).

use super::field_path::{validate_columns, validate_selectable_fields, validate_subresources};
use super::schema::{SchemaDemands, validate_validation};
use super::{internal_spec, schemas, walk};
use crate::names;
use crate::read::Read;
use crate::validation::webhook::validate_client_config;
use crate::validation::{FIELD_IS_IMMUTABLE, one_of};
use base64::Engine;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::{Value, json};
use std::collections::HashSet;

const APPROVED: &str = "api-approved.kubernetes.io";
const REVIEW_VERSIONS: &[&str] = &["v1", "v1beta1"];

/// What is asked of a definition, and let pass where the old one already lacked it.
pub(super) struct Demands {
    schema: SchemaDemands,
    every_version_has_schema: bool,
    known_review_version: bool,
    sound_authorities: bool,
    /// The versions whose schemas an update leaves alone.
    unchanged: HashSet<String>,
}

impl Demands {
    pub(super) fn of_new() -> Self {
        Self {
            schema: SchemaDemands::ALL,
            every_version_has_schema: true,
            known_review_version: true,
            // Nothing is converted before the kind is served.
            sound_authorities: false,
            unchanged: HashSet::new(),
        }
    }

    pub(super) fn of_update(new: &Value, old: &Value) -> Self {
        let spec = internal_spec(old);
        let new_spec = internal_spec(new);
        let names = new_spec.list("versions").iter().map(|version| version.text("name"));
        let is_unchanged =
            |name: &&str| schema_of(&spec, name).is_some_and(|was| schema_of(&new_spec, name) == Some(was));
        let authority = conversion(&spec).field("clientConfig").text("caBundle");
        let versions = conversion(&spec).list("conversionReviewVersions");
        let has_schema = |version: &Value| version.field("schema").has("openAPIV3Schema");
        Self {
            schema: SchemaDemands::kept_by(schemas(&spec)),
            every_version_has_schema: spec.field("validation").has("openAPIV3Schema")
                || spec.list("versions").iter().all(has_schema),
            known_review_version: versions.is_empty() || versions.iter().any(is_review_version),
            sound_authorities: is_established(old) && (authority.is_empty() || authority_mistake(authority).is_none()),
            unchanged: names.filter(is_unchanged).map(str::to_owned).collect(),
        }
    }
}

impl Demands {
    /// Rules that were taken once are not refused for what they cost.
    fn of_version(&self, schema: SchemaDemands, name: &str) -> SchemaDemands {
        SchemaDemands { rule_costs: !self.unchanged.contains(name), ..schema }
    }
}

/// The schema of a version, shared or its own; none for a version that is not there.
fn schema_of<'a>(spec: &'a Value, name: &str) -> Option<Option<&'a Value>> {
    let version = spec.list("versions").iter().find(|version| version.text("name") == name)?;
    let shared = spec.field("validation").field("openAPIV3Schema");
    Some(shared.or(version.field("schema").field("openAPIV3Schema")))
}

/// Why a bundle of authorities (base64 of PEM) cannot be used, in the words of client-go's
/// transport.
fn authority_mistake(encoded: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default();
    let mut why = "no valid certificate authority data seen";
    let mut any_block = false;
    for block in x509_parser::pem::Pem::iter_from_buffer(&bytes).flatten() {
        any_block = true;
        if block.label == "CERTIFICATE" {
            if block.parse_x509().is_ok() {
                return None;
            }
            why = "failed to parse certificate: x509: malformed certificate";
        }
    }
    let why = if any_block { why } else { "unable to parse bytes as PEM block" };
    Some(format!("unable to load root certificates: {why}"))
}

fn is_review_version(version: &Value) -> bool {
    version.as_str().is_some_and(|version| REVIEW_VERSIONS.contains(&version))
}

fn conversion(spec: &Value) -> Option<&Value> {
    spec.field("conversion").field("webhook")
}

pub(super) fn is_established(definition: &Value) -> bool {
    let conditions = definition.field("status").list("conditions");
    conditions.iter().any(|condition| condition.text("type") == "Established" && condition.text("status") == "True")
}

pub(super) fn validate(definition: &Value, old: Option<&Value>, demands: &Demands) -> ErrorList {
    let mut errors = ErrorList::new();
    let spec = internal_spec(definition);
    if old.is_none() {
        let required = format!("{}.{}", spec.field("names").text("plural"), spec.text("group"));
        if definition.name() != required && !definition.name().is_empty() {
            let detail = "must be spec.names.plural+\".\"+spec.group";
            errors.push(Error::invalid(&Path::new("metadata").child("name"), definition.name(), detail));
        }
    }
    validate_spec(&mut errors, &spec, old, demands, &Path::new("spec"));
    validate_status(&mut errors, definition);
    validate_stored_versions(&mut errors, definition, &spec);
    validate_approval(&mut errors, definition, old);
    let was = old.field("spec").flag("preserveUnknownFields");
    if spec.flag("preserveUnknownFields") && !was {
        let path = Path::new("spec").child("preserveUnknownFields");
        let detail =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(Error::invalid(&path, true, detail));
    }
    errors
}

/// The names under which objects are found never change once they can be.
pub(super) fn validate_immutable_names(errors: &mut ErrorList, new: &Value, old: &Value) {
    let (spec, was) = (new.field("spec"), old.field("spec"));
    let path = Path::new("spec");
    let mut same = |new: &str, old: &str, path: Path| {
        if new != old {
            errors.push(Error::invalid(&path, new, FIELD_IS_IMMUTABLE));
        }
    };
    let (names, old_names) = (spec.field("names"), was.field("names"));
    if is_established(old) {
        same(spec.text("scope"), was.text("scope"), path.child("scope"));
        same(names.text("kind"), old_names.text("kind"), path.child("names").child("kind"));
    }
    same(spec.text("group"), was.text("group"), path.child("group"));
    same(names.text("plural"), old_names.text("plural"), path.child("names").child("plural"));
}

fn joined(errors: &mut ErrorList, value: &str, sentences: Vec<String>, path: &Path) -> bool {
    if !sentences.is_empty() {
        errors.push(Error::invalid(path, value, sentences.join(",")));
        return false;
    }
    true
}

fn validate_spec(errors: &mut ErrorList, spec: &Value, old: Option<&Value>, demands: &Demands, path: &Path) {
    let (group, at) = (spec.text("group"), path.child("group"));
    if group.is_empty() {
        errors.push(Error::required(&at, ""));
    } else if joined(errors, group, names::is_dns1123_subdomain(group), &at) && !group.contains('.') {
        errors.push(Error::invalid(&at, group, "should be a domain with at least one dot"));
    }
    one_of(errors, &path.child("scope"), spec.text("scope"), &["Cluster", "Namespaced"]);
    let preserves = spec.flag("preserveUnknownFields");
    let mut schema = demands.schema;
    schema.structural |= !preserves;
    validate_presence(errors, spec, demands, preserves, path);
    let mut has_defaults = false;
    for part in schemas(spec) {
        walk(part, &mut |part| {
            has_defaults |= part.has("default");
            schema.structural |= has_extensions(part);
        });
    }
    if has_defaults {
        schema.structural = true;
        if preserves {
            let detail = "must be false in order to use defaults in the schema";
            errors.push(Error::invalid(&path.child("preserveUnknownFields"), true, detail));
        }
    }
    validate_versions(errors, spec, old, (schema, demands), path);
    let (given, at) = (spec.field("names"), path.child("names"));
    for key in ["plural", "singular", "kind", "listKind"] {
        if given.text(key).is_empty() {
            errors.push(Error::required(&at.child(key), ""));
        }
    }
    validate_names(errors, given, &at);
    let any_status = spec.field("subresources").has("status")
        || spec.list("versions").iter().any(|version| version.field("subresources").has("status"));
    let first = spec.list("versions").first().text("name");
    let shared = demands.of_version(schema, first);
    validate_validation(errors, spec.field("validation"), any_status, shared, &path.child("validation"));
    validate_subresources(errors, spec.field("subresources"), &path.child("subresources"));
    validate_columns(errors, spec.list("additionalPrinterColumns"), &path.child("additionalPrinterColumns"));
    let (fields, at) = (spec.list("selectableFields"), path.child("selectableFields"));
    if !fields.is_empty() {
        match spec.field("validation").field("openAPIV3Schema") {
            None => {
                errors.push(Error::invalid(&at, "", "may only be set when validations.schema is included"));
            }
            Some(schema) => {
                let was = old.map(internal_spec).unwrap_or_default();
                validate_selectable_fields(errors, fields, schema, was.list("selectableFields") == fields, &at);
            }
        }
    }
    validate_conversion(errors, spec, demands, &path.child("conversion"));
}

fn has_extensions(schema: &Value) -> bool {
    schema.flag("x-kubernetes-embedded-resource")
        || schema.has("x-kubernetes-preserve-unknown-fields")
        || schema.flag("x-kubernetes-int-or-string")
        || !schema.list("x-kubernetes-list-map-keys").is_empty()
        || schema.has("x-kubernetes-list-type")
        || !schema.list("x-kubernetes-validations").is_empty()
}

/// Without a schema every field would be pruned.
fn validate_presence(errors: &mut ErrorList, spec: &Value, demands: &Demands, preserves: bool, path: &Path) {
    if spec.field("validation").has("openAPIV3Schema") {
        return;
    }
    for (index, version) in spec.list("versions").iter().enumerate() {
        if version.field("schema").has("openAPIV3Schema") {
            continue;
        }
        let at = path.child("versions").index(index).child("schema").child("openAPIV3Schema");
        if demands.every_version_has_schema {
            errors.push(Error::required(&at, ""));
        } else if !preserves && version.flag("served") {
            errors.push(Error::required(&at, "because otherwise all fields are pruned"));
        }
    }
}

fn validate_versions(
    errors: &mut ErrorList,
    spec: &Value,
    old: Option<&Value>,
    (schema, demands): (SchemaDemands, &Demands),
    path: &Path,
) {
    let (versions, at) = (spec.list("versions"), path.child("versions"));
    let mut seen = HashSet::new();
    for (index, version) in versions.iter().enumerate() {
        let (path, name) = (at.index(index), version.text("name"));
        seen.insert(name);
        joined(errors, name, names::dns1035_label(name, false), &path.child("name"));
        let schema = demands.of_version(schema, name);
        validate_version(errors, spec, version, old, schema, &path);
    }
    if seen.len() != versions.len() {
        errors.push(Error::invalid(&at, shown_versions(versions), "must contain unique version names"));
    }
    if versions.iter().filter(|version| version.flag("storage")).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(Error::invalid(&at, shown_versions(versions), detail));
    }
    // Upstream's internal type repeats the name of the first version.
    if let Some(first) = versions.first() {
        let name = first.text("name");
        if !name.is_empty() {
            joined(errors, name, names::dns1035_label(name, false), &path.child("version"));
        }
    }
}

/// Versions under the names of upstream's internal type, which is what errors show.
fn shown_versions(versions: &[Value]) -> Value {
    let shown = |version: &Value| {
        json!({
            "Name": version.text("name"), "Served": version.flag("served"), "Storage": version.flag("storage"),
            "Deprecated": version.flag("deprecated"), "DeprecationWarning": version.field("deprecationWarning"),
            "Schema": version.field("schema"), "Subresources": version.field("subresources"),
            "AdditionalPrinterColumns": version.field("additionalPrinterColumns"),
            "SelectableFields": version.field("selectableFields"),
        })
    };
    versions.iter().map(shown).collect()
}

fn validate_version(
    errors: &mut ErrorList,
    spec: &Value,
    version: &Value,
    old: Option<&Value>,
    schema: SchemaDemands,
    path: &Path,
) {
    for sentence in deprecation_mistakes(version) {
        let value = version.field("deprecationWarning").cloned().unwrap_or_default();
        errors.push(Error::invalid(&path.child("deprecationWarning"), value, sentence));
    }
    let per_version = spec.list("versions").iter().any(|version| version.has("subresources"));
    let subresources = if per_version { version.field("subresources") } else { spec.field("subresources") };
    validate_validation(errors, version.field("schema"), subresources.has("status"), schema, &path.child("schema"));
    validate_subresources(errors, version.field("subresources"), &path.child("subresources"));
    validate_columns(errors, version.list("additionalPrinterColumns"), &path.child("additionalPrinterColumns"));
    let (fields, at) = (version.list("selectableFields"), path.child("selectableFields"));
    if !fields.is_empty() {
        // A schema that all versions share stands beside them, and upstream does not see
        // it from here.
        match version.field("schema").field("openAPIV3Schema") {
            None => {
                let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
                errors.push(Error::invalid(&at, "", detail));
            }
            Some(schema) => {
                let was = old.map(internal_spec).unwrap_or_default();
                let was = was.list("versions").iter().find(|old| old.text("name") == version.text("name"));
                validate_selectable_fields(errors, fields, schema, was.list("selectableFields") == fields, &at);
            }
        }
    }
}

fn deprecation_mistakes(version: &Value) -> Vec<String> {
    let Some(warning) = version.opt_text("deprecationWarning") else { return Vec::new() };
    if !version.flag("deprecated") {
        return vec!["can only be set for deprecated versions".to_owned()];
    }
    let mut mistakes = Vec::new();
    if warning.len() > 256 {
        mistakes.push("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        mistakes.push("must not be an empty string".to_owned());
    }
    if let Some((index, _)) = warning.char_indices().find(|(_, character)| character.is_control()) {
        mistakes.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        ));
    }
    mistakes
}

fn validate_names(errors: &mut ErrorList, given: Option<&Value>, path: &Path) {
    for key in ["plural", "singular"] {
        let name = given.text(key);
        if !name.is_empty() {
            joined(errors, name, names::dns1035_label(name, false), &path.child(key));
        }
    }
    for key in ["kind", "listKind"] {
        let name = given.text(key);
        let sentences = names::dns1035_label(&name.to_lowercase(), false);
        if !name.is_empty() && !sentences.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", sentences.join(","));
            errors.push(Error::invalid(&path.child(key), name, detail));
        }
    }
    let each = |errors: &mut ErrorList, key: &str| {
        for (index, name) in given.texts(key).enumerate() {
            joined(errors, name, names::dns1035_label(name, false), &path.child(key).index(index));
        }
    };
    each(errors, "shortNames");
    let (kind, list_kind) = (given.text("kind"), given.text("listKind"));
    if !kind.is_empty() && kind == list_kind {
        errors.push(Error::invalid(&path.child("listKind"), list_kind, "kind and listKind may not be the same"));
    }
    each(errors, "categories");
}

/// The conversion under the names of upstream's internal type, where the webhook's fields
/// stand beside the strategy.
fn validate_conversion(errors: &mut ErrorList, spec: &Value, demands: &Demands, path: &Path) {
    let Some(given) = spec.field("conversion") else { return };
    let strategy = given.text("strategy");
    if strategy != "None" && spec.flag("preserveUnknownFields") {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(Error::invalid(&path.child("strategy"), strategy, detail));
    }
    one_of(errors, &path.child("strategy"), strategy, &["None", "Webhook"]);
    let webhook = given.field("webhook");
    let (config, config_at) = (webhook.field("clientConfig"), path.child("webhookClientConfig"));
    let (versions, versions_at) = (webhook.list("conversionReviewVersions"), path.child("conversionReviewVersions"));
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if config.is_some() {
            errors.push(Error::forbidden(&config_at, detail));
        }
        if !versions.is_empty() {
            errors.push(Error::forbidden(&versions_at, detail));
        }
        return;
    }
    match config {
        None => errors.push(Error::required(&config_at, "required when strategy is set to Webhook")),
        config => {
            validate_client_config(errors, config, &config_at);
            let authority = config.text("caBundle");
            if demands.sound_authorities
                && !authority.is_empty()
                && let Some(why) = authority_mistake(authority)
            {
                errors.push(Error::invalid(&config_at.child("caBundle"), authority, why));
            }
        }
    }
    if versions.is_empty() {
        errors.push(Error::required(&versions_at, ""));
        return;
    }
    let mut seen = HashSet::new();
    for (index, version) in webhook.texts("conversionReviewVersions").enumerate() {
        let at = versions_at.index(index);
        if !seen.insert(version) {
            errors.push(Error::invalid(&at, version, "duplicate version"));
            continue;
        }
        crate::validation::each(errors, &at, version, names::dns1035_label(version, false));
    }
    if demands.known_review_version && !versions.iter().any(is_review_version) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.push(Error::invalid(&versions_at, versions, detail));
    }
}

pub(super) fn validate_status(errors: &mut ErrorList, definition: &Value) {
    let path = Path::new("status").child("acceptedNames");
    validate_names(errors, definition.field("status").field("acceptedNames"), &path);
}

/// Every version that may be in the store is still known.
fn validate_stored_versions(errors: &mut ErrorList, definition: &Value, spec: &Value) {
    let status = definition.field("status");
    let (stored, path) = (status.list("storedVersions"), Path::new("status").child("storedVersions"));
    if stored.is_empty() {
        errors.push(Error::invalid(&path, Value::Null, "must have at least one stored version"));
        return;
    }
    for version in spec.list("versions") {
        let name = version.text("name");
        if version.flag("storage") && !stored.iter().any(|stored| stored == name) {
            errors.push(Error::invalid(&path, stored, format!("must have the storage version {name}")));
        }
    }
    for (index, name) in status.texts("storedVersions").enumerate() {
        if !spec.list("versions").iter().any(|version| version.text("name") == name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            errors.push(Error::invalid(&path.index(index), name, detail));
        }
    }
}

#[derive(PartialEq, Eq)]
enum Approval {
    Missing,
    Bypassed,
    Approved,
    Invalid,
}

fn approval(definition: &Value) -> Approval {
    let text = definition.annotation(APPROVED).unwrap_or_default();
    let is_url = text
        .split_once("://")
        .is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.starts_with('/') && !rest.is_empty());
    match text {
        "" => Approval::Missing,
        text if text.starts_with("unapproved") => Approval::Bypassed,
        _ if is_url => Approval::Approved,
        _ => Approval::Invalid,
    }
}

/// The groups of Kubernetes itself are for what its community has approved.
fn validate_approval(errors: &mut ErrorList, definition: &Value, old: Option<&Value>) {
    let group = definition.field("spec").text("group");
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')));
    let now = approval(definition);
    if !is_protected || old.is_some_and(|old| approval(old) == now) {
        return;
    }
    let path = Path::new("metadata").child("annotations").key(APPROVED);
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    match now {
        Approval::Missing => {
            let detail = format!("protected groups must have approval annotation {APPROVED:?}, {SEE}");
            errors.push(Error::required(&path, detail));
        }
        Approval::Invalid => {
            let detail = format!(
                "protected groups must have approval annotation {APPROVED:?} with either a URL or a reason starting with \"unapproved\", {SEE}"
            );
            let value = definition.annotation(APPROVED).unwrap_or_default();
            errors.push(Error::invalid(&path, value, detail));
        }
        Approval::Bypassed | Approval::Approved => {}
    }
}
