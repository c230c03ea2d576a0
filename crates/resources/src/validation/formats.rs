//! The forms that the facts name with `format=`: each with the rule that judges it. The
//! walker of the marks (`marks.rs`) calls this for values that are there.

use super::domains::{is_host, validate_domain_prefixed_path, validate_fully_qualified_name};
use super::int_or_percent::{validate_at_most_100_percent, validate_int_or_percent};
use super::labels::{validate_label_selector, validate_labels};
use super::network::{validate_cidr, validate_ip, validate_port_number, validate_port_number_or_name};
use super::volumes::validate_csi_driver_name;
use crate::certificates::signer_name::validate_signer_name;
use crate::dra::naming::{validate_pool, validate_uid};
use crate::names;
use crate::pod_spec::scheduling::{validate_node_selector, validate_toleration};
use crate::pod_spec::volume::{is_iscsi_name, validate_descending_path, validate_local_path, validate_no_backsteps};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::resource_name::is_extended;
use ferry_api::schema::Format;
use serde_json::{Map, Value};

/// Reports what is wrong with a value of this form. The path is only asked for where it is
/// needed, since most values are as they should be.
pub(crate) fn judge(errors: &mut ErrorList, format: Format, value: &Value, path: impl Fn() -> Path) {
    let text = value.as_str().unwrap_or_default();
    let sentences = match format {
        Format::DnsLabel => names::is_dns1123_label(text),
        Format::DnsSubdomain => names::is_dns1123_subdomain(text),
        Format::Dns1035Label => names::dns1035_label(text, false),
        Format::QualifiedName => names::is_qualified_name(text),
        Format::LabelValue => names::is_label_value(text),
        Format::PathSegment => names::path_segment(text, false),
        Format::ConfigKey => names::is_config_map_key(text),
        Format::EnvName => names::is_env_var_name(text),
        Format::PortName => names::is_port_name(text),
        Format::HttpHeader => names::is_http_header_name(text),
        Format::ConditionReason => names::is_condition_reason(text),
        Format::Host => is_host(text),
        Format::Provisioner => names::is_qualified_name(&text.to_lowercase()),
        Format::ExtendedResource => unless(is_extended(text), "must be a valid extended resource name"),
        Format::AbsolutePath => unless(text.starts_with('/'), "must be an absolute path"),
        Format::IscsiName => unless(is_iscsi_name(text), "must be valid format"),
        other => return judge_value(errors, other, value, text, &path()),
    };
    if !sentences.is_empty() {
        super::each(errors, &path(), text, sentences);
    }
}

fn unless(is_good: bool, sentence: &str) -> Vec<String> {
    if is_good { Vec::new() } else { vec![sentence.to_owned()] }
}

fn judge_value(errors: &mut ErrorList, format: Format, value: &Value, text: &str, path: &Path) {
    match format {
        Format::Ip => drop(validate_ip(errors, text, &[], path)),
        Format::Cidr => validate_cidr(errors, text, &[], path),
        Format::DomainPath => validate_domain_prefixed_path(errors, text, path),
        Format::FullyQualifiedName => validate_fully_qualified_name(errors, text, path),
        Format::SignerName => validate_signer_name(errors, text, path),
        Format::Driver => validate_csi_driver_name(errors, text, path),
        Format::DevicePool => validate_pool(errors, text, path),
        Format::DeviceUid => validate_uid(errors, text, path),
        Format::DescendingPath => validate_descending_path(errors, text, path),
        Format::LocalPath => validate_local_path(errors, text, path),
        Format::NoBacksteps => validate_no_backsteps(errors, text, path),
        Format::Port => validate_port_number(errors, value.as_i64().unwrap_or_default(), path),
        Format::PortOrName => validate_port_number_or_name(errors, Some(value).filter(|value| !value.is_null()), path),
        Format::IntOrPercent => validate_int_or_percent(errors, Some(value), path),
        Format::PercentTo100 => validate_at_most_100_percent(errors, Some(value), path),
        Format::Labels => validate_labels(errors, value.as_object().unwrap_or(&Map::new()), path),
        Format::LabelSelector => validate_label_selector(errors, Some(value), path),
        Format::NodeSelector => validate_node_selector(errors, value, path),
        Format::Toleration => validate_toleration(errors, value, path),
        // Text forms are judged above.
        _ => errors.push(Error::internal(path, format!("{format:?} is no form of one value"))),
    }
}
