//! Marks: rules of validation that a line of facts states about its field, or about its
//! type. The parser reads them here; `checks.rs` compiles them into a plan for each type and
//! the walker of `ferry_resources::validation` reports what breaks them. OpenAPI publishes
//! none of them, because upstream publishes none.
//!
//! ```text
//! replicas 1 *int32 omitempty min=0
//! name 1 string nonempty format=dns-label
//! weight 1 int32 range=1..100:"must be in the range 1-100" even-empty
//! ```
//!
//! | mark | breaks when | error |
//! |---|---|---|
//! | `nonempty` | the value is absent, or zero where Go has no pointer | Required |
//! | `min=` `max=` `range=a..b` `positive` | a number or quantity lies outside | Invalid |
//! | `oneof` `oneof=a,b` | the text is none of the enumeration's, or of these | Unsupported |
//! | `format=` | see [`Format`] | Invalid, mostly |
//! | `max-items=` `max-bytes=` | a list or map, or a text, is larger | Too many, Too long |
//! | `unique` `unique=key` | a text, or the key of a struct, stands twice in a list | Duplicate, at the key |
//! | `unique=.key` | the same | Duplicate, at the item |
//! | `immutable` | an update changes the value | Invalid |
//!
//! A detail in quotes after a colon replaces the usual sentence. Marks of a list that speak
//! of a text or a number hold for each item. `even-empty` judges a zero value that Go cannot
//! tell from an absent one; without it such a value is passed over. `or-empty` passes over an
//! empty text of a pointer too. `unindexed` reports the items of a list at the list, `shown=`
//! names the field otherwise in paths (`.` leaves it out), `refused-as=` does so where a `single` type refuses it,
//! and `beside` lets it stand beside another. `elsewhere` leaves what is below to the
//! strategy, or to nobody where upstream judges nothing.
//!
//! Of a type: `single=a,b` with `none=` and `many=` for a struct of which exactly one of
//! these fields is set.

use std::sync::Arc;

/// The demands of the facts on one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub list: Vec<Mark>,
    pub immutable: bool,
    pub even_empty: bool,
    pub unindexed: bool,
    pub shown: Option<Arc<str>>,
    pub refused_as: Option<Arc<str>>,
    pub beside: bool,
    pub or_empty: bool,
    pub elsewhere: bool,
}

/// One rule, with the detail of its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    NonEmpty(Arc<str>),
    /// Both ends are included.
    Range {
        low: i64,
        high: i64,
        detail: Arc<str>,
    },
    Positive(Arc<str>),
    OneOf(Arc<[Arc<str>]>),
    Format(Format),
    MaxItems(usize),
    MaxBytes(usize),
    Unique {
        key: Option<Arc<str>>,
        at_key: bool,
    },
}

/// A struct of which exactly one of some fields is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Single {
    /// In the order in which they are looked for; the first that is set is the one.
    pub members: Vec<Arc<str>>,
    /// The detail where none is set.
    pub none: Arc<str>,
    /// The detail at each one beyond the first.
    pub many: Arc<str>,
}

macro_rules! formats {
    ($($name:literal => $variant:ident,)*) => {
        /// A form that a value must have; `ferry_resources::validation::formats` has the rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format { $($variant,)* }

        impl Format {
            pub const ALL: &[(&str, Format)] = &[$(($name, Format::$variant),)*];
        }
    };
}

formats! {
    // Texts.
    "dns-label" => DnsLabel,
    "dns-subdomain" => DnsSubdomain,
    "dns-1035-label" => Dns1035Label,
    "qualified-name" => QualifiedName,
    "label-value" => LabelValue,
    "path-segment" => PathSegment,
    "config-key" => ConfigKey,
    "env-name" => EnvName,
    "port-name" => PortName,
    "http-header" => HttpHeader,
    "ip" => Ip,
    "cidr" => Cidr,
    "host" => Host,
    "domain-path" => DomainPath,
    "fully-qualified-name" => FullyQualifiedName,
    "signer-name" => SignerName,
    "driver" => Driver,
    "provisioner" => Provisioner,
    "device-pool" => DevicePool,
    "device-uid" => DeviceUid,
    "extended-resource" => ExtendedResource,
    "absolute-path" => AbsolutePath,
    "descending-path" => DescendingPath,
    "local-path" => LocalPath,
    "path-without-backsteps" => NoBacksteps,
    "iscsi-name" => IscsiName,
    "condition-reason" => ConditionReason,
    // Numbers, and numbers or texts.
    "port" => Port,
    "port-or-name" => PortOrName,
    "int-or-percent" => IntOrPercent,
    "percent-to-100" => PercentTo100,
    // Maps and structs.
    "labels" => Labels,
    "label-selector" => LabelSelector,
    "node-selector" => NodeSelector,
    "toleration" => Toleration,
}

impl Marks {
    /// Reads one attribute of a field. `Ok(false)` says that it is no mark.
    pub(super) fn read(&mut self, attribute: &str, values: Option<&Arc<[Arc<str>]>>) -> Result<bool, String> {
        let (rule, detail) = match attribute.split_once(":\"") {
            Some((rule, detail)) => (rule, Some(detail.strip_suffix('"').ok_or("a detail ends with a quote")?)),
            None => (attribute, None),
        };
        let (key, value) = rule.split_once('=').unwrap_or((rule, ""));
        let mark = match key {
            "nonempty" => Mark::NonEmpty(detail.unwrap_or_default().into()),
            "min" | "max" | "range" => range(key, value, detail)?,
            "positive" => Mark::Positive(detail.unwrap_or("must be greater than zero").into()),
            "oneof" if value.is_empty() => Mark::OneOf(values.ok_or("the type has no values")?.clone()),
            "oneof" => Mark::OneOf(value.split(',').map(Arc::from).collect()),
            "format" => Mark::Format(format(value)?),
            "max-items" => Mark::MaxItems(number(value)?),
            "max-bytes" => Mark::MaxBytes(number(value)?),
            "unique" => {
                let key = value.strip_prefix('.').unwrap_or(value);
                let at_key = !key.is_empty() && key == value;
                Mark::Unique { key: Some(key).filter(|key| !key.is_empty()).map(Arc::from), at_key }
            }
            _ => return Ok(self.read_manner(key, value)),
        };
        self.list.push(mark);
        Ok(true)
    }

    /// The words that say how the marks are judged and shown.
    fn read_manner(&mut self, key: &str, value: &str) -> bool {
        match key {
            "immutable" => self.immutable = true,
            "even-empty" => self.even_empty = true,
            "unindexed" => self.unindexed = true,
            "beside" => self.beside = true,
            "or-empty" => self.or_empty = true,
            "elsewhere" => self.elsewhere = true,
            "shown" => self.shown = Some(value.into()),
            "refused-as" => self.refused_as = Some(value.into()),
            _ => return false,
        }
        true
    }
}

fn range(key: &str, value: &str, detail: Option<&str>) -> Result<Mark, String> {
    let (low, high, usual) = match key {
        "min" => (number(value)?, i64::MAX, format!("must be greater than or equal to {value}")),
        "max" => (i64::MIN, number(value)?, format!("must be less than or equal to {value}")),
        _ => {
            let (low, high) = value.split_once("..").ok_or("a range is low..high")?;
            (number(low)?, number(high)?, format!("must be between {low} and {high}, inclusive"))
        }
    };
    Ok(Mark::Range { low, high, detail: detail.map_or_else(|| usual.into(), Arc::from) })
}

fn format(name: &str) -> Result<Format, String> {
    let found = Format::ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, format)| *format).ok_or_else(|| format!("unknown format {name:?}"))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(attributes: &[&str]) -> Result<Marks, String> {
        let mut marks = Marks::default();
        for attribute in attributes {
            assert!(marks.read(attribute, None)?, "{attribute} is a mark");
        }
        Ok(marks)
    }

    #[test]
    fn marks_are_read_with_their_details() {
        let marks = read(&["min=0", "range=1..9:\"must fit\"", "oneof=,a,b", "shown=other", "even-empty"]);
        let marks = marks.expect("well formed");
        let range = |low, high, detail: &str| Mark::Range { low, high, detail: detail.into() };
        let values: Arc<[Arc<str>]> = ["", "a", "b"].map(Arc::from).into();
        assert_eq!(
            marks.list,
            [range(0, i64::MAX, "must be greater than or equal to 0"), range(1, 9, "must fit"), Mark::OneOf(values)]
        );
        assert_eq!((marks.shown.as_deref(), marks.even_empty, marks.immutable), (Some("other"), true, false));
    }

    #[test]
    fn what_is_no_mark_is_left_to_the_parser() {
        assert_eq!(Marks::default().read("omitempty", None), Ok(false));
        assert!(read(&["min=a"]).is_err() && read(&["format=none"]).is_err() && read(&["oneof"]).is_err());
    }
}
