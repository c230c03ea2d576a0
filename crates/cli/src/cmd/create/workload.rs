//! `create deployment`, `job` and `cronjob`.

use super::Planned;
use crate::cmd::write;
use crate::error::Result;
use crate::session::Session;
use clap::Args;
use serde_json::{Value, json};

#[derive(Args, Debug)]
pub(crate) struct DeploymentArgs {
    name: String,
    /// Image names to run. A deployment can have multiple images set for multi-container pod
    #[arg(long, required = true, value_delimiter = ',')]
    image: Vec<String>,
    /// The containerPort that this deployment exposes
    #[arg(long)]
    port: Option<u16>,
    /// Number of replicas to create
    #[arg(short, long, default_value_t = 1)]
    replicas: i32,
    /// The command of the container
    #[arg(last = true)]
    command: Vec<String>,
}

impl DeploymentArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        if self.image.len() > 1 && !self.command.is_empty() {
            return Err("cannot specify multiple --image options and command".into());
        }
        let name = &self.name;
        let containers: Vec<Value> = self
            .image
            .iter()
            .map(|image| {
                let mut container = json!({ "name": container_name(image), "image": image });
                if !self.command.is_empty() {
                    container["command"] = json!(self.command);
                }
                container
            })
            .collect();
        let mut containers = containers;
        if let (Some(port), Some(first)) = (self.port, containers.first_mut()) {
            first["ports"] = json!([{ "containerPort": port }]);
        }
        let object = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": { "name": name, "labels": { "app": name } },
            "spec": {
                "replicas": self.replicas,
                "selector": { "matchLabels": { "app": name } },
                "template": { "metadata": { "labels": { "app": name } }, "spec": { "containers": containers } },
            },
        });
        Ok(Planned { word: "deployment", object })
    }
}

/// The last part of an image's name without tag and digest: `nginx` of `example/nginx:1.27`.
fn container_name(image: &str) -> String {
    let name = image.rsplit('/').next().unwrap_or(image);
    let name = name.split(['@', ':']).next().unwrap_or(name);
    let name: String = name.chars().map(|c| if matches!(c, '_' | '.') { '-' } else { c }).collect();
    name.to_lowercase()
}

#[derive(Args, Debug)]
pub(crate) struct JobArgs {
    name: String,
    /// Image name to run
    #[arg(long)]
    image: Option<String>,
    /// The name of the resource to create a Job from (only CronJob is supported)
    #[arg(long)]
    from: Option<String>,
    /// The command of the container
    #[arg(last = true)]
    command: Vec<String>,
}

impl JobArgs {
    pub(super) async fn plan(&self, session: &Session) -> Result<Planned> {
        let object = match (&self.image, &self.from) {
            (Some(image), None) => json!({
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": { "name": self.name },
                "spec": { "template": pod_template(&self.name, image, &self.command, "Never") },
            }),
            (None, Some(from)) => {
                if !self.command.is_empty() {
                    return Err("cannot specify --from and command".into());
                }
                self.of_cron_job(session, from).await?
            }
            _ => return Err("either --image or --from must be specified".into()),
        };
        Ok(Planned { word: "job", object })
    }

    async fn of_cron_job(&self, session: &Session, from: &str) -> Result<Value> {
        let discovery = session.discovery().await?;
        let found = crate::builder::targets(discovery, &[from.to_owned()], session.namespace()?)?;
        let [target] = &found[..] else { return Err("from must be an existing cronjob".into()) };
        if !target.resource.is("batch", "CronJob") {
            return Err("from must be an existing cronjob".into());
        }
        let cron_job = write::get(session, target).await?;
        let template = cron_job.pointer("/spec/jobTemplate").cloned().unwrap_or_default();
        let mut annotations = template.pointer("/metadata/annotations").cloned().unwrap_or_else(|| json!({}));
        annotations["cronjob.kubernetes.io/instantiate"] = "manual".into();
        let labels = template.pointer("/metadata/labels").cloned().unwrap_or(Value::Null);
        let owner = json!([{
            "apiVersion": "batch/v1", "kind": "CronJob", "controller": true,
            "name": cron_job.pointer("/metadata/name"), "uid": cron_job.pointer("/metadata/uid"),
        }]);
        Ok(json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": { "name": self.name, "annotations": annotations, "labels": labels, "ownerReferences": owner },
            "spec": template.get("spec"),
        }))
    }
}

fn pod_template(name: &str, image: &str, command: &[String], restart_policy: &str) -> Value {
    let mut container = json!({ "name": name, "image": image });
    if !command.is_empty() {
        container["command"] = json!(command);
    }
    json!({ "spec": { "containers": [container], "restartPolicy": restart_policy } })
}

#[derive(Args, Debug)]
pub(crate) struct CronJobArgs {
    name: String,
    /// Image name to run
    #[arg(long, required = true)]
    image: String,
    /// A schedule in the Cron format the job should be run with
    #[arg(long, required = true)]
    schedule: String,
    /// Job's restart policy: OnFailure, Never
    #[arg(long, default_value = "OnFailure")]
    restart: String,
    /// The command of the container
    #[arg(last = true)]
    command: Vec<String>,
}

impl CronJobArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let template = pod_template(&self.name, &self.image, &self.command, &self.restart);
        let object = json!({
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": { "name": self.name },
            "spec": {
                "schedule": self.schedule,
                "jobTemplate": { "metadata": { "name": self.name }, "spec": { "template": template } },
            },
        });
        Ok(Planned { word: "cronjob", object })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_container_is_named_by_its_image() {
        for (image, name) in
            [("nginx", "nginx"), ("example:5000/a/My_App.x:1@sha256:00", "my-app-x"), ("a/b@sha256:1", "b")]
        {
            assert_eq!(super::container_name(image), name);
        }
    }
}
