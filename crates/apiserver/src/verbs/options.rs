//! The options of lists, watches and writes, read from the query and checked with
//! upstream's sentences (meta/internalversion/validation, meta/v1/validation).

use crate::door::wire::FieldValidation;
use crate::query::Query;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::status::{Cause, Status};
use ferry_store::Revision;
use serde_json::{Value, json};

const MANAGER_MAX: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    Exact,
    NotOlderThan,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub label_selector: String,
    pub field_selector: String,
    /// `None` for unset: the most recent state. `Some(0)`: any state will do.
    pub resource_version: Option<Revision>,
    pub version_match: Option<VersionMatch>,
    pub limit: usize,
    pub continue_token: String,
    pub timeout_seconds: Option<u64>,
    pub allow_bookmarks: bool,
    pub send_initial_events: Option<bool>,
}

impl ListOptions {
    pub(crate) fn parse(query: &Query, is_watch: bool) -> Result<Self, Status> {
        let version = query.text("resourceVersion").unwrap_or_default();
        let matching = query.text("resourceVersionMatch").unwrap_or_default();
        let send_initial_events = query.optional_flag("sendInitialEvents");
        let continue_token = query.text("continue").unwrap_or_default().to_owned();
        let check = Check { version, matching, has_continue: !continue_token.is_empty(), send_initial_events };
        let errors = if is_watch { check.watch() } else { check.list() };
        if !errors.is_empty() {
            return Err(invalid_options("ListOptions", errors));
        }
        if !continue_token.is_empty() && !matches!(version, "" | "0") {
            return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
        }
        Ok(Self {
            label_selector: query.text("labelSelector").unwrap_or_default().to_owned(),
            field_selector: query.text("fieldSelector").unwrap_or_default().to_owned(),
            resource_version: parse_version(version)?,
            version_match: match matching {
                "Exact" => Some(VersionMatch::Exact),
                "NotOlderThan" => Some(VersionMatch::NotOlderThan),
                _ => None,
            },
            limit: query.integer("limit")?.and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
            continue_token,
            timeout_seconds: query.integer("timeoutSeconds")?.and_then(|n| u64::try_from(n).ok()),
            allow_bookmarks: query.flag("allowWatchBookmarks"),
            send_initial_events,
        })
    }
}

pub(crate) fn parse_version(text: &str) -> Result<Option<Revision>, Status> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let error = Error::invalid(
            &Path::new("resourceVersion"),
            text,
            format!("strconv.ParseUint: parsing {text:?}: invalid syntax"),
        );
        Status::bad_request(error.to_string())
    })
}

struct Check<'a> {
    version: &'a str,
    matching: &'a str,
    has_continue: bool,
    send_initial_events: Option<bool>,
}

impl Check<'_> {
    fn list(&self) -> ErrorList {
        let path = Path::new("resourceVersionMatch");
        let mut errors = ErrorList::new();
        if !self.matching.is_empty() {
            if self.version.is_empty() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(Error::forbidden(&path, why));
            }
            if self.has_continue {
                errors.push(Error::forbidden(&path, "resourceVersionMatch is forbidden when continue is provided"));
            }
            if !matches!(self.matching, "Exact" | "NotOlderThan") {
                errors.push(Error::not_supported(&path, self.matching, &["Exact", "NotOlderThan", ""]));
            }
            if self.matching == "Exact" && self.version == "0" {
                let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(Error::forbidden(&path, why));
            }
        }
        if self.send_initial_events.is_some() {
            let why = "sendInitialEvents is forbidden for list";
            errors.push(Error::forbidden(&Path::new("sendInitialEvents"), why));
        }
        errors
    }

    fn watch(&self) -> ErrorList {
        let path = Path::new("resourceVersionMatch");
        let mut errors = ErrorList::new();
        if self.send_initial_events.is_some() && self.matching != "NotOlderThan" {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(Error::forbidden(&path, why));
        }
        if !self.matching.is_empty() {
            if self.send_initial_events.is_none() {
                let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                errors.push(Error::forbidden(&path, why));
            }
            if self.matching != "NotOlderThan" {
                errors.push(Error::not_supported(&path, self.matching, &["NotOlderThan"]));
            }
            if self.has_continue {
                errors.push(Error::forbidden(&path, "resourceVersionMatch is forbidden when continue is provided"));
            }
        }
        errors
    }
}

/// A read names a revision that no write has got yet.
pub(crate) fn too_large_version(requested: Revision, current: Revision) -> Status {
    let mut status = Status::timeout(format!("Too large resource version: {requested}, current: {current}"));
    let details = status.details.get_or_insert_default();
    details.retry_after_seconds = 1;
    details.causes = vec![Cause {
        reason: "ResourceVersionTooLarge".into(),
        message: "Too large resource version".into(),
        field: String::new(),
    }];
    status
}

pub(crate) fn invalid_options(kind: &'static str, errors: ErrorList) -> Status {
    Status::invalid(&GroupVersionKind::new("meta.k8s.io", "v1", kind), "", errors)
}

/// What create, update and patch have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub dry_run: bool,
    pub field_manager: String,
    pub field_validation: FieldValidation,
    pub force: Option<bool>,
}

impl WriteOptions {
    /// `kind` is the name under which mistakes are reported: `CreateOptions`.
    pub(crate) fn parse(query: &Query, kind: &'static str) -> Result<Self, Status> {
        let mut errors = ErrorList::new();
        let field_manager = query.text("fieldManager").unwrap_or_default().to_owned();
        validate_manager(&field_manager, &mut errors);
        let dry_run = validate_dry_run(query.all("dryRun"), &mut errors);
        let field_validation = match query.text("fieldValidation").unwrap_or_default() {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let path = Path::new("fieldValidation");
                errors.push(Error::not_supported(&path, other, &["", "Ignore", "Strict", "Warn"]));
                FieldValidation::Warn
            }
        };
        if !errors.is_empty() {
            return Err(invalid_options(kind, errors));
        }
        Ok(Self { dry_run, field_manager, field_validation, force: query.optional_flag("force") })
    }

    /// The manager that was named, else the program that speaks: what stands before the
    /// first slash of its User-Agent, printable and not too long.
    pub(crate) fn manager(&self, user_agent: &str) -> String {
        if !self.field_manager.is_empty() {
            return self.field_manager.clone();
        }
        let program = user_agent.split('/').next().unwrap_or_default();
        let mut name = String::new();
        for character in program.chars().filter(|c| !c.is_control()) {
            if name.len() + character.len_utf8() > MANAGER_MAX {
                break;
            }
            name.push(character);
        }
        name
    }

    pub(crate) fn to_value(&self, kind: &str) -> Value {
        let mut value = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
        if self.dry_run {
            value["dryRun"] = json!(["All"]);
        }
        if !self.field_manager.is_empty() {
            value["fieldManager"] = self.field_manager.as_str().into();
        }
        if let Some(force) = self.force {
            value["force"] = force.into();
        }
        value
    }
}

fn validate_manager(manager: &str, errors: &mut ErrorList) {
    let path = Path::new("fieldManager");
    if manager.len() > MANAGER_MAX {
        errors.push(Error::too_long(&path, MANAGER_MAX));
    }
    for (position, character) in manager.char_indices() {
        if character.is_control() {
            let why = format!("invalid character U+{:04X} (at position {position})", u32::from(character));
            errors.push(Error::invalid(&path, manager, why));
        }
    }
}

/// Whether nothing is to be stored. `All` is the only stage there is.
pub(crate) fn validate_dry_run<'a>(values: impl Iterator<Item = &'a str>, errors: &mut ErrorList) -> bool {
    let values: Vec<&str> = values.collect();
    if values.iter().any(|value| *value != "All") {
        errors.push(Error::not_supported(&Path::new("dryRun"), json!(values), &["All"]));
    }
    !values.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_options_are_refused_with_upstreams_sentences() {
        let check = |query: &str, is_watch| ListOptions::parse(&Query::parse(query), is_watch).map_err(|s| s.message);
        assert_eq!(
            check("resourceVersionMatch=Exact", false).expect_err("no version"),
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
        );
        assert_eq!(
            check("continue=abc&resourceVersion=5", false).expect_err("both"),
            "specifying resource version is not allowed when using continue"
        );
        assert_eq!(
            check("sendInitialEvents=true", true).expect_err("no match"),
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        );
        assert!(check("resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=5", false).is_ok());
    }

    #[test]
    fn the_manager_is_the_program_that_speaks() {
        let options = WriteOptions::default();
        assert_eq!(options.manager("kubectl/v1.32.4 (linux/amd64) kubernetes/abc"), "kubectl");
        assert_eq!(WriteOptions { field_manager: "me".into(), ..options }.manager("kubectl/v1"), "me");
        let refused = WriteOptions::parse(&Query::parse("dryRun=Some"), "CreateOptions").expect_err("only All");
        assert_eq!(
            refused.message,
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""
        );
    }
}
