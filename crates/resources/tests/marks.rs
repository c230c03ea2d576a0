//! Every mark of the facts, by itself: a value that breaks it gets exactly its error, and one
//! that keeps it does not. A new mark is tested on arrival.

use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::schema::{Field, Format, Mark, Special, Type, TypeDef, builtin, of_kind};
use ferry_resources::all;
use ferry_resources::validation::marks::{validate_kept, validate_marks};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Types that strategies judge by their marks where the walk from an object does not enter.
const JUDGED_BY_STRATEGIES: [&str; 2] = ["Volume", "PodTemplateSpec"];

/// A value that breaks the format, the detail of its error, and a value that keeps it. Where
/// a format is judged part by part the error stands below or beside the field.
fn samples(format: Format) -> (Value, &'static str, Value) {
    let text = |bad: &str, detail, good: &str| (bad.into(), detail, good.into());
    match format {
        Format::DnsLabel => text("a.b", "must not contain dots", "a-b"),
        Format::DnsSubdomain => text("A", "a lowercase RFC 1123 subdomain", "a.b"),
        Format::Dns1035Label => text("1a", "a DNS-1035 label", "a1"),
        Format::QualifiedName | Format::Provisioner => text("a/b/c", "a valid label key", "a.b/c"),
        Format::LabelValue => text("-", "a valid label must be", "a"),
        Format::PathSegment => text("a/b", "may not contain '/'", "a:b"),
        Format::ConfigKey => text("a/b", "a valid config key", "a.b"),
        Format::EnvName => text("a=b", "a valid environment variable name", "A"),
        Format::PortName => text("a--b", "must not contain consecutive hyphens", "a-b"),
        Format::HttpHeader => text("a b", "a valid HTTP header", "A-B"),
        Format::Ip => text("a", "must be a valid IP address", "10.0.0.1"),
        Format::Cidr => text("a", "must be a valid CIDR value", "10.0.0.0/8"),
        Format::Host => text("*.*", "a wildcard DNS-1123 subdomain", "*.a.b"),
        Format::DomainPath => text("a", "must be a domain-prefixed path", "a.b/c"),
        Format::FullyQualifiedName => text("a.b", "should be a domain with at least three segments", "a.b.c"),
        Format::SignerName => text("a", "must be a fully qualified domain and path", "a.b/c"),
        Format::Driver => text("a_b", "a lowercase RFC 1123 subdomain", "a.b"),
        Format::DevicePool => text("a/_", "a lowercase RFC 1123 subdomain", "a/b"),
        Format::DeviceUid => text("a", "error validating uid", "01234567-89ab-cdef-0123-456789abcdef"),
        Format::ExtendedResource => text("cpu", "must be a valid extended resource name", "a.b/c"),
        Format::AbsolutePath => text("a", "must be an absolute path", "/a"),
        Format::DescendingPath => text("/a", "must be a relative path", "a"),
        Format::LocalPath => text("..a", "must not start with '..'", "a"),
        Format::NoBacksteps => text("a/../b", "must not contain '..'", "a/b"),
        Format::ConditionReason => text("1", "a condition reason must start", "A"),
        Format::IscsiName => text("a", "must be valid format", "iqn.2015-02.example.com:test"),
        Format::Port => (70_000.into(), "must be between 1 and 65535, inclusive", 80.into()),
        Format::PortOrName => (70_000.into(), "must be between 1 and 65535, inclusive", "http".into()),
        Format::IntOrPercent => ((-1).into(), "must be greater than or equal to 0", "10%".into()),
        Format::PercentTo100 => ("101%".into(), "must not be greater than 100%", "100%".into()),
        Format::Labels => (json!({"a": "-"}), "a valid label must be", json!({"a": "b"})),
        Format::LabelSelector => (
            json!({"matchExpressions": [{"key": "a", "operator": "Odd"}]}),
            "not a valid selector operator",
            json!({"matchLabels": {"a": "b"}}),
        ),
        Format::NodeSelector => (
            json!({"nodeSelectorTerms": []}),
            "must have at least one node selector term",
            json!({"nodeSelectorTerms": [{}]}),
        ),
        Format::Toleration => {
            (json!({"operator": "Equal"}), "operator must be Exists when `key` is empty", json!({"operator": "Exists"}))
        }
    }
}

/// A value that keeps every mark of a field, without those of a struct below it.
fn good(field: &Field) -> Value {
    let marks = field.marks.as_deref().cloned().unwrap_or_default();
    let mut item = plain(match &field.ty {
        Type::List(item) => item,
        ty => ty,
    });
    for mark in &marks.list {
        match mark {
            Mark::OneOf(values) => item = values.last().map_or("", |value| value).into(),
            Mark::Format(format) => item = samples(*format).2,
            Mark::Range { low, .. } if *low > i64::MIN && !matches!(field.ty, Type::Special(_)) => {
                item = (*low).max(1).into();
            }
            _ => {}
        }
    }
    if matches!(field.ty, Type::List(_)) { json!([item]) } else { item }
}

fn plain(ty: &Type) -> Value {
    match ty {
        Type::Bool => true.into(),
        Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => 1.into(),
        Type::String | Type::Bytes => "a".into(),
        Type::List(item) => json!([plain(item)]),
        Type::Map(entry) => json!({"a": plain(entry)}),
        Type::Struct(_) => json!({}),
        Type::Special(Special::Quantity) => "1".into(),
        Type::Special(Special::Time) => "2026-01-01T00:00:00Z".into(),
        Type::Special(Special::IntOrString) => 1.into(),
        Type::Special(_) => json!({}),
    }
}

/// A value that no good value equals.
fn another(ty: &Type) -> Value {
    match ty {
        Type::Bool => false.into(),
        Type::String => "another".into(),
        Type::List(item) => json!([another(item)]),
        Type::Map(entry) => json!({"another": plain(entry)}),
        Type::Struct(of) => {
            let field = of.get().fields.iter().find(|field| !matches!(field.ty, Type::Special(_)));
            field.map_or(Value::Null, |field| json!({&*field.name: another(&field.ty)}))
        }
        Type::Special(_) => json!({"another": 1}),
        _ => 7.into(),
    }
}

/// A value that breaks the mark; `None` where the field is to be left out.
fn broken(field: &Field, mark: &Mark) -> Option<Value> {
    let is_list = matches!(field.ty, Type::List(_));
    let listed = |value: Value| if is_list { json!([value]) } else { value };
    let is_quantity = matches!(field.ty, Type::Special(Special::Quantity));
    Some(match mark {
        Mark::NonEmpty(_) => return None,
        Mark::Positive(_) | Mark::Range { low: 0, .. } if is_quantity => "-1".into(),
        Mark::Positive(_) => listed((-1).into()),
        Mark::Range { low: i64::MIN, high, .. } => listed((high + 1).into()),
        // Zero may count as absent.
        Mark::Range { low: 1, .. } => listed((-1).into()),
        Mark::Range { low, .. } => listed((low - 1).into()),
        Mark::OneOf(_) => listed("no such value".into()),
        Mark::Format(format) => listed(samples(*format).0),
        Mark::MaxBytes(most) => listed("a".repeat(most + 1).into()),
        Mark::MaxItems(most) => match &field.ty {
            Type::Map(entry) => (0..=*most).map(|n| (n.to_string(), plain(entry))).collect::<Map<_, _>>().into(),
            _ => vec![good(field)[0].clone(); most + 1].into(),
        },
        Mark::Unique { key: None, .. } => json!([good(field)[0], good(field)[0]]),
        Mark::Unique { key: Some(key), .. } => json!([{&**key: "a"}, {&**key: "a"}]),
    })
}

/// The error that the mark is to give, without its value.
fn expected(field: &Field, mark: &Mark, at: &Path) -> (String, String) {
    let marks = field.marks.as_deref().cloned().unwrap_or_default();
    let is_list = matches!(field.ty, Type::List(_));
    let item = if is_list && !marks.unindexed { at.index(0) } else { at.clone() };
    let second = |key: Option<&str>, at_key: bool| match key {
        Some(key) if at_key => at.index(1).child(key),
        _ => at.index(1),
    };
    let (path, detail) = match mark {
        Mark::NonEmpty(detail) => (at.clone(), detail.to_string()),
        Mark::Positive(detail) | Mark::Range { detail, .. } => (item, detail.to_string()),
        Mark::OneOf(_) => (item, "supported values".to_owned()),
        Mark::Format(Format::LabelSelector) => {
            (item.child("matchExpressions").index(0).child("operator"), samples(Format::LabelSelector).1.to_owned())
        }
        Mark::Format(Format::NodeSelector) => {
            (at.child("nodeSelectorTerms"), samples(Format::NodeSelector).1.to_owned())
        }
        Mark::Format(Format::Toleration) => (item.child("operator"), samples(Format::Toleration).1.to_owned()),
        Mark::Format(format) => (item, samples(*format).1.to_owned()),
        Mark::MaxItems(most) => (at.clone(), format!("must have at most {most} items")),
        Mark::MaxBytes(most) => (item, format!("may not be more than {most} bytes")),
        Mark::Unique { key, at_key } => (second(key.as_deref(), *at_key), String::new()),
    };
    (path.to_string(), detail)
}

fn is_kind_of(error: &Error, mark: &Mark) -> bool {
    use ferry_api::field::ErrorType::{Duplicate, Invalid, NotSupported, Required, TooLong, TooMany};
    match mark {
        Mark::NonEmpty(_) => error.kind == Required,
        Mark::Positive(_) | Mark::Range { .. } => error.kind == Invalid,
        Mark::OneOf(_) => error.kind == NotSupported,
        Mark::Format(_) => matches!(error.kind, Invalid | Required | NotSupported),
        Mark::MaxItems(_) => error.kind == TooMany,
        Mark::MaxBytes(_) => error.kind == TooLong,
        Mark::Unique { .. } => error.kind == Duplicate,
    }
}

/// A value of the type with every marked field as it should be.
fn whole(definition: &TypeDef, but: &Field) -> Map<String, Value> {
    let is_member =
        |field: &Field| definition.single.as_ref().is_some_and(|single| single.members.contains(&field.name));
    let marked = definition.fields.iter().filter(|field| field.marks.is_some() && !is_member(field));
    let mut value: Map<String, Value> = marked.map(|field| (field.name.to_string(), good(field))).collect();
    value.insert(but.name.to_string(), good(but));
    value
}

fn errors(definition: &TypeDef, value: Map<String, Value>) -> ErrorList {
    let mut errors = ErrorList::new();
    validate_marks(&mut errors, definition, &value.into(), &Path::new("at"));
    errors
}

fn marked_fields() -> impl Iterator<Item = (&'static TypeDef, &'static Field)> {
    builtin().iter().flat_map(|definition| {
        definition.fields.iter().filter(|field| field.marks.is_some()).map(|field| (&**definition, field))
    })
}

#[test]
fn every_mark_reports_what_breaks_it_and_nothing_else() {
    let mut count = 0;
    for (definition, field) in marked_fields() {
        let marks = field.marks.as_deref().cloned().unwrap_or_default();
        let path = match marks.shown.as_deref() {
            Some(".") => Path::new("at"),
            shown => Path::new("at").child(shown.unwrap_or(&field.name)),
        };
        for mark in &marks.list {
            count += 1;
            let what = format!("{}.{}.{} {mark:?}", definition.package, definition.name, field.name);
            let (at, detail) = expected(field, mark, &path);
            let is_it = |error: &&Error| error.field == at && is_kind_of(error, mark) && error.detail.contains(&detail);
            let kept = whole(definition, field);
            let found = errors(definition, kept.clone());
            assert_eq!(found.iter().find(is_it), None, "{what}: a good value");
            let mut value = kept;
            match broken(field, mark) {
                Some(bad) => value.insert(field.name.to_string(), bad),
                None => value.remove(&*field.name),
            };
            let found = errors(definition, value);
            assert_eq!(found.iter().filter(is_it).count(), 1, "{what}: {found:?}");
        }
    }
    assert!(count > 400, "{count} marks");
}

#[test]
fn what_is_immutable_is_kept() {
    let mut count = 0;
    for (definition, field) in marked_fields().filter(|(_, field)| field.marks.as_ref().is_some_and(|m| m.immutable)) {
        count += 1;
        let old = Value::from(whole(definition, field));
        let mut new = old.clone();
        new[&*field.name] = another(&field.ty);
        let mut found = ErrorList::new();
        validate_kept(&mut found, definition, &old, &old, &Path::new("at"));
        assert_eq!(found, [], "{}.{}", definition.name, field.name);
        validate_kept(&mut found, definition, &new, &old, &Path::new("at"));
        let marks = field.marks.as_deref().cloned().unwrap_or_default();
        let path = Path::new("at").child(marks.shown.as_deref().unwrap_or(&field.name));
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        let shown = another(&field.ty);
        assert_eq!(texts, [format!("{path}: Invalid value: {shown}: field is immutable")]);
    }
    assert!(count > 10, "{count} immutable fields");
}

/// A mark on a type that no walk enters would be a rule that nobody keeps.
#[test]
fn every_marked_type_is_judged_somewhere() {
    fn enter(definition: &TypeDef, seen: &mut HashSet<(String, String)>) {
        if !seen.insert((definition.package.to_string(), definition.name.to_string())) {
            return;
        }
        let plan = definition.checks();
        let members = plan.single.iter().flat_map(|single| single.members.iter());
        for (_, of) in plan.fields.iter().chain(members).filter_map(|field| field.below.as_ref()) {
            enter(of.get(), seen);
        }
    }
    let mut seen = HashSet::new();
    for row in all().iter().filter(|row| row.is_stored()) {
        if let Some(schema) = of_kind(&row.stored_as) {
            enter(schema, &mut seen);
        }
    }
    for name in JUDGED_BY_STRATEGIES {
        enter(builtin().get("core/v1", name).expect("the type is there"), &mut seen);
    }
    // A type that embeds another struct has its fields, and is entered itself.
    let embedded = |definition: &TypeDef| {
        builtin().iter().any(|other| {
            other.fields.iter().any(|field| {
                let last = field.embedded_name.as_deref().and_then(|name| name.rsplit('.').next());
                last == Some(&*definition.name)
            })
        })
    };
    let missed: HashSet<String> = marked_fields()
        .filter(|(definition, field)| field.declared_in == definition.package)
        .map(|(definition, _)| definition)
        .filter(|definition| !seen.contains(&(definition.package.to_string(), definition.name.to_string())))
        .filter(|definition| !embedded(definition))
        .map(|definition| format!("{}.{}", definition.package, definition.name))
        .collect();
    assert_eq!(missed, HashSet::new());
}
