//! `ferry token`: the bootstrap tokens with which machines join, as kubeadm keeps them: Secrets
//! of type bootstrap.kubernetes.io/token in kube-system. The API server takes a token until it
//! has expired, and a controller removes it then.

use crate::join::token::JoinToken;
use crate::progress::say;
use crate::status::admin_client;
use crate::{Place, daemon};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use ferry_api::view::core::v1::{Secret, SecretView};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::{DeleteParams, ListParams};
use ferry_pki::AuthorityPin;
use jiff::{SignedDuration, Timestamp};

const NAMESPACE: &str = "kube-system";
const TYPE: &str = "bootstrap.kubernetes.io/token";
const PREFIX: &str = "bootstrap-token-";
/// kubeadm's group of tokens that machines may join with.
const NODE_GROUP: &str = "system:bootstrappers:kubeadm:default-node-token";

#[derive(Subcommand)]
pub enum Verb {
    /// Make a token and print the command with which a machine joins
    Create(CreateArgs),
    /// Print the tokens, for how long they hold and what they are for
    List(Place),
    /// Delete tokens; machines that have joined stay
    Delete(DeleteArgs),
}

#[derive(Args)]
pub struct CreateArgs {
    #[command(flatten)]
    place: Place,
    /// How long it holds, as 24h, 30m or 90s; 0 for ever
    #[arg(long, default_value = "24h", value_parser = parse_ttl)]
    ttl: SignedDuration,
    /// A word on what it is for
    #[arg(long, default_value = "")]
    description: String,
    /// Print the token alone
    #[arg(long)]
    bare: bool,
}

#[derive(Args)]
pub struct DeleteArgs {
    #[command(flatten)]
    place: Place,
    /// The first six characters of the token, or the whole of it
    #[arg(required = true, value_name = "TOKEN")]
    tokens: Vec<String>,
}

pub async fn run(verb: Verb) -> Result<()> {
    match verb {
        Verb::Create(args) => create(args).await,
        Verb::List(place) => list(&place).await,
        Verb::Delete(args) => delete(args).await,
    }
}

async fn create(args: CreateArgs) -> Result<()> {
    let cluster = daemon::running_cluster(&args.place)?;
    let path = cluster.pki_dir().join("ca.crt");
    let ca = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let pin = AuthorityPin::of_pem(&ca)?;
    let token = JoinToken::generate(pin);
    let secret = render(&token, args.ttl, &args.description, Timestamp::now());
    let client = admin_client(&cluster)?;
    client.api::<Secret>(NAMESPACE).create(&secret).await.context("cannot keep the token")?;
    if args.bare {
        say(&token.render());
        return Ok(());
    }
    let server = format!("https://{}", std::net::SocketAddr::new(cluster.node_ip, cluster.api_port));
    say(&format!("ferry join {server} --token {}", token.render()));
    Ok(())
}

fn render(token: &JoinToken, ttl: SignedDuration, description: &str, now: Timestamp) -> Secret {
    let mut data = vec![
        ("token-id", token.id.clone()),
        ("token-secret", token.secret().to_owned()),
        ("usage-bootstrap-authentication", "true".to_owned()),
        ("usage-bootstrap-signing", "true".to_owned()),
        ("auth-extra-groups", NODE_GROUP.to_owned()),
    ];
    if !description.is_empty() {
        data.push(("description", description.to_owned()));
    }
    if let Ok(at) = now.checked_add(ttl)
        && ttl.is_positive()
    {
        data.push(("expiration", at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
    }
    let metadata = ObjectMeta::new().with_name(format!("{PREFIX}{}", token.id)).with_namespace(NAMESPACE);
    Secret::new()
        .with_metadata(metadata)
        .with_type(TYPE)
        .with_data(data.iter().map(|(key, value)| (*key, value.as_bytes())))
}

async fn list(place: &Place) -> Result<()> {
    let client = admin_client(&daemon::running_cluster(place)?)?;
    let params = ListParams { field_selector: Some(format!("type={TYPE}")), ..Default::default() };
    let secrets = client.api::<Secret>(NAMESPACE).list(&params).await.context("cannot list tokens")?;
    let now = Timestamp::now();
    say(&format!("{:<8} {:<10} {:<16} {}", "TOKEN", "TTL", "USAGES", "DESCRIPTION"));
    for secret in secrets.items {
        say(&render_line(secret.view(), now));
    }
    Ok(())
}

/// The secret half of a token is shown once, when it is made.
fn render_line(secret: SecretView<'_>, now: Timestamp) -> String {
    let text = |key: &str| String::from_utf8(secret.data().get(key).unwrap_or_default().decode()).unwrap_or_default();
    let ttl = match text("expiration").as_str() {
        "" => "<forever>".to_owned(),
        at => match at.parse::<Timestamp>() {
            Ok(at) if at > now => render_ttl(at.duration_since(now)),
            Ok(_) => "<expired>".to_owned(),
            Err(_) => "<invalid>".to_owned(),
        },
    };
    let usages = ["authentication", "signing"];
    let usages: Vec<&str> =
        usages.into_iter().filter(|usage| text(&format!("usage-bootstrap-{usage}")) == "true").collect();
    let line = format!("{:<8} {ttl:<10} {:<16} {}", text("token-id"), usages.join(","), text("description"));
    line.trim_end().to_owned()
}

/// As kubectl shows ages: the largest unit alone, but for hours with minutes.
fn render_ttl(left: SignedDuration) -> String {
    match left.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds => format!("{}h{}m", seconds / 3600, seconds % 3600 / 60),
    }
}

async fn delete(args: DeleteArgs) -> Result<()> {
    let client = admin_client(&daemon::running_cluster(&args.place)?)?;
    for token in &args.tokens {
        let id = token.split('.').next().unwrap_or_default();
        if id.len() != 6 || !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            bail!("{id:?} is not the beginning of a token: six lower-case letters and digits");
        }
        match client.api::<Secret>(NAMESPACE).delete(&format!("{PREFIX}{id}"), &DeleteParams::default()).await {
            Err(error) if error.is_not_found() => {
                bail!("there is no token {id:?}; `ferry token list` shows those there are")
            }
            other => other.with_context(|| format!("cannot delete token {id:?}"))?,
        }
        say(&format!("token {id:?} is deleted; machines that have joined with it stay"));
    }
    Ok(())
}

/// Go's durations in whole units, as kubeadm's --ttl.
fn parse_ttl(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("{text:?} is not of the form 24h, 1h30m, 90s or 0");
    if text == "0" {
        return Ok(SignedDuration::ZERO);
    }
    let (mut rest, mut total) = (text, 0_i64);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = match rest[digits..].bytes().next() {
            Some(b'h') => 3600,
            Some(b'm') => 60,
            Some(b's') => 1,
            _ => return Err(wrong()),
        };
        total = number.checked_mul(unit).and_then(|seconds| total.checked_add(seconds)).ok_or_else(wrong)?;
        rest = &rest[digits + 1..];
    }
    // Beyond this a date has no four digits for its year.
    if total > 100 * 365 * 24 * 3600 || text.is_empty() {
        return Err(wrong());
    }
    Ok(SignedDuration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;

    #[test]
    fn durations_are_gos() {
        let seconds = |text: &str| parse_ttl(text).map(|ttl| ttl.as_secs()).ok();
        assert_eq!(
            [seconds("24h"), seconds("1h30m"), seconds("90s"), seconds("0")],
            [Some(86_400), Some(5400), Some(90), Some(0)]
        );
        for wrong in ["", "24", "h", "1d", "-1h", "99999999999h", "1h x"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_is_kept_as_kubeadm_keeps_it() {
        let token = JoinToken::generate("ab".repeat(32).parse().expect("a hash"));
        let now: Timestamp = "2030-01-15T10:00:00Z".parse().expect("a time");
        let secret = render(&token, SignedDuration::from_hours(24), "for b", now);
        let data = |key: &str| String::from_utf8(secret.view().data().get(key).expect(key).decode()).expect("text");
        assert_eq!(secret.view().metadata().name(), format!("bootstrap-token-{}", token.id));
        assert_eq!(data("expiration"), "2030-01-16T10:00:00Z");
        assert_eq!(data("auth-extra-groups"), NODE_GROUP);
        let line = render_line(secret.view(), now);
        assert_eq!(line, format!("{}   24h0m      authentication,signing for b", token.id));
        assert!(!line.contains(token.secret()));
        let endless = render(&token, SignedDuration::ZERO, "", now);
        assert!(endless.view().data().get("expiration").is_none());
        assert!(render_line(endless.view(), now).contains("<forever>"));
    }
}
