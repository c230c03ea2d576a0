//! One call of a credential provider: a request on its stdin, a response on its stdout
//! (credentialprovider.kubelet.k8s.io; upstream: ExecPlugin of pkg/credentialprovider/plugin).

use super::config::Provider;
use ferry_api::rules::duration;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

const TIMEOUT: Duration = Duration::from_secs(60);

/// What a cached response is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheKeyType {
    Image,
    Registry,
    Global,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub cache_key_type: CacheKeyType,
    /// `None` leaves it to the provider's default; zero is not cached.
    pub cache_duration: Option<Duration>,
    /// User and password by the images that they are for.
    pub auth: BTreeMap<String, (String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ResponseFile {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    kind: String,
    #[serde(default)]
    cache_key_type: String,
    cache_duration: Option<String>,
    #[serde(default)]
    auth: Option<BTreeMap<String, AuthFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuthFile {
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
}

/// The pod's right, for a provider that asks for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Token {
    pub token: String,
    pub annotations: BTreeMap<String, String>,
}

pub async fn run(bin_dir: &Path, provider: &Provider, image: &str, token: &Token) -> Result<Response, String> {
    let about = format!("error execing credential provider plugin {} for image {image}", provider.name);
    let mut command = Command::new(bin_dir.join(&provider.name));
    command.args(&provider.args).envs(provider.env.iter().map(|own| (&own.name, &own.value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("{about}: {error}: "))?;
    let request = render_request(&provider.api_version, image, token).to_string();
    if let Some(mut stdin) = child.stdin.take() {
        tokio::spawn(async move {
            // A plugin may answer without reading.
            let _ = stdin.write_all(request.as_bytes()).await;
        });
    }
    let output = match tokio::time::timeout(TIMEOUT, child.wait_with_output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("{about}: {error}: ")),
        Err(_) => return Err(format!("{about}: context deadline exceeded: ")),
    };
    if !output.status.success() {
        let how = match output.status.code() {
            Some(code) => format!("exit status {code}"),
            None => output.status.to_string(),
        };
        return Err(format!("{about}: {how}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    parse_response(&output.stdout, &provider.api_version)
}

fn render_request(api_version: &str, image: &str, token: &Token) -> Value {
    let mut request = json!({ "kind": "CredentialProviderRequest", "apiVersion": api_version, "image": image });
    if !token.token.is_empty() {
        request["serviceAccountToken"] = json!(token.token);
        if !token.annotations.is_empty() {
            request["serviceAccountAnnotations"] = json!(token.annotations);
        }
    }
    request
}

fn parse_response(bytes: &[u8], api_version: &str) -> Result<Response, String> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("error reading GVK from response: {error}"))?;
    let actual = value["apiVersion"].as_str().unwrap_or_default();
    if actual != api_version {
        return Err(format!(
            "apiVersion from credential plugin response did not match expected apiVersion:{api_version}, actual apiVersion:{actual}"
        ));
    }
    let undecodable = || "error decoding credential provider plugin response from stdout".to_owned();
    // From the text, which shows a field that stands twice.
    let file: ResponseFile = serde_json::from_slice(bytes).map_err(|_| undecodable())?;
    if file.kind != "CredentialProviderResponse" {
        return Err(undecodable());
    }
    let cache_key_type = match file.cache_key_type.as_str() {
        "Image" => CacheKeyType::Image,
        "Registry" => CacheKeyType::Registry,
        "Global" => CacheKeyType::Global,
        other => {
            return Err(format!("credential provider plugin did not return a valid cacheKeyType: {other}"));
        }
    };
    let cache_duration = file.cache_duration.as_deref().map(duration::parse).transpose().map_err(|_| undecodable())?;
    let auth = file.auth.unwrap_or_default().into_iter();
    Ok(Response {
        cache_key_type,
        cache_duration,
        auth: auth.map(|(image, own)| (image, (own.username, own.password))).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = "credentialprovider.kubelet.k8s.io/v1";

    #[test]
    fn a_response_is_held_against_the_protocol() {
        let check = |extra: &str| {
            let text = format!(r#"{{"apiVersion":"{VERSION}","kind":"CredentialProviderResponse"{extra}}}"#);
            parse_response(text.as_bytes(), VERSION)
        };
        let good =
            check(r#","cacheKeyType":"Registry","cacheDuration":"5m","auth":{"r.io":{"username":"u","password":"p"}}"#);
        let good = good.expect("a good response");
        assert_eq!(
            (good.cache_key_type, good.cache_duration),
            (CacheKeyType::Registry, Some(Duration::from_secs(300)))
        );
        assert_eq!(good.auth["r.io"], ("u".to_owned(), "p".to_owned()));
        assert!(check("").expect_err("no type").contains("valid cacheKeyType"));
        assert!(check(r#","cacheKeyType":"Image","x":1"#).expect_err("unknown").starts_with("error decoding"));
        let other = parse_response(br#"{"apiVersion":"v1","kind":"CredentialProviderResponse"}"#, VERSION);
        assert!(other.expect_err("another version").contains("actual apiVersion:v1"));
    }
}
