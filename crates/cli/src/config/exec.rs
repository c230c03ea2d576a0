//! Credential plugins (client.authentication.k8s.io/v1 and v1beta1): a program that prints a
//! token or a certificate. `mod.rs` runs the one that a user's entry names.

use crate::error::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::process::{Command, Stdio};

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExecPlugin {
    pub api_version: String,
    pub args: Option<Vec<String>>,
    pub command: String,
    pub env: Option<Vec<Variable>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provide_cluster_info: Option<bool>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub(crate) struct Variable {
    pub name: String,
    pub value: String,
}

/// What a plugin may hand out.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExecCredential {
    pub token: Option<String>,
    pub client_certificate_data: Option<String>,
    pub client_key_data: Option<String>,
}

const VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/// Runs the plugin. `cluster` is passed to it where the entry asks for that.
pub(crate) fn run(plugin: &ExecPlugin, cluster: &Value) -> Result<ExecCredential> {
    if !VERSIONS.contains(&plugin.api_version.as_str()) {
        return Err(format!("exec plugin: invalid apiVersion {:?}", plugin.api_version).into());
    }
    let is_interactive = match plugin.interactive_mode.as_deref() {
        Some("Never") => false,
        Some("Always" | "IfAvailable") => std::io::IsTerminal::is_terminal(&std::io::stdin()),
        None if plugin.api_version.ends_with("/v1") => {
            return Err(
                "interactiveMode must be specified for exec plugin with apiVersion client.authentication.k8s.io/v1"
                    .into(),
            );
        }
        None => std::io::IsTerminal::is_terminal(&std::io::stdin()),
        Some(other) => return Err(format!("invalid interactiveMode for exec plugin: {other:?}").into()),
    };
    if !is_interactive && plugin.interactive_mode.as_deref() == Some("Always") {
        return Err("exec plugin cannot support interactive mode: standard input is not a terminal".into());
    }
    let mut spec = json!({ "interactive": is_interactive });
    if plugin.provide_cluster_info == Some(true) {
        spec["cluster"] = cluster.clone();
    }
    let info = json!({ "apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec });
    let mut command = Command::new(&plugin.command);
    command.args(plugin.args.iter().flatten());
    command.envs(plugin.env.iter().flatten().map(|v| (&v.name, &v.value)));
    command.env("KUBERNETES_EXEC_INFO", info.to_string());
    command.stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() }).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => not_found(plugin),
        _ => format!("getting credentials: exec: {error}"),
    })?;
    if !output.status.success() {
        let code = output.status.code().map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        return Err(format!("getting credentials: exec: executable {} failed with {code}", plugin.command).into());
    }
    read(&output.stdout, &plugin.api_version)
}

fn not_found(plugin: &ExecPlugin) -> String {
    let hint = match plugin.install_hint.as_deref() {
        None | Some("") => String::new(),
        Some(hint) => format!("\n\n{}", hint.trim()),
    };
    format!(
        "getting credentials: exec: executable {} not found\n\nIt looks like you are trying to use a client-go credential plugin that is not installed.{hint}",
        plugin.command
    )
}

fn read(output: &[u8], api_version: &str) -> Result<ExecCredential> {
    let answer: Value =
        serde_json::from_slice(output).map_err(|e| format!("getting credentials: decoding stdout: {e}"))?;
    if answer["apiVersion"] != api_version {
        return Err(format!(
            "getting credentials: exec plugin is configured to use API version {api_version}, plugin returned version {}",
            answer["apiVersion"].as_str().unwrap_or_default()
        )
        .into());
    }
    let Some(status) = answer.get("status").filter(|status| status.is_object()) else {
        return Err("getting credentials: exec plugin didn't return a status field".into());
    };
    let credential: ExecCredential =
        serde_json::from_value(status.clone()).map_err(|e| format!("getting credentials: decoding stdout: {e}"))?;
    match (&credential.client_certificate_data, &credential.client_key_data, &credential.token) {
        (Some(_), None, _) | (None, Some(_), _) => {
            Err("getting credentials: exec plugin returned only certificate or key, not both".into())
        }
        (None, None, None) => Err("getting credentials: exec plugin didn't return a token or cert/key pair".into()),
        _ => Ok(credential),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(script: &str) -> ExecPlugin {
        ExecPlugin {
            api_version: VERSIONS[0].into(),
            command: "/bin/sh".into(),
            args: Some(vec!["-c".into(), script.into()]),
            interactive_mode: Some("Never".into()),
            provide_cluster_info: Some(true),
            ..Default::default()
        }
    }

    #[test]
    fn a_plugin_gets_the_cluster_and_its_token_is_taken() {
        let script = r#"case "$KUBERNETES_EXEC_INFO" in *'"server":"https://a"'*) ;; *) exit 9;; esac
            echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'"#;
        let credential = run(&plugin(script), &json!({"server": "https://a"})).expect("a credential");
        assert_eq!(credential.token.as_deref(), Some("t"));
    }

    #[test]
    fn what_a_plugin_does_wrong_is_named() {
        let failed = run(&plugin("exit 3"), &Value::Null).expect_err("failed").render();
        assert_eq!(failed, "error: getting credentials: exec: executable /bin/sh failed with exit code 3");
        let empty = run(&plugin(r#"echo '{"apiVersion":"client.authentication.k8s.io/v1"}'"#), &Value::Null);
        assert_eq!(
            empty.expect_err("empty").render(),
            "error: getting credentials: exec plugin didn't return a status field"
        );
        let missing = ExecPlugin { command: "/nonexistent/plugin".into(), ..plugin("") };
        assert!(
            run(&missing, &Value::Null)
                .expect_err("missing")
                .render()
                .contains("executable /nonexistent/plugin not found")
        );
    }
}
