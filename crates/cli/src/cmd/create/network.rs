//! `create service` and `create ingress`.

use super::{Made, Planned};
use crate::error::Result;
use crate::session::Session;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

#[derive(Subcommand, Debug)]
pub(crate) enum ServiceVerb {
    /// Create a ClusterIP service
    #[command(name = "clusterip")]
    ClusterIp(Made<ClusterIpArgs>),
    /// Create a NodePort service
    #[command(name = "nodeport")]
    NodePort(Made<NodePortArgs>),
    /// Create a LoadBalancer service
    #[command(name = "loadbalancer")]
    LoadBalancer(Made<LoadBalancerArgs>),
    /// Create an ExternalName service
    #[command(name = "externalname")]
    ExternalName(Made<ExternalNameArgs>),
}

#[derive(Args, Debug)]
pub(crate) struct TcpFlag {
    /// Port pairs can be specified as '<port>:<targetPort>'
    #[arg(long, value_delimiter = ',')]
    tcp: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ClusterIpArgs {
    name: String,
    #[command(flatten)]
    ports: TcpFlag,
    /// Assign your own ClusterIP or set to 'None' for a 'headless' service
    #[arg(long)]
    clusterip: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct NodePortArgs {
    name: String,
    #[command(flatten)]
    ports: TcpFlag,
    /// Port used to expose the service on each node in a cluster
    #[arg(long, default_value_t = 0)]
    node_port: u16,
}

#[derive(Args, Debug)]
pub(crate) struct LoadBalancerArgs {
    name: String,
    #[command(flatten)]
    ports: TcpFlag,
}

#[derive(Args, Debug)]
pub(crate) struct ExternalNameArgs {
    name: String,
    #[command(flatten)]
    ports: TcpFlag,
    /// External name of service
    #[arg(long, required = true)]
    external_name: String,
}

fn service(name: &str, service_type: &str, ports: &TcpFlag, node_port: u16) -> Result<Value> {
    let mut parsed = Vec::new();
    for text in &ports.tcp {
        let (port, target) = text.split_once(':').unwrap_or((text, text));
        let number: u16 = port
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| format!("invalid port {port:?}: must be between 1 and 65535, inclusive"))?;
        let target = target.parse::<u16>().map_or_else(|_| Value::from(target), Value::from);
        let mut entry =
            json!({ "name": text.replace(':', "-"), "port": number, "targetPort": target, "protocol": "TCP" });
        if node_port > 0 {
            entry["nodePort"] = node_port.into();
        }
        parsed.push(entry);
    }
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": { "type": service_type, "selector": { "app": name } },
    });
    if !parsed.is_empty() {
        object["spec"]["ports"] = parsed.into();
    }
    Ok(object)
}

const NO_PORT: &str = "at least one tcp port specifier must be provided";

impl ClusterIpArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let is_headless = self.clusterip.as_deref() == Some("None");
        if self.ports.tcp.is_empty() && !is_headless {
            return Err(NO_PORT.into());
        }
        let mut object = service(&self.name, "ClusterIP", &self.ports, 0)?;
        if let Some(address) = &self.clusterip {
            object["spec"]["clusterIP"] = address.as_str().into();
        }
        Ok(Planned { word: "ClusterIP service", object })
    }
}

impl NodePortArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        if self.ports.tcp.is_empty() {
            return Err(NO_PORT.into());
        }
        Ok(Planned { word: "NodePort service", object: service(&self.name, "NodePort", &self.ports, self.node_port)? })
    }
}

impl LoadBalancerArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        if self.ports.tcp.is_empty() {
            return Err(NO_PORT.into());
        }
        Ok(Planned { word: "LoadBalancer service", object: service(&self.name, "LoadBalancer", &self.ports, 0)? })
    }
}

impl ExternalNameArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let mut object = service(&self.name, "ExternalName", &self.ports, 0)?;
        object["spec"]["externalName"] = self.external_name.as_str().into();
        Ok(Planned { word: "ExternalName service", object })
    }
}

#[derive(Args, Debug)]
pub(crate) struct IngressArgs {
    name: String,
    /// Ingress Class to be used
    #[arg(long)]
    class: Option<String>,
    /// Rule in format host/path=service:port[,tls=secretname]
    #[arg(long)]
    rule: Vec<String>,
    /// Default service for backend, in format of svcname:port
    #[arg(long)]
    default_backend: Option<String>,
    /// Annotation to insert in the ingress object, in the format annotation=value
    #[arg(long)]
    annotation: Vec<String>,
}

impl IngressArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        if self.rule.is_empty() && self.default_backend.is_none() {
            return Err("not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)".into());
        }
        let mut spec = Map::new();
        if let Some(class) = &self.class {
            spec.insert("ingressClassName".into(), class.as_str().into());
        }
        if let Some(backend) = &self.default_backend {
            let made = backend_of(backend).ok_or("default-backend should be in format servicename:serviceport")?;
            spec.insert("defaultBackend".into(), made);
        }
        let (mut rules, mut tls): (Vec<(String, Vec<Value>)>, Vec<Value>) = (Vec::new(), Vec::new());
        for text in &self.rule {
            let rule = parse_rule(text).ok_or_else(|| {
                format!("rule {text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]")
            })?;
            match rules.iter_mut().find(|(host, _)| *host == rule.host) {
                Some((_, paths)) => paths.push(rule.path),
                None => rules.push((rule.host.clone(), vec![rule.path])),
            }
            if let Some(secret) = rule.tls {
                let mut entry = Map::new();
                if !rule.host.is_empty() {
                    entry.insert("hosts".into(), json!([rule.host]));
                }
                if !secret.is_empty() {
                    entry.insert("secretName".into(), secret.into());
                }
                tls.push(Value::Object(entry));
            }
        }
        if !rules.is_empty() {
            let rules: Vec<Value> =
                rules.into_iter().map(|(host, paths)| json!({ "host": host, "http": { "paths": paths } })).collect();
            spec.insert("rules".into(), rules.into());
        }
        if !tls.is_empty() {
            spec.insert("tls".into(), tls.into());
        }
        let mut annotations = Map::new();
        for text in &self.annotation {
            let (key, value) = text
                .split_once('=')
                .ok_or_else(|| format!("annotation {text} is invalid and should be in format key=[value]"))?;
            annotations.insert(key.to_owned(), value.into());
        }
        let object = json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": { "name": self.name, "annotations": annotations },
            "spec": spec,
        });
        Ok(Planned { word: "ingress", object })
    }
}

struct Rule {
    host: String,
    path: Value,
    tls: Option<String>,
}

/// `host/path*=service:port,tls=secret`
fn parse_rule(text: &str) -> Option<Rule> {
    let (place, rest) = text.split_once('=')?;
    let (host, path) = place.split_once('/')?;
    let (backend, tls) = match rest.split_once(',') {
        Some((backend, option)) => {
            let secret = option.strip_prefix("tls")?;
            (backend, Some(secret.strip_prefix('=').unwrap_or(secret).to_owned()))
        }
        None => (rest, None),
    };
    let (path, path_type) = match path.strip_suffix('*') {
        Some(prefix) => (prefix, "Prefix"),
        None => (path, "Exact"),
    };
    let path = json!({ "path": format!("/{path}"), "pathType": path_type, "backend": backend_of(backend)? });
    Some(Rule { host: host.to_owned(), path, tls })
}

fn backend_of(text: &str) -> Option<Value> {
    let (service, port) = text.split_once(':').filter(|(service, port)| !service.is_empty() && !port.is_empty())?;
    let port = match port.parse::<u16>() {
        Ok(number) => json!({ "number": number }),
        Err(_) => json!({ "name": port }),
    };
    Some(json!({ "service": { "name": service, "port": port } }))
}
