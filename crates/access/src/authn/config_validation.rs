//! What an AuthenticationConfiguration may say, after upstream's
//! apiserver/validation/validation.go, and its expressions compiled on the way. Called
//! when the file is read at the start and whenever it changes.

use super::config::{
    AuthenticationConfiguration, ClaimMappings, ClaimValidationRule, Issuer, JwtAuthenticator,
    PrefixedClaimOrExpression, UserValidationRule,
};
use super::jwt::mapping::{Expressions, Rule, claims_environment, user_environment};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_cel::{Environment, Program, Type};
use ferry_resources::names;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// More authenticators than this would make every foreign token dear.
const AUTHENTICATORS_MAX: usize = 64;

/// The compiled expressions of each authenticator, or every mistake. `own_issuers` are
/// those of service account tokens, which no other authenticator may claim.
pub(super) fn validate(
    config: &AuthenticationConfiguration,
    own_issuers: &[String],
) -> Result<Vec<Expressions>, ErrorList> {
    let root = Path::new("jwt");
    let mut errors = ErrorList::new();
    if config.jwt.len() > AUTHENTICATORS_MAX {
        errors.push(Error::too_many(&root, config.jwt.len(), AUTHENTICATORS_MAX));
        return Err(errors);
    }
    let (mut urls, mut discovery_urls) = (BTreeSet::new(), BTreeSet::new());
    let mut compiled = Vec::new();
    for (index, authenticator) in config.jwt.iter().enumerate() {
        let path = root.index(index);
        compiled.push(validate_authenticator(authenticator, own_issuers, &path, &mut errors));
        let issuer = &authenticator.issuer;
        if !urls.insert(&issuer.url) {
            errors.push(Error::duplicate(&path.child("issuer").child("url"), issuer.url.as_str()));
        }
        if let Some(url) = issuer.discovery_url.as_ref().filter(|url| !url.is_empty())
            && !discovery_urls.insert(url)
        {
            errors.push(Error::duplicate(&path.child("issuer").child("discoveryURL"), url.as_str()));
        }
    }
    if let Some(anonymous) = &config.anonymous
        && !anonymous.enabled
        && !anonymous.conditions.is_empty()
    {
        let conditions: Vec<Value> = anonymous.conditions.iter().map(|c| json!({"path": c.path})).collect();
        let path = Path::new("anonymous").child("conditions");
        errors.push(Error::invalid(&path, conditions, "enabled should be set to true when conditions are defined"));
    }
    if errors.is_empty() { Ok(compiled) } else { Err(errors) }
}

fn validate_authenticator(
    authenticator: &JwtAuthenticator,
    own_issuers: &[String],
    path: &Path,
    errors: &mut ErrorList,
) -> Expressions {
    validate_issuer(&authenticator.issuer, own_issuers, &path.child("issuer"), errors);
    let claim_rules =
        validate_claim_rules(&authenticator.claim_validation_rules, &path.child("claimValidationRules"), errors);
    let mut expressions = Expressions { claim_rules, ..Expressions::default() };
    validate_mappings(&authenticator.claim_mappings, &path.child("claimMappings"), &mut expressions, errors);
    expressions.user_rules =
        validate_user_rules(&authenticator.user_validation_rules, &path.child("userValidationRules"), errors);
    expressions
}

fn validate_issuer(issuer: &Issuer, own_issuers: &[String], path: &Path, errors: &mut ErrorList) {
    let url_path = path.child("url");
    if issuer.url.is_empty() {
        errors.push(Error::required(&url_path, ""));
    } else {
        validate_url(&issuer.url, own_issuers, &url_path, errors);
    }
    if let Some(url) = issuer.discovery_url.as_deref().filter(|url| !url.is_empty()) {
        let path = path.child("discoveryURL");
        if !issuer.url.is_empty() && issuer.url.trim_end_matches('/') == url.trim_end_matches('/') {
            errors.push(Error::invalid(&path, url, "discoveryURL must be different from URL"));
        }
        validate_url(url, &[], &path, errors);
    }
    validate_audiences(issuer, path, errors);
    if !issuer.certificate_authority.is_empty()
        && let Err(error) = ferry_pki::certificate::parse_chain("", &issuer.certificate_authority)
    {
        let detail = match error {
            ferry_pki::Error::Certificate { reason, .. } => reason,
            other => other.to_string(),
        };
        errors.push(Error::invalid(&path.child("certificateAuthority"), "<omitted>", detail));
    }
    let egress = issuer.egress_selector_type.as_str();
    if !matches!(egress, "" | "controlplane" | "cluster") {
        let detail = "egress selector must be either controlplane or cluster";
        errors.push(Error::invalid(&path.child("egressSelectorType"), egress, detail));
    } else if !egress.is_empty() {
        // There is one network here, and nothing that selects a way into it.
        let detail = format!("oidc: egress lookup for {egress:?} is not configured");
        errors.push(Error::invalid(&path.child("egressSelectorType"), egress, detail));
    }
}

fn validate_audiences(issuer: &Issuer, path: &Path, errors: &mut ErrorList) {
    let (path, policy_path) = (path.child("audiences"), path.child("audienceMatchPolicy"));
    let policy = issuer.audience_match_policy.as_str();
    if issuer.audiences.is_empty() {
        errors.push(Error::required(&path, format!("at least one {} is required", path.as_str())));
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, audience) in issuer.audiences.iter().enumerate() {
        if audience.is_empty() {
            errors.push(Error::required(&path.index(index), ""));
        }
        if !seen.insert(audience) {
            errors.push(Error::duplicate(&path.index(index), audience.as_str()));
        }
    }
    match issuer.audiences.len() {
        1 if !matches!(policy, "" | "MatchAny") => {
            let detail = "audienceMatchPolicy must be empty or MatchAny for single audience";
            errors.push(Error::invalid(&policy_path, policy, detail));
        }
        2.. if policy != "MatchAny" => {
            let detail = "audienceMatchPolicy must be MatchAny for multiple audiences";
            errors.push(Error::invalid(&policy_path, policy, detail));
        }
        _ => {}
    }
}

fn validate_url(url: &str, own_issuers: &[String], path: &Path, errors: &mut ErrorList) {
    let mut wrong = |detail: String| errors.push(Error::invalid(path, url, detail));
    if own_issuers.iter().any(|own| own == url) {
        wrong(format!("URL must not overlap with disallowed issuers: [{}]", own_issuers.join(" ")));
    }
    // Go's reading of a URL: the fragment, then the query, then the user.
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let Some((scheme, rest)) = rest.split_once("://") else {
        wrong("URL scheme must be https".into());
        return;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    if !authority.is_empty() && format!("https://{authority}/").parse::<http::Uri>().is_err() {
        wrong(format!("parse {url:?}: invalid URL"));
        return;
    }
    if scheme != "https" {
        wrong("URL scheme must be https".into());
    }
    if authority.contains('@') {
        wrong("URL must not contain a username or password".into());
    }
    if !query.is_empty() {
        wrong("URL must not contain a query".into());
    }
    if !fragment.is_empty() {
        wrong("URL must not contain a fragment".into());
    }
}

fn validate_claim_rules(rules: &[ClaimValidationRule], path: &Path, errors: &mut ErrorList) -> Vec<Rule> {
    let (mut claims, mut expressions) = (BTreeSet::new(), BTreeSet::new());
    let mut compiled = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index);
        match (rule.claim.is_empty(), rule.expression.is_empty()) {
            (false, false) => {
                errors.push(Error::invalid(&path, rule.claim.as_str(), "claim and expression can't both be set"));
            }
            (true, true) => errors.push(Error::required(&path, "claim or expression is required")),
            (false, true) => {
                if !rule.message.is_empty() {
                    let detail = "may not be specified when claim is set";
                    errors.push(Error::invalid(&path.child("message"), rule.message.as_str(), detail));
                }
                if !claims.insert(&rule.claim) {
                    errors.push(Error::duplicate(&path.child("claim"), rule.claim.as_str()));
                }
            }
            (true, false) => {
                if !rule.required_value.is_empty() {
                    let detail = "may not be specified when expression is set";
                    errors.push(Error::invalid(&path.child("requiredValue"), rule.required_value.as_str(), detail));
                }
                let path = path.child("expression");
                if !expressions.insert(&rule.expression) {
                    errors.push(Error::duplicate(&path, rule.expression.as_str()));
                    continue;
                }
                let program = compile(claims_environment(), &rule.expression, Yields::Bool, &path, errors);
                compiled.extend(program.map(|program| Rule { program, message: rule.message.clone() }));
            }
        }
    }
    compiled
}

fn validate_user_rules(rules: &[UserValidationRule], path: &Path, errors: &mut ErrorList) -> Vec<Rule> {
    let mut seen = BTreeSet::new();
    let mut compiled = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index).child("expression");
        if rule.expression.is_empty() {
            errors.push(Error::required(&path, ""));
        } else if !seen.insert(&rule.expression) {
            errors.push(Error::duplicate(&path, rule.expression.as_str()));
        } else {
            let program = compile(user_environment(), &rule.expression, Yields::Bool, &path, errors);
            compiled.extend(program.map(|program| Rule { program, message: rule.message.clone() }));
        }
    }
    compiled
}

fn validate_mappings(mappings: &ClaimMappings, path: &Path, out: &mut Expressions, errors: &mut ErrorList) {
    out.username = validate_prefixed(&mappings.username, true, &path.child("username"), errors);
    out.groups = validate_prefixed(&mappings.groups, false, &path.child("groups"), errors);
    let uid = &mappings.uid;
    if !uid.claim.is_empty() && !uid.expression.is_empty() {
        errors.push(Error::invalid(&path.child("uid"), "", "claim and expression can't both be set"));
    } else if !uid.expression.is_empty() {
        let path = path.child("uid").child("expression");
        out.uid = compile(claims_environment(), &uid.expression, Yields::Any, &path, errors);
    }
    let mut seen = BTreeSet::new();
    for (index, mapping) in mappings.extra.iter().enumerate() {
        let path = path.child("extra").index(index);
        let (key, key_path) = (mapping.key.as_str(), path.child("key"));
        errors.extend(domain_prefixed_path(&key_path, key));
        if key != key.to_lowercase() {
            errors.push(Error::invalid(&key_path, key, "must be lowercase"));
        }
        if is_kubernetes_domain(key) {
            let detail = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
            errors.push(Error::invalid(&key_path, key, detail));
        }
        if !seen.insert(key) {
            errors.push(Error::duplicate(&key_path, key));
            continue;
        }
        let path = path.child("valueExpression");
        if mapping.value_expression.is_empty() {
            errors.push(Error::required(&path, ""));
            continue;
        }
        let program = compile(claims_environment(), &mapping.value_expression, Yields::Any, &path, errors);
        out.extra.extend(program.map(|program| (key.to_owned(), program)));
    }
    // An address that the issuer has not verified is anybody's claim.
    let uses = |program: &Program, field: &str| program.selects("claims", field);
    let verified = out.username.iter().chain(out.extra.iter().map(|(_, program)| program));
    let verified = verified.chain(out.claim_rules.iter().map(|rule| &rule.program));
    if out.username.as_ref().is_some_and(|program| uses(program, "email"))
        && !verified.into_iter().any(|program| uses(program, "email_verified"))
    {
        let path = path.child("username").child("expression");
        let detail = "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
        errors.push(Error::invalid(&path, mappings.username.expression.as_str(), detail));
    }
}

fn validate_prefixed(
    mapping: &PrefixedClaimOrExpression,
    required: bool,
    path: &Path,
    errors: &mut ErrorList,
) -> Option<Program> {
    match (mapping.claim.is_empty(), mapping.expression.is_empty()) {
        (false, false) => errors.push(Error::invalid(path, "", "claim and expression can't both be set")),
        (true, true) if required => errors.push(Error::required(path, "claim or expression is required")),
        (true, true) => {}
        (true, false) => {
            if let Some(prefix) = &mapping.prefix {
                let detail = "may not be specified when expression is set";
                errors.push(Error::invalid(&path.child("prefix"), prefix.as_str(), detail));
            }
            return compile(claims_environment(), &mapping.expression, Yields::Any, &path.child("expression"), errors);
        }
        (false, true) if mapping.prefix.is_none() => {
            let detail = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
            errors.push(Error::required(&path.child("prefix"), detail));
        }
        (false, true) => {}
    }
    None
}

/// `example.org/foo`: keys of extras belong to somebody.
fn domain_prefixed_path(path: &Path, key: &str) -> ErrorList {
    if key.is_empty() {
        return vec![Error::required(path, "")];
    }
    let Some((domain, rest)) = key.split_once('/').filter(|(domain, rest)| !domain.is_empty() && !rest.is_empty())
    else {
        return vec![Error::invalid(path, key, "must be a domain-prefixed path (such as \"acme.io/foo\")")];
    };
    let mut mistakes = names::is_dns1123_subdomain(domain);
    mistakes.extend(names::is_http_path(rest));
    mistakes.into_iter().map(|mistake| Error::invalid(path, key, mistake)).collect()
}

fn is_kubernetes_domain(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else { return false };
    ["kubernetes.io", "k8s.io"]
        .iter()
        .any(|own| domain == *own || domain.strip_suffix(own).is_some_and(|rest| rest.ends_with('.')))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Yields {
    Bool,
    /// Claims are of any type, so the value is judged when there is one.
    Any,
}

fn compile(
    environment: &Environment,
    expression: &str,
    yields: Yields,
    path: &Path,
    errors: &mut ErrorList,
) -> Option<Program> {
    match environment.compile(expression) {
        Err(why) => {
            errors.push(Error::invalid(path, expression, format!("compilation failed: {why}")));
            None
        }
        Ok(program) if yields == Yields::Bool && *program.result_type() != Type::Bool => {
            errors.push(Error::invalid(path, expression, "must evaluate to bool"));
            None
        }
        Ok(program) => Some(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(jwt: &str, expected: &[&str]) {
        let text = format!("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- {jwt}");
        let config = AuthenticationConfiguration::parse(&text).expect("well formed");
        let own = ["https://kubernetes.default.svc.cluster.local".to_owned()];
        let got: Vec<String> = match validate(&config, &own) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(got, expected, "{jwt}");
    }

    #[test]
    fn issuers_are_https_and_not_our_own() {
        let rest = "audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ''}}}";
        check(&format!("{{issuer: {{url: 'https://i.example', {rest}"), &[]);
        check(&format!("{{issuer: {{url: '', {rest}"), &["jwt[0].issuer.url: Required value"]);
        check(
            &format!("{{issuer: {{url: 'http://me:pw@i.example?x=y#z', {rest}"),
            &[
                "jwt[0].issuer.url: Invalid value: \"http://me:pw@i.example?x=y#z\": URL scheme must be https",
                "jwt[0].issuer.url: Invalid value: \"http://me:pw@i.example?x=y#z\": URL must not contain a username or password",
                "jwt[0].issuer.url: Invalid value: \"http://me:pw@i.example?x=y#z\": URL must not contain a query",
                "jwt[0].issuer.url: Invalid value: \"http://me:pw@i.example?x=y#z\": URL must not contain a fragment",
            ],
        );
        check(
            &format!("{{issuer: {{url: 'https://kubernetes.default.svc.cluster.local', {rest}"),
            &[
                "jwt[0].issuer.url: Invalid value: \"https://kubernetes.default.svc.cluster.local\": URL must not overlap with disallowed issuers: [https://kubernetes.default.svc.cluster.local]",
            ],
        );
        check(
            &format!("{{issuer: {{url: 'https://i.example', discoveryURL: 'https://i.example/', {rest}"),
            &[
                "jwt[0].issuer.discoveryURL: Invalid value: \"https://i.example/\": discoveryURL must be different from URL",
            ],
        );
    }

    #[test]
    fn audiences_and_mappings_are_judged() {
        check(
            "{issuer: {url: 'https://i.example', audiences: [a, a]}, claimMappings: {username: {claim: sub}}}",
            &[
                "jwt[0].issuer.audiences[1]: Duplicate value: \"a\"",
                "jwt[0].issuer.audienceMatchPolicy: Invalid value: \"\": audienceMatchPolicy must be MatchAny for multiple audiences",
                "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing",
            ],
        );
        let with = |mappings: &str| {
            format!("{{issuer: {{url: 'https://i.example', audiences: [a]}}, claimMappings: {{{mappings}}}}}")
        };
        check(&with(""), &["jwt[0].claimMappings.username: Required value: claim or expression is required"]);
        check(
            &with("username: {expression: 'claims.email'}"),
            &[
                "jwt[0].claimMappings.username.expression: Invalid value: \"claims.email\": claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression",
            ],
        );
        check(&with("username: {expression: 'claims.email_verified ? claims.email : claims.sub'}"), &[]);
        check(
            &with("username: {expression: 'claims.sub'}, extra: [{key: k8s.io/x, valueExpression: '\"a\"'}]"),
            &[
                "jwt[0].claimMappings.extra[0].key: Invalid value: \"k8s.io/x\": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use",
            ],
        );
    }

    #[test]
    fn rules_must_compile_to_a_decision() {
        let with = |rules: &str| {
            format!(
                "{{issuer: {{url: 'https://i.example', audiences: [a]}}, claimMappings: {{username: {{claim: sub, prefix: ''}}}}, {rules}}}"
            )
        };
        check(
            &with("claimValidationRules: [{expression: 'claims.sub'}]"),
            &["jwt[0].claimValidationRules[0].expression: Invalid value: \"claims.sub\": must evaluate to bool"],
        );
        check(
            &with("claimValidationRules: [{}]"),
            &["jwt[0].claimValidationRules[0]: Required value: claim or expression is required"],
        );
        check(&with("userValidationRules: [{expression: 'user.username.startsWith(\"x\")'}]"), &[]);
        let text = with("userValidationRules: [{expression: 'user.nothing == 1'}]");
        let config = AuthenticationConfiguration::parse(&format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- {text}"
        ))
        .expect("well formed");
        let errors = validate(&config, &[]).expect_err("no such field");
        let text = errors[0].to_string();
        assert!(text.contains("compilation failed") && text.contains("undefined field 'nothing'"), "{text}");
    }
}
