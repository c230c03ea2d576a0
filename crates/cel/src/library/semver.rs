//! Semantic versions, after semver.org 2.0.0.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::{Declarations, mismatch, opaque};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Opaque, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pre: Vec<Identifier>,
    build: Vec<std::string::String>,
}

/// A part of a pre-release: numbers come before words, and compare as numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(std::string::String),
}

pub(super) fn declare(d: &mut Declarations) {
    let semver = || Type::object("kubernetes.Semver");
    let two = || vec![semver(), semver()];
    for (global, is, args) in [
        ("string_to_semver", "is_semver_string", vec![String]),
        ("string_bool_to_semver", "is_semver_string_bool", vec![String, Bool]),
    ] {
        d.global("semver", global, args.clone(), semver(), |args| {
            opaque(Opaque::Semver(Arc::new(read(args)?.map_err(EvalError::new)?)))
        });
        d.global("isSemver", is, args, Bool, |args| Ok(Value::Bool(read(args)?.is_ok())));
    }
    d.member("isGreaterThan", "semver_is_greater_than", two(), Bool, |args| order(args, |o| Value::Bool(o.is_gt())));
    d.member("isLessThan", "semver_is_less_than", two(), Bool, |args| order(args, |o| Value::Bool(o.is_lt())));
    d.member("compareTo", "semver_compare_to", two(), Int, |args| order(args, |o| Value::Int(o as i64)));
    d.member("major", "semver_major", vec![semver()], Int, |args| part(args, |version| version.major));
    d.member("minor", "semver_minor", vec![semver()], Int, |args| part(args, |version| version.minor));
    d.member("patch", "semver_patch", vec![semver()], Int, |args| part(args, |version| version.patch));
}

fn read(args: &[Value<'_>]) -> Evaluated<Result<Version, std::string::String>> {
    let text = args[0].as_str().ok_or_else(EvalError::no_such_overload)?;
    let normalize = args.get(1).and_then(Value::as_bool).unwrap_or(false);
    Ok(if normalize { self::normalize(text).and_then(|text| Version::parse(&text)) } else { Version::parse(text) })
}

fn order<'v>(args: &[Value<'v>], result: fn(Ordering) -> Value<'v>) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::Opaque(Opaque::Semver(a)), Value::Opaque(Opaque::Semver(b))) => Ok(result(a.cmp(b))),
        _ => mismatch(),
    }
}

fn part<'v>(args: &[Value<'v>], part: fn(&Version) -> u64) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Opaque(Opaque::Semver(version)) => Ok(Value::Int(part(version) as i64)),
        _ => mismatch(),
    }
}

/// Drops a `v`, leading zeros, and fills in a missing minor and patch number.
fn normalize(text: &str) -> Result<std::string::String, std::string::String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<std::string::String> = text
        .splitn(3, '.')
        .map(|part| {
            if part.len() <= 1 {
                return part.to_owned();
            }
            let trimmed = part.trim_start_matches('0');
            if trimmed.starts_with(|c: char| c.is_ascii_digit()) { trimmed.to_owned() } else { format!("0{trimmed}") }
        })
        .collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".into());
    }
    parts.resize(3, "0".into());
    Ok(parts.join("."))
}

impl Version {
    pub fn parse(text: &str) -> Result<Self, std::string::String> {
        if text.is_empty() {
            return Err("Version string empty".into());
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, rest] = parts[..] else { return Err("No Major.Minor.Patch elements found".into()) };
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let mut version = Version {
            major: number(major, "major")?,
            minor: number(minor, "minor")?,
            patch: number(patch, "patch")?,
            pre: Vec::new(),
            build: Vec::new(),
        };
        for part in pre.into_iter().flat_map(|pre| pre.split('.')) {
            version.pre.push(identifier(part)?);
        }
        for part in build.into_iter().flat_map(|build| build.split('.')) {
            if part.is_empty() {
                return Err("Build meta data is empty".into());
            }
            if !part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
                return Err(format!("Invalid character(s) found in build meta data {part:?}"));
            }
            version.build.push(part.into());
        }
        Ok(version)
    }
}

fn number(text: &str, name: &str) -> Result<u64, std::string::String> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {name} number {text:?}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        let mut capital = name[..1].to_ascii_uppercase();
        capital.push_str(&name[1..]);
        return Err(format!("{capital} number must not contain leading zeroes {text:?}"));
    }
    text.parse().map_err(|_| format!("strconv.ParseUint: parsing {text:?}: value out of range"))
}

fn identifier(text: &str) -> Result<Identifier, std::string::String> {
    if text.is_empty() {
        return Err("Prerelease is empty".into());
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        if text.len() > 1 && text.starts_with('0') {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {text:?}"));
        }
        return text
            .parse()
            .map(Identifier::Number)
            .map_err(|_| format!("strconv.ParseUint: parsing {text:?}: value out of range"));
    }
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Ok(Identifier::Word(text.into()));
    }
    Err(format!("Invalid character(s) found in prerelease {text:?}"))
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Build metadata has no order. A release comes after all of its pre-releases.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| self.pre.is_empty().cmp(&other.pre.is_empty()))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (index, part) in self.pre.iter().enumerate() {
            f.write_str(if index == 0 { "-" } else { "." })?;
            match part {
                Identifier::Number(number) => number.fmt(f)?,
                Identifier::Word(word) => f.write_str(word)?,
            }
        }
        for (index, part) in self.build.iter().enumerate() {
            write!(f, "{}{part}", if index == 0 { "+" } else { "." })?;
        }
        Ok(())
    }
}
