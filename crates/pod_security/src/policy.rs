//! Which level of which version counts in which mode: the labels of a namespace over the
//! defaults of the configuration. The plugin asks for every pod, so a namespace without
//! labels costs nothing.

use ferry_api::field::{Error, ErrorList, Path};
use std::fmt;

pub const PREFIX: &str = "pod-security.kubernetes.io/";

/// From the laxest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    #[default]
    Privileged,
    Baseline,
    Restricted,
}

impl Level {
    /// What is no level is told so; callers decide which one counts instead.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "privileged" => Ok(Self::Privileged),
            "baseline" => Ok(Self::Baseline),
            "restricted" => Ok(Self::Restricted),
            _ => Err("must be one of privileged, baseline, restricted"),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }
}

/// The version of a policy: a minor of 1, or whatever is the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    #[default]
    Latest,
    Minor(u32),
}

impl Version {
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = r#"must be "latest" or "v1.x""#;
        if text == "latest" {
            return Ok(Self::Latest);
        }
        let digits = text.strip_prefix("v1.").ok_or(EXPECTED)?;
        let is_plain =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
        if !is_plain {
            return Err(EXPECTED);
        }
        digits.parse().map(Self::Minor).map_err(|_| EXPECTED)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Minor(minor) => write!(f, "v1.{minor}"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelVersion {
    pub level: Level,
    pub version: Version,
}

impl LevelVersion {
    /// Versions of the level that allows everything are all the same.
    fn is_like(self, other: Self) -> bool {
        self == other || (self.level == Level::Privileged && other.level == Level::Privileged)
    }
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.level.as_str(), self.version)
    }
}

/// What is refused, what is noted in the audit log, and what the client is warned of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub enforce: LevelVersion,
    pub audit: LevelVersion,
    pub warn: LevelVersion,
}

impl Policy {
    pub fn is_privileged(&self) -> bool {
        [self.enforce, self.audit, self.warn].iter().all(|mode| mode.level == Level::Privileged)
    }

    pub fn is_like(&self, other: &Self) -> bool {
        self.enforce.is_like(other.enforce) && self.audit.is_like(other.audit) && self.warn.is_like(other.warn)
    }

    /// The modes by the names of their labels.
    pub fn modes(&self) -> [(&'static str, LevelVersion); 3] {
        [("enforce", self.enforce), ("audit", self.audit), ("warn", self.warn)]
    }
}

/// The policy that labels ask for, where they are silent that of the defaults. There is
/// always one: what cannot be read enforces the strictest level and neither audits nor
/// warns, and the errors say what it was.
pub fn compute_policy<'a>(label: impl Fn(&str) -> Option<&'a str>, defaults: &Policy) -> (Policy, ErrorList) {
    let mut policy = *defaults;
    let mut errors = ErrorList::new();
    let read = |mode: &str, into: &mut LevelVersion, otherwise: Level, errors: &mut ErrorList| {
        let level_key = format!("{PREFIX}{mode}");
        let level = label(&level_key);
        let mut is_level = false;
        if let Some(text) = level {
            match Level::parse(text) {
                Ok(level) => (into.level, is_level) = (level, true),
                Err(why) => {
                    into.level = otherwise;
                    errors.push(bad_label(&level_key, text, why));
                }
            }
        }
        let version_key = format!("{level_key}-version");
        let version = label(&version_key);
        if let Some(text) = version {
            into.version = Version::parse(text).unwrap_or_else(|why| {
                errors.push(bad_label(&version_key, text, why));
                Version::Latest
            });
        }
        Found { level: level.is_some(), is_level, version: version.is_some() }
    };
    let enforce = read("enforce", &mut policy.enforce, Level::Restricted, &mut errors);
    read("audit", &mut policy.audit, Level::Privileged, &mut errors);
    let warn = read("warn", &mut policy.warn, Level::Privileged, &mut errors);
    // Who enforces a level and says nothing of warnings is warned of it about templates too.
    if !warn.level && enforce.is_level && policy.enforce.level > policy.warn.level {
        policy.warn.level = policy.enforce.level;
        if !warn.version {
            policy.warn.version = policy.enforce.version;
        }
    }
    (policy, errors)
}

/// Which labels of a mode were there.
struct Found {
    level: bool,
    /// It was one that can be read.
    is_level: bool,
    version: bool,
}

fn bad_label(key: &str, value: &str, why: &str) -> Error {
    Error::invalid(&Path::new("metadata").child("labels").key(key), value, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn policy(labels: &[(&str, &str)]) -> (String, Vec<String>) {
        let labels: BTreeMap<String, &str> =
            labels.iter().map(|(key, value)| (format!("{PREFIX}{key}"), *value)).collect();
        let (policy, errors) = compute_policy(|key| labels.get(key).copied(), &Policy::default());
        let modes: Vec<String> = policy.modes().iter().map(|(_, mode)| mode.to_string()).collect();
        (modes.join(" "), errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn labels_count_before_the_defaults() {
        let check = |labels: &[(&str, &str)], expected: &str| assert_eq!(policy(labels), (expected.to_owned(), vec![]));
        check(&[], "privileged:latest privileged:latest privileged:latest");
        check(&[("enforce", "baseline")], "baseline:latest privileged:latest baseline:latest");
        check(
            &[("enforce", "baseline"), ("enforce-version", "v1.20"), ("warn-version", "v1.9")],
            "baseline:v1.20 privileged:latest baseline:v1.9",
        );
        check(
            &[("enforce", "restricted"), ("warn", "privileged"), ("audit", "baseline"), ("audit-version", "v1.999")],
            "restricted:latest baseline:v1.999 privileged:latest",
        );
        check(&[("enforce-version", "v1.0")], "privileged:v1.0 privileged:latest privileged:latest");
    }

    #[test]
    fn what_cannot_be_read_is_enforced_strictly_and_named() {
        let (modes, errors) = policy(&[("enforce", "Baseline"), ("audit", "all"), ("warn-version", "v1.05")]);
        assert_eq!(modes, "restricted:latest privileged:latest privileged:latest");
        assert_eq!(
            errors,
            [
                r#"metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "Baseline": must be one of privileged, baseline, restricted"#,
                r#"metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: "all": must be one of privileged, baseline, restricted"#,
                r#"metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "v1.05": must be "latest" or "v1.x""#,
            ]
        );
        for version in ["", "v1", "v1.", "v2.1", "1.20", "v1.+1", "v1.-1", "v1.99999999999999999999"] {
            assert_eq!(policy(&[("enforce-version", version)]).1.len(), 1, "{version:?}");
        }
    }
}
