//! `create namespace`, `serviceaccount`, `quota`, `poddisruptionbudget` and `priorityclass`.

use super::Planned;
use crate::error::Result;
use crate::session::Session;
use clap::Args;
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(crate) struct NamespaceArgs {
    name: String,
}

impl NamespaceArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": self.name } });
        Ok(Planned { word: "namespace", object })
    }
}

#[derive(Args, Debug)]
pub(crate) struct ServiceAccountArgs {
    name: String,
}

impl ServiceAccountArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let object = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": self.name } });
        Ok(Planned { word: "serviceaccount", object })
    }
}

#[derive(Args, Debug)]
pub(crate) struct QuotaArgs {
    name: String,
    /// A comma-delimited set of resource=quantity pairs that define a hard limit
    #[arg(long)]
    hard: Option<String>,
    /// A comma-delimited set of quota scopes that must all match each object tracked by the quota
    #[arg(long)]
    scopes: Option<String>,
}

impl QuotaArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let mut spec = Map::new();
        let pairs = self.hard.as_deref().unwrap_or_default();
        let mut hard = Map::new();
        for pair in pairs.split(',').filter(|pair| !pair.is_empty()) {
            let Some((name, amount)) = pair.split_once('=') else {
                return Err(format!("Invalid argument syntax {pair}, expected <resource>=<value>").into());
            };
            let amount = ferry_api::quantity::canonicalize(amount).map_err(|error| error.to_string())?;
            hard.insert(name.to_owned(), amount.as_ref().into());
        }
        if !hard.is_empty() {
            spec.insert("hard".into(), Value::Object(hard));
        }
        if let Some(scopes) = &self.scopes {
            spec.insert("scopes".into(), scopes.split(',').collect::<Vec<_>>().into());
        }
        let object =
            json!({ "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": self.name }, "spec": spec });
        Ok(Planned { word: "quota", object })
    }
}

#[derive(Args, Debug)]
pub(crate) struct BudgetArgs {
    name: String,
    /// A label selector to use for this budget
    #[arg(long, required = true)]
    selector: String,
    /// The minimum number or percentage of available pods this budget requires
    #[arg(long)]
    min_available: Option<String>,
    /// The maximum number or percentage of unavailable pods this budget requires
    #[arg(long)]
    max_unavailable: Option<String>,
}

impl BudgetArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let count = |text: &String| text.parse::<i32>().map_or_else(|_| Value::from(text.as_str()), Value::from);
        let (field, amount) = match (&self.min_available, &self.max_unavailable) {
            (Some(_), Some(_)) => return Err("min-available and max-unavailable cannot be both specified".into()),
            (None, None) => return Err("one of min-available or max-unavailable must be specified".into()),
            (Some(min), None) => ("minAvailable", count(min)),
            (None, Some(max)) => ("maxUnavailable", count(max)),
        };
        let selector = ferry_api::selector::Selector::parse(&self.selector).map_err(|error| error.to_string())?;
        let mut labels = Map::new();
        for part in self.selector.split(',') {
            if let Some((key, value)) = part.split_once('=').filter(|(key, _)| !key.ends_with('!')) {
                labels.insert(key.to_owned(), value.trim_start_matches('=').into());
            }
        }
        if labels.len() != selector.requirements().len() {
            return Err("--selector of a budget takes terms of the form key=value".into());
        }
        let object = json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": { "name": self.name },
            "spec": { field: amount, "selector": { "matchLabels": labels } },
        });
        Ok(Planned { word: "poddisruptionbudgets", object })
    }
}

#[derive(Args, Debug)]
pub(crate) struct PriorityClassArgs {
    name: String,
    /// The value of this priority class
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    value: i32,
    /// Specifies whether this PriorityClass should be considered as the default priority
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    global_default: bool,
    /// An arbitrary string that usually provides guidelines on when this priority class should be used
    #[arg(long)]
    description: Option<String>,
    /// The policy for preempting pods with lower priority
    #[arg(long, default_value = "PreemptLowerPriority")]
    preemption_policy: String,
}

impl PriorityClassArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let object = json!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": { "name": self.name },
            "value": self.value,
            "globalDefault": self.global_default,
            "description": self.description.as_deref().unwrap_or_default(),
            "preemptionPolicy": self.preemption_policy,
        });
        Ok(Planned { word: "priorityclass", object })
    }
}
