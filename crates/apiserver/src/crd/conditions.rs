//! What a CustomResourceDefinition's status says: which names are its own, whether it is
//! served, what is wrong with it. Pure; `controller.rs` writes what is planned here. The
//! rules, reasons and sentences are apiextensions-apiserver's (pkg/controller/status,
//! establish, nonstructuralschema, apiapproval).

use ferry_api::field::{Error, Path};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::condition;
use ferry_resources::custom_resource::is_true;
use ferry_resources::read::{Read, set};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

const APPROVED: &str = "api-approved.kubernetes.io";
const APPROVAL_RULES: &str = "https://github.com/kubernetes/enhancements/pull/1111";

/// One condition that a definition is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub kind: &'static str,
    pub status: &'static str,
    pub reason: &'static str,
    pub message: String,
}

impl Condition {
    pub(super) fn new(
        kind: &'static str,
        status: &'static str,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self { kind, status, reason, message: message.into() }
    }

    fn is_in(&self, definition: &Value) -> bool {
        find(definition, self.kind).is_some_and(|found| {
            found.text("status") == self.status
                && found.text("reason") == self.reason
                && found.text("message") == self.message
        })
    }
}

pub(super) fn find<'a>(definition: &'a Value, kind: &str) -> Option<&'a Value> {
    definition.field("status").list("conditions").iter().find(|condition| condition.text("type") == kind)
}

/// Puts a condition in place of the one of its type.
pub(super) fn set_condition(definition: &mut Value, condition: &Condition, now: Timestamp) {
    let rendered = json!({
        "type": condition.kind, "status": condition.status, "reason": condition.reason, "message": condition.message,
    });
    let status = ensure_object(definition).entry("status").or_insert_with(|| json!({}));
    condition::set_value(status, rendered, now);
}

/// The definition with the names and conditions that it should have, if it has others.
/// `group` is every other definition of the same group.
pub(super) fn plan_status(definition: &Value, group: &[Value], now: Timestamp) -> Option<Value> {
    let mut planned = definition.clone();
    plan_names(&mut planned, definition, group, now);
    for condition in [plan_structural(definition), plan_approval(definition)].into_iter().flatten() {
        if !condition.is_in(definition) {
            set_condition(&mut planned, &condition, now);
        }
    }
    (planned != *definition).then_some(planned)
}

/// The condition that tells whether a definition whose rows are there is served.
pub(super) fn plan_established(definition: &Value) -> Option<Condition> {
    if !is_true(definition, "NamesAccepted") || is_true(definition, "Established") {
        return None;
    }
    let bundle = definition.field("spec").field("conversion").field("webhook").field("clientConfig").text("caBundle");
    let condition = if is_bundle(bundle) {
        Condition::new("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    } else {
        let text = "The conversion webhook CABundle is invalid";
        Condition::new("Established", "False", "InvalidCABundle", text)
    };
    (!condition.is_in(definition)).then_some(condition)
}

/// Whether a bundle is absent or holds a certificate.
fn is_bundle(text: &str) -> bool {
    use base64::Engine as _;
    let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(text) else { return false };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return true;
    }
    use rustls::pki_types::pem::PemObject as _;
    let mut certificates = rustls::pki_types::CertificateDer::pem_slice_iter(&bytes);
    matches!(certificates.next(), Some(Ok(_)))
}

fn plan_names(planned: &mut Value, definition: &Value, group: &[Value], now: Timestamp) {
    let wanted = Names::of(definition.field("spec").field("names"));
    let accepted = Names::of(definition.field("status").field("acceptedNames"));
    if wanted == accepted {
        return;
    }
    let (names, names_accepted) = accept(&wanted, &accepted, group);
    if names == accepted && names_accepted.is_in(definition) {
        return;
    }
    let status = ensure_object(planned).entry("status").or_insert_with(|| json!({}));
    set(status, "acceptedNames", names.render());
    set_condition(planned, &names_accepted, now);
    // Whoever was established stays so, whatever becomes of new names.
    if !is_true(definition, "Established") {
        let condition = if names_accepted.status == "True" {
            Some(Condition::new("Established", "False", "Installing", "the initial names have been accepted"))
        } else if find(definition, "Established").is_none() {
            Some(Condition::new("Established", "False", "NotAccepted", "not all names are accepted"))
        } else {
            None
        };
        if let Some(condition) = condition {
            set_condition(planned, &condition, now);
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    plural: String,
    singular: String,
    short_names: Vec<String>,
    kind: String,
    list_kind: String,
    categories: Vec<String>,
}

impl Names {
    fn of(names: Option<&Value>) -> Self {
        let words = |key: &str| names.texts(key).map(str::to_owned).collect::<Vec<_>>();
        Self {
            plural: names.text("plural").to_owned(),
            singular: names.text("singular").to_owned(),
            short_names: words("shortNames"),
            kind: names.text("kind").to_owned(),
            list_kind: names.text("listKind").to_owned(),
            categories: words("categories"),
        }
    }

    fn render(&self) -> Value {
        let mut map = Map::new();
        for (key, text) in [("plural", &self.plural), ("kind", &self.kind)] {
            map.insert(key.into(), text.as_str().into());
        }
        for (key, text) in [("singular", &self.singular), ("listKind", &self.list_kind)] {
            if !text.is_empty() {
                map.insert(key.into(), text.as_str().into());
            }
        }
        for (key, words) in [("shortNames", &self.short_names), ("categories", &self.categories)] {
            if !words.is_empty() {
                map.insert(key.into(), words.clone().into());
            }
        }
        Value::Object(map)
    }
}

/// Takes each name that nobody else in the group has. The last conflict is the one told,
/// as upstream tells it.
fn accept(wanted: &Names, accepted: &Names, group: &[Value]) -> (Names, Condition) {
    let mut resources: HashSet<String> = HashSet::new();
    let mut kinds: HashSet<String> = HashSet::new();
    let others: Vec<Names> =
        group.iter().map(|other| Names::of(other.field("status").field("acceptedNames"))).collect();
    for names in others.iter().chain([accepted]) {
        resources.extend([names.plural.clone(), names.singular.clone()]);
        resources.extend(names.short_names.iter().cloned());
        kinds.extend([names.kind.clone(), names.list_kind.clone()]);
    }
    let conflict = |name: &str, own: &str, taken: &HashSet<String>| {
        (name != own && taken.contains(name)).then(|| format!("{name:?} is already in use"))
    };
    let mut names = accepted.clone();
    let mut mistake: Option<(&'static str, String)> = None;
    match conflict(&wanted.plural, &accepted.plural, &resources) {
        Some(text) => mistake = Some(("PluralConflict", text)),
        None => names.plural.clone_from(&wanted.plural),
    }
    match conflict(&wanted.singular, &accepted.singular, &resources) {
        Some(text) => mistake = Some(("SingularConflict", text)),
        None => names.singular.clone_from(&wanted.singular),
    }
    if wanted.short_names != accepted.short_names {
        let new = wanted.short_names.iter().filter(|name| !accepted.short_names.contains(name));
        let mut texts: Vec<String> = new.filter_map(|name| conflict(name, "", &resources)).collect();
        texts.dedup();
        match texts.len() {
            0 => names.short_names.clone_from(&wanted.short_names),
            1 => mistake = Some(("ShortNamesConflict", texts.remove(0))),
            _ => mistake = Some(("ShortNamesConflict", format!("[{}]", texts.join(", ")))),
        }
    }
    match conflict(&wanted.kind, &accepted.kind, &kinds) {
        Some(text) => mistake = Some(("KindConflict", text)),
        None => names.kind.clone_from(&wanted.kind),
    }
    match conflict(&wanted.list_kind, &accepted.list_kind, &kinds) {
        Some(text) => mistake = Some(("ListKindConflict", text)),
        None => names.list_kind.clone_from(&wanted.list_kind),
    }
    names.categories.clone_from(&wanted.categories);
    let condition = match mistake {
        Some((reason, text)) => Condition::new("NamesAccepted", "False", reason, text),
        None => Condition::new("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
    };
    (names, condition)
}

/// The schemas of v1 are structural or they are refused; what can be left over from
/// older versions is that nothing is pruned.
fn plan_structural(definition: &Value) -> Option<Condition> {
    if !definition.field("spec").flag("preserveUnknownFields") {
        return None;
    }
    let path = Path::new("spec").child("preserveUnknownFields");
    let message = Error::invalid(&path, true, "must be false").to_string();
    Some(Condition::new("NonStructuralSchema", "True", "Violations", message))
}

/// Groups of the Kubernetes project want a word from it.
fn plan_approval(definition: &Value) -> Option<Condition> {
    const KIND: &str = "KubernetesAPIApprovalPolicyConformant";
    let group = definition.field("spec").text("group");
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|own| group.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    if !protected {
        return None;
    }
    let annotation = definition.annotation(APPROVED).unwrap_or_default();
    Some(if annotation.is_empty() {
        let text = format!("protected groups must have approval annotation {APPROVED:?}, see {APPROVAL_RULES}");
        Condition::new(KIND, "False", "MissingAnnotation", text)
    } else if annotation.starts_with("unapproved") {
        Condition::new(KIND, "False", "UnapprovedAnnotation", format!("not approved: {annotation:?}"))
    } else if is_url(annotation) {
        Condition::new(KIND, "True", "ApprovedAnnotation", format!("approved in {annotation}"))
    } else {
        let text = format!(
            "protected groups must have approval annotation {APPROVED:?} with either a URL or a reason starting with \"unapproved\", see {APPROVAL_RULES}"
        );
        Condition::new(KIND, "False", "InvalidAnnotation", text)
    })
}

fn is_url(text: &str) -> bool {
    text.parse::<http::Uri>().is_ok_and(|uri| uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().expect("a time")
    }

    fn definition(plural: &str, kind: &str, short: &[&str]) -> Value {
        json!({
            "metadata": {"name": format!("{plural}.example.com")},
            "spec": {"group": "example.com", "names": {
                "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List"),
                "shortNames": short,
            }},
        })
    }

    fn check(planned: &Value, kind: &str) -> (String, String, String) {
        let condition = find(planned, kind).expect("the condition");
        let text = |key: &str| condition.text(key).to_owned();
        (text("status"), text("reason"), text("message"))
    }

    #[test]
    fn free_names_are_accepted_once() {
        let planned = plan_status(&definition("widgets", "Widget", &["w"]), &[], now()).expect("a change");
        assert_eq!(
            planned["status"]["acceptedNames"],
            json!({"plural": "widgets", "singular": "widget",
            "kind": "Widget", "listKind": "WidgetList", "shortNames": ["w"]})
        );
        assert_eq!(check(&planned, "NamesAccepted").1, "NoConflicts");
        assert_eq!(check(&planned, "Established").1, "Installing");
        assert_eq!(plan_status(&planned, &[], now()), None);
        assert_eq!(plan_established(&planned).expect("a change").reason, "InitialNamesAccepted");
    }

    #[test]
    fn names_that_another_has_are_told() {
        let first = plan_status(&definition("widgets", "Widget", &["w"]), &[], now()).expect("a change");
        let second = plan_status(&definition("gadgets", "Gadget", &["w"]), std::slice::from_ref(&first), now());
        let second = second.expect("a change");
        let expected = ("False".into(), "ShortNamesConflict".into(), "\"w\" is already in use".into());
        assert_eq!(check(&second, "NamesAccepted"), expected);
        assert_eq!(check(&second, "Established").1, "NotAccepted");
        assert_eq!(plan_established(&second), None);
        assert_eq!(second["status"]["acceptedNames"].get("shortNames"), None);
        // When the first goes, its name is free.
        let again = plan_status(&second, &[], now()).expect("a change");
        assert_eq!(check(&again, "NamesAccepted").0, "True");
        assert_eq!(check(&again, "Established").1, "Installing");
        let third = plan_status(&definition("widgetz", "Widget", &[]), &[first], now()).expect("a change");
        assert_eq!(check(&third, "NamesAccepted").1, "ListKindConflict");
    }

    #[test]
    fn protected_groups_need_approval() {
        let mut own = definition("widgets", "Widget", &[]);
        own["spec"]["group"] = "x.k8s.io".into();
        for (annotation, reason) in [
            ("", "MissingAnnotation"),
            ("unapproved, testing", "UnapprovedAnnotation"),
            ("https://example.com/pull/1", "ApprovedAnnotation"),
            ("soon", "InvalidAnnotation"),
        ] {
            own["metadata"]["annotations"] = json!({APPROVED: annotation});
            assert_eq!(plan_approval(&own).expect("protected").reason, reason);
        }
        own["spec"]["group"] = "notk8s.io".into();
        assert_eq!(plan_approval(&own), None);
    }

    #[test]
    fn a_transition_is_a_change_of_status() {
        let mut object = json!({});
        set_condition(&mut object, &Condition::new("Established", "False", "A", ""), now());
        let later = "2026-01-01T01:00:00Z".parse().expect("a time");
        set_condition(&mut object, &Condition::new("Established", "False", "B", ""), later);
        assert_eq!(object["status"]["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
        set_condition(&mut object, &Condition::new("Established", "True", "B", ""), later);
        assert_eq!(object["status"]["conditions"][0]["lastTransitionTime"], "2026-01-01T01:00:00Z");
        assert_eq!(object["status"]["conditions"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn bundles_are_certificates() {
        assert!(is_bundle(""));
        assert!(!is_bundle("bm90IGEgY2VydGlmaWNhdGU="));
    }
}
