//! What policies add to one write, from the rules to the verdict, on one core.

use crate::report::{Better, Report};
use anyhow::{Context, Result, anyhow, ensure};
use ferry_apiserver::admission::policy::validating::ValidatingAdmissionPolicy;
use ferry_apiserver::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use ferry_apiserver::authz::Authorizer;
use ferry_apiserver::cache::Stored;
use ferry_apiserver::registry::lookup::{Change, ObjectLookup, Observer};
use ferry_apiserver::registry::{Caller, Rows};
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use std::time::Instant;

const WRITES: u32 = 50_000;

/// The objects of the example, by resource.
struct Objects(Vec<(&'static str, Arc<Stored>)>);

impl ObjectLookup for Objects {
    fn get(&self, _group: &str, plural: &str, _namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.0.iter().find(|(kind, stored)| *kind == plural && stored.name() == name).map(|(_, stored)| stored.clone())
    }

    fn list(&self, _group: &str, plural: &str, _namespace: Option<&str>) -> Vec<Arc<Stored>> {
        self.0.iter().filter(|(kind, _)| *kind == plural).map(|(_, stored)| stored.clone()).collect()
    }

    fn subscribe(&self, _group: &str, plural: &str, observer: Observer) {
        self.list("", plural, None).into_iter().for_each(|stored| observer(&Change::Put(stored)));
    }
}

fn stored(plural: &'static str, name: &str, spec: Value) -> Result<(&'static str, Arc<Stored>)> {
    let object = json!({"metadata": {"name": name, "labels": {"tier": "gold"}}, "spec": spec, "data": {"most": "5"}});
    let raw = serde_json::to_vec(&object)?;
    let key = format!("/registry/{plural}/{name}");
    Ok((plural, Arc::new(Stored::plain(key.into(), 1, &raw).context("no metadata")?)))
}

fn deployment() -> Value {
    let container = |index: usize| {
        json!({"name": format!("c{index}"), "image": format!("registry.example/app/c{index}:v1.2.3"),
            "resources": {"limits": {"memory": "128Mi", "cpu": "500m"}}})
    };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "arch": "amd64", "area": "shop"}},
        "spec": {"replicas": 3, "template": {"spec": {"containers": (0..4).map(container).collect::<Vec<_>>()}}},
    })
}

pub async fn measure(report: &mut Report) -> Result<()> {
    let rows = Arc::new(Rows::new(ferry_resources::all().to_vec()));
    let row = rows.find("apps", "v1", "deployments").context("no deployments")?;
    let caller = Caller::server();
    for (what, resource, params, expressions) in [
        ("another resource is meant", "statefulsets", false, &["object.spec.replicas <= 5"][..]),
        ("one comparison", "deployments", false, &["object.spec.replicas <= 5"]),
        (
            "labels, images and memory of four containers",
            "deployments",
            false,
            &[
                "object.metadata.labels.all(k, k.startsWith('a'))",
                "object.spec.template.spec.containers.all(c, c.image.matches('^registry\\\\.example/[a-z0-9/]+:v[0-9.]+$'))",
                "object.spec.template.spec.containers.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('1Gi')))",
            ],
        ),
        ("the user of the request", "deployments", false, &["'system:masters' in request.userInfo.groups"]),
        ("the namespace", "deployments", false, &["namespaceObject.metadata.labels['tier'] == 'gold'"]),
        ("a parameter", "deployments", true, &["object.spec.replicas <= int(params.data.most)"]),
    ] {
        let rule = json!({"operations": ["*"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": [resource]});
        let validations: Vec<Value> = expressions.iter().map(|text| json!({"expression": text})).collect();
        let mut policy = json!({"matchConstraints": {"resourceRules": [rule]}, "validations": validations});
        let mut binding = json!({"policyName": "p", "validationActions": ["Deny"]});
        if params {
            policy["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
            binding["paramRef"] = json!({"name": "limit", "parameterNotFoundAction": "Deny"});
        }
        let lookup: Arc<dyn ObjectLookup> = Arc::new(Objects(vec![
            stored("namespaces", "shop", json!({}))?,
            stored("configmaps", "limit", json!({}))?,
            stored("validatingadmissionpolicies", "p", policy)?,
            stored("validatingadmissionpolicybindings", "b", binding)?,
        ]));
        let plugin = ValidatingAdmissionPolicy::new(&Wiring {
            lookup: lookup.clone(),
            authorizer: Authorizer::new(&*lookup),
            rows: rows.clone(),
            registry: Weak::new(),
            config: Default::default(),
            metrics: Arc::default(),
        });
        let mut object = deployment();
        let mut request = AdmissionRequest::new(Operation::Create, &row, "shop", "web", "", &caller);
        request.object = Some(&mut object);
        // The first write compiles.
        plugin.validate(&request).await.map_err(|status| anyhow!(status.message))?;
        let start = Instant::now();
        for _ in 0..WRITES {
            ensure!(plugin.handles(&request), "the policy is passed over");
            plugin.validate(&request).await.map_err(|status| anyhow!(status.message))?;
        }
        let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(WRITES);
        report.add(&format!("policy: {what}"), "us", each, None, Some(10.0), Better::Lower);
    }
    Ok(())
}
