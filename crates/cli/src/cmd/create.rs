//! `kubectl create`: objects of files, and objects made of flags. A generator is a file below
//! `create/` that plans an object from its flags; this file sends it.

mod data;
mod network;
mod policy;
mod rbac;
mod workload;

use super::write::{self, Errors, ManagerFlag, WriteFlags, with_last_applied};
use crate::builder::files::{FileFlags, SourcedObject};
use crate::builder::{info_of, infos_of_files};
use crate::error::{CliError, Result};
use crate::session::Session;
use clap::{Args, Subcommand};
use ferry_api::gvk::GroupVersion;
use serde_json::Value;

/// Create a resource from a file or from stdin
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = false, subcommand_negates_reqs = true)]
pub(crate) struct CreateArgs {
    #[command(subcommand)]
    pub generator: Option<Generator>,
    #[command(flatten)]
    pub files: FileFlags,
    #[command(flatten)]
    pub common: CreateFlags,
}

impl CreateArgs {
    /// A binding's `--user` is a subject, and not the kubeconfig's user.
    pub(crate) fn names_subjects(&self) -> bool {
        matches!(self.generator, Some(Generator::RoleBinding(_) | Generator::ClusterRoleBinding(_)))
    }
}

/// The flags of every `create`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CreateFlags {
    #[command(flatten)]
    pub write: WriteFlags,
    #[command(flatten)]
    pub manager: ManagerFlag,
    /// If true, the configuration of current object will be saved in its annotation
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub save_config: bool,
    /// Must be one of: strict, warn, ignore
    #[arg(long, num_args = 0..=1, default_value = "strict", default_missing_value = "strict", require_equals = true)]
    pub validate: String,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Generator {
    /// Create a cluster role
    #[command(name = "clusterrole")]
    ClusterRole(Made<rbac::ClusterRoleArgs>),
    /// Create a cluster role binding for a particular cluster role
    #[command(name = "clusterrolebinding")]
    ClusterRoleBinding(Made<rbac::ClusterRoleBindingArgs>),
    /// Create a config map from a local file, directory or literal value
    #[command(name = "configmap", alias = "cm")]
    ConfigMap(Made<data::ConfigMapArgs>),
    /// Create a cron job with the specified name
    #[command(name = "cronjob", alias = "cj")]
    CronJob(Made<workload::CronJobArgs>),
    /// Create a deployment with the specified name
    #[command(alias = "deploy")]
    Deployment(Made<workload::DeploymentArgs>),
    /// Create an ingress with the specified name
    #[command(alias = "ing")]
    Ingress(Made<network::IngressArgs>),
    /// Create a job with the specified name
    Job(Made<workload::JobArgs>),
    /// Create a namespace with the specified name
    #[command(alias = "ns")]
    Namespace(Made<policy::NamespaceArgs>),
    /// Create a pod disruption budget with the specified name
    #[command(name = "poddisruptionbudget", alias = "pdb")]
    PodDisruptionBudget(Made<policy::BudgetArgs>),
    /// Create a priority class with the specified name
    #[command(name = "priorityclass", alias = "pc")]
    PriorityClass(Made<policy::PriorityClassArgs>),
    /// Create a quota with the specified name
    #[command(alias = "resourcequota")]
    Quota(Made<policy::QuotaArgs>),
    /// Create a role with single rule
    Role(Made<rbac::RoleArgs>),
    /// Create a role binding for a particular role or cluster role
    #[command(name = "rolebinding")]
    RoleBinding(Made<rbac::RoleBindingArgs>),
    /// Create a secret using a specified subcommand
    #[command(subcommand)]
    Secret(data::SecretVerb),
    /// Create a service using a specified subcommand
    #[command(subcommand, alias = "svc")]
    Service(network::ServiceVerb),
    /// Create a service account with the specified name
    #[command(name = "serviceaccount", alias = "sa")]
    ServiceAccount(Made<policy::ServiceAccountArgs>),
    /// Request a service account token
    Token(rbac::TokenArgs),
}

/// A generator's own flags with those of every `create`.
#[derive(Args, Debug)]
pub(crate) struct Made<A: Args> {
    #[command(flatten)]
    pub own: A,
    #[command(flatten)]
    pub common: CreateFlags,
}

/// An object planned from flags, and the word by which upstream names it in errors.
pub(super) struct Planned {
    pub word: &'static str,
    pub object: Value,
}

pub(crate) async fn run(args: CreateArgs, session: &Session) -> Result<()> {
    let Some(generator) = args.generator else { return create_files(session, &args.files, &args.common).await };
    macro_rules! plan {
        ($made:expr) => {{
            let planned = $made.own.plan(session).await?;
            (planned, $made.common)
        }};
    }
    let (planned, common) = match generator {
        Generator::ClusterRole(made) => plan!(made),
        Generator::ClusterRoleBinding(made) => plan!(made),
        Generator::ConfigMap(made) => plan!(made),
        Generator::CronJob(made) => plan!(made),
        Generator::Deployment(made) => plan!(made),
        Generator::Ingress(made) => plan!(made),
        Generator::Job(made) => plan!(made),
        Generator::Namespace(made) => plan!(made),
        Generator::PodDisruptionBudget(made) => plan!(made),
        Generator::PriorityClass(made) => plan!(made),
        Generator::Quota(made) => plan!(made),
        Generator::Role(made) => plan!(made),
        Generator::RoleBinding(made) => plan!(made),
        Generator::Secret(data::SecretVerb::Generic(made)) => plan!(made),
        Generator::Secret(data::SecretVerb::Tls(made)) => plan!(made),
        Generator::Secret(data::SecretVerb::DockerRegistry(made)) => plan!(made),
        Generator::Service(network::ServiceVerb::ClusterIp(made)) => plan!(made),
        Generator::Service(network::ServiceVerb::NodePort(made)) => plan!(made),
        Generator::Service(network::ServiceVerb::LoadBalancer(made)) => plan!(made),
        Generator::Service(network::ServiceVerb::ExternalName(made)) => plan!(made),
        Generator::ServiceAccount(made) => plan!(made),
        Generator::Token(args) => return rbac::token(session, &args).await,
    };
    send(session, planned, &common).await
}

/// Creates a planned object, or prints it with `--dry-run=client`.
async fn send(session: &Session, planned: Planned, flags: &CreateFlags) -> Result<()> {
    let mut object = as_go_writes(planned.object);
    if let Some(namespace) = session.flags.namespace.as_deref() {
        let is_namespaced = session
            .discovery()
            .await?
            .of_kind(text(&object, "apiVersion"), text(&object, "kind"))
            .is_some_and(|r| r.is_namespaced);
        if is_namespaced {
            object["metadata"]["namespace"] = namespace.into();
        }
    }
    let discovery = session.discovery().await?;
    let mut info = info_of(session, discovery, SourcedObject { object: object.clone(), source: String::new() })?;
    info.object = if flags.save_config { with_last_applied(&object) } else { object };
    let mut printer = flags.write.printer()?;
    let made = match flags.write.is_client() {
        true => info.object.clone(),
        false => {
            let mut query = flags.write.query(Some(&flags.manager.name("create")));
            query.push(validation(&flags.validate)?);
            write::create(session, &info.target, &info.object, query)
                .await
                .map_err(|error| failed(error, planned.word))?
        }
    };
    printer.print(session, &info.target, &made, "created")
}

/// `error: failed to create deployment: deployments.apps "web" already exists`
fn failed(error: CliError, word: &str) -> CliError {
    match error {
        CliError::Api(status) if word == "namespace" => CliError::Api(status),
        CliError::Api(status) => CliError::Message(match word {
            "secret" => format!("failed to create secret {}", status.message),
            word => format!("failed to create {word}: {}", status.message),
        }),
        other => other,
    }
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The object as Go's structs of its kind write it: `resources: {}`, `status: {}`.
pub(super) fn as_go_writes(mut object: Value) -> Value {
    let kind = GroupVersion::parse(text(&object, "apiVersion")).with_kind(text(&object, "kind").to_owned());
    if let Some(definition) = ferry_api::schema::of_kind(&kind) {
        ferry_api::codec::normalize(&mut object, definition);
        // Upstream leaves the zero time out since 1.34.
        drop_null_times(&mut object);
    }
    object
}

fn drop_null_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| !(key == "creationTimestamp" && value.is_null()));
            map.values_mut().for_each(drop_null_times);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null_times),
        _ => {}
    }
}

pub(super) fn validation(text: &str) -> Result<(String, String)> {
    let value = match text {
        "true" | "strict" => "Strict",
        "warn" => "Warn",
        "false" | "ignore" => "Ignore",
        other => {
            return Err(format!(
                "invalid validation option {other:?}; must be one of: strict (or true), warn, ignore (or false)"
            )
            .into());
        }
    };
    Ok(("fieldValidation".into(), value.into()))
}

async fn create_files(session: &Session, files: &FileFlags, flags: &CreateFlags) -> Result<()> {
    if files.is_empty() {
        return Err("must specify one of -f and -k".into());
    }
    let infos = infos_of_files(session, files).await?;
    if infos.is_empty() {
        return Err("no objects passed to create".into());
    }
    let mut printer = flags.write.printer()?;
    let mut errors = Errors::default();
    for info in infos {
        let object = if flags.save_config { with_last_applied(&info.object) } else { info.object.clone() };
        let mut query = flags.write.query(Some(&flags.manager.name("create")));
        query.push(validation(&flags.validate)?);
        let made = match flags.write.is_client() {
            true => Ok(object),
            false => write::create(session, &info.target, &object, query).await,
        };
        match made {
            Ok(object) => printer.print(session, &info.target, &object, "created")?,
            Err(CliError::Api(status)) if status.reason != "Invalid" => {
                let about = format!("error when creating \"{}\": ", info.source);
                errors.add(session, CliError::Plain(crate::error::render_status(&status, &about)));
            }
            Err(error) => errors.add(session, error),
        }
    }
    errors.finish()
}
