//! Whom proven claims make of a caller: name, groups, uid and extras, by claim or by
//! expression, and the rules that claims and user must pass. Pure; called by `issuer.rs`.

use crate::authn::config::JwtAuthenticator;
use crate::authn::user::{CREDENTIAL_ID, UserInfo};
use ferry_api::patch::go::json_kind;
use ferry_cel::{Activation, Budget, Environment, Program, StructType, Type, Value as Cel};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The expressions of one authenticator, compiled.
#[derive(Debug, Default)]
pub(crate) struct Expressions {
    pub username: Option<Program>,
    pub groups: Option<Program>,
    pub uid: Option<Program>,
    /// By the key of the extra.
    pub extra: Vec<(String, Program)>,
    pub claim_rules: Vec<Rule>,
    pub user_rules: Vec<Rule>,
}

#[derive(Debug)]
pub(crate) struct Rule {
    pub program: Program,
    pub message: String,
}

impl Expressions {
    fn need_claims(&self) -> bool {
        self.username.is_some()
            || self.groups.is_some()
            || self.uid.is_some()
            || !self.extra.is_empty()
            || !self.claim_rules.is_empty()
    }
}

/// What expressions over claims may name: `claims`.
pub(crate) fn claims_environment() -> &'static Environment {
    static CLAIMS: LazyLock<Environment> =
        LazyLock::new(|| Environment::kubernetes().with_variable("claims", Type::map(Type::String, Type::Dyn)));
    &CLAIMS
}

/// What expressions over the user may name: `user`.
pub(crate) fn user_environment() -> &'static Environment {
    static USER: LazyLock<Environment> = LazyLock::new(|| {
        let strings = || Type::list(Type::String);
        let fields = BTreeMap::from([
            ("username".to_owned(), Type::String),
            ("uid".to_owned(), Type::String),
            ("groups".to_owned(), strings()),
            ("extra".to_owned(), Type::map(Type::String, strings())),
        ]);
        let user = Type::Struct(StructType::new("kubernetes.UserInfo", fields));
        Environment::kubernetes().with_variable("user", user)
    });
    &USER
}

/// The user that the claims stand for, or why there is none.
pub(crate) fn map_claims(
    config: &JwtAuthenticator,
    expressions: &Expressions,
    claims: &Map<String, Value>,
) -> Result<UserInfo, String> {
    let escaped = if expressions.need_claims() { with_escaped_names(claims) } else { Value::Null };
    let evaluate = |program: &Program| -> Result<Value, String> {
        let activation = Activation::new().with("claims", Cel::from_json(&escaped));
        let value = program.evaluate(&activation, &mut Budget::default()).and_then(|value| value.to_json());
        value.map_err(|e| format!("expression '{}' resulted in error: {e}", program.source()))
    };
    let mut user = UserInfo {
        name: username(config, expressions, claims, &evaluate)?,
        groups: groups(config, expressions, claims, &evaluate)?,
        uid: uid(config, expressions, claims, &evaluate)?,
        ..UserInfo::default()
    };
    if let Some(Value::String(id)) = claims.get("jti")
        && !id.is_empty()
    {
        user.extra.insert(CREDENTIAL_ID.into(), vec![format!("JTI={id}")]);
    }
    for (key, program) in &expressions.extra {
        let failed = |why: &str| format!("oidc: error evaluating extra claim expression: {}: {why}", program.source());
        let values = strings(evaluate(program)?).map_err(failed)?;
        if !values.is_empty() {
            user.extra.insert(key.clone(), values);
        }
    }
    for rule in config.claim_validation_rules.iter().filter(|rule| !rule.claim.is_empty()) {
        let (claim, wanted) = (&rule.claim, &rule.required_value);
        match claims.get(claim) {
            None => return Err(format!("oidc: required claim {claim} not present in ID token")),
            Some(Value::String(got)) if got == wanted => {}
            Some(Value::String(got)) => {
                return Err(format!("oidc: required claim {claim} value does not match. Got = {got}, want = {wanted}"));
            }
            Some(other) => return Err(format!("oidc: parse claim {claim}: {}", not_a_string(other))),
        }
    }
    for rule in &expressions.claim_rules {
        let failed = |why: String| format!("oidc: error evaluating claim validation expression: {why}");
        pass(rule, evaluate(&rule.program).map_err(failed)?).map_err(failed)?;
    }
    if !expressions.user_rules.is_empty() {
        // Every field is there, so that an expression need not ask.
        let shown = json!({"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra});
        for rule in &expressions.user_rules {
            let failed = |why: String| format!("oidc: error evaluating user info validation rule: {why}");
            let activation = Activation::new().with("user", Cel::from_json(&shown));
            let value = rule.program.evaluate(&activation, &mut Budget::default()).and_then(|value| value.to_json());
            let value =
                value.map_err(|e| failed(format!("expression '{}' resulted in error: {e}", rule.program.source())))?;
            pass(rule, value).map_err(failed)?;
        }
    }
    user.add_authenticated();
    Ok(user)
}

type Evaluate<'a> = &'a dyn Fn(&Program) -> Result<Value, String>;

fn username(
    config: &JwtAuthenticator,
    expressions: &Expressions,
    claims: &Map<String, Value>,
    evaluate: Evaluate<'_>,
) -> Result<String, String> {
    if let Some(program) = &expressions.username {
        let failed = |why: String| format!("oidc: error evaluating username claim expression: {why}");
        return match evaluate(program).map_err(failed)? {
            Value::String(name) if name.is_empty() => {
                Err("oidc: empty username via CEL expression is not allowed".into())
            }
            Value::String(name) => Ok(name),
            _ => Err(failed("username claim expression must return a string".into())),
        };
    }
    let mapping = &config.claim_mappings.username;
    let claim = &mapping.claim;
    let name = string_claim(claims, claim).map_err(|why| format!("oidc: parse username claims {claim:?}: {why}"))?;
    // An address that the issuer says is not verified is nobody's name.
    if claim == "email" {
        match claims.get("email_verified") {
            None | Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => return Err("oidc: email not verified".into()),
            Some(_) => return Err("oidc: parse 'email_verified' claim: it is not a boolean".into()),
        }
    }
    Ok(format!("{}{name}", mapping.prefix.as_deref().unwrap_or_default()))
}

fn groups(
    config: &JwtAuthenticator,
    expressions: &Expressions,
    claims: &Map<String, Value>,
    evaluate: Evaluate<'_>,
) -> Result<Vec<String>, String> {
    let mapping = &config.claim_mappings.groups;
    if let Some(value) = claims.get(&mapping.claim).filter(|_| !mapping.claim.is_empty()) {
        let prefix = mapping.prefix.as_deref().unwrap_or_default();
        // Some issuers name a single group, or a role, as a plain string.
        let groups: Option<Vec<&str>> = match value {
            Value::String(one) => Some(vec![one]),
            Value::Array(many) => many.iter().map(Value::as_str).collect(),
            Value::Null => Some(Vec::new()),
            _ => None,
        };
        let groups =
            groups.ok_or_else(|| format!("oidc: parse groups claim {:?}: {}", mapping.claim, not_a_string(value)))?;
        return Ok(groups.into_iter().map(|group| format!("{prefix}{group}")).collect());
    }
    let Some(program) = &expressions.groups else { return Ok(Vec::new()) };
    let failed = |why: String| format!("oidc: error evaluating group claim expression: {why}");
    strings(evaluate(program).map_err(failed)?).map_err(|why| failed(why.into()))
}

fn uid(
    config: &JwtAuthenticator,
    expressions: &Expressions,
    claims: &Map<String, Value>,
    evaluate: Evaluate<'_>,
) -> Result<String, String> {
    let claim = &config.claim_mappings.uid.claim;
    if !claim.is_empty() {
        return string_claim(claims, claim).map_err(|why| format!("oidc: parse uid claim {claim:?}: {why}"));
    }
    let Some(program) = &expressions.uid else { return Ok(String::new()) };
    let failed = |why: String| format!("oidc: error evaluating uid claim expression: {why}");
    match evaluate(program).map_err(failed)? {
        Value::String(uid) => Ok(uid),
        _ => Err(failed("uid claim expression must return a string".into())),
    }
}

fn string_claim(claims: &Map<String, Value>, name: &str) -> Result<String, String> {
    match claims.get(name) {
        None => Err("claim not present".into()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(not_a_string(other)),
    }
}

fn not_a_string(value: &Value) -> String {
    format!("json: cannot unmarshal {} into Go value of type string", json_kind(value))
}

/// A string or a list of strings; what is empty counts as not there.
fn strings(value: Value) -> Result<Vec<String>, &'static str> {
    const WRONG: &str = "expression must return a string or a list of strings";
    let all: Vec<String> = match value {
        Value::Null => Vec::new(),
        Value::String(one) => vec![one],
        Value::Array(many) => many
            .into_iter()
            .map(|item| match item {
                Value::String(text) => Ok(text),
                _ => Err(WRONG),
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(WRONG),
    };
    Ok(all.into_iter().filter(|text| !text.is_empty()).collect())
}

fn pass(rule: &Rule, value: Value) -> Result<(), String> {
    match value {
        Value::Bool(true) => Ok(()),
        Value::Bool(false) => {
            Err(format!("validation expression '{}' failed: {}", rule.program.source(), rule.message))
        }
        _ => Err("validation expression must return a boolean".into()),
    }
}

/// Claims whose names are no identifiers can be reached by the escaped name as well.
fn with_escaped_names(claims: &Map<String, Value>) -> Value {
    fn escape(value: &Value) -> Value {
        match value {
            Value::Object(fields) => with_escaped_names(fields),
            Value::Array(items) => items.iter().map(escape).collect(),
            other => other.clone(),
        }
    }
    let mut out = Map::new();
    for (name, value) in claims {
        let value = escape(value);
        if let Some(escaped) = ferry_cel::escape(name)
            && escaped != name.as_str()
            && !claims.contains_key(&*escaped)
        {
            out.insert(escaped.into_owned(), value.clone());
        }
        out.insert(name.clone(), value);
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::config::AuthenticationConfiguration;
    use crate::authn::config_validation::validate;

    fn map(rest: &str, claims: Value) -> Result<UserInfo, String> {
        let text = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- {{issuer: {{url: 'https://i', audiences: [a]}}, {rest}}}"
        );
        let config = AuthenticationConfiguration::parse(&text).expect("well formed");
        let expressions = validate(&config, &[]).map_err(|errors| format!("{errors:?}")).expect("valid").remove(0);
        map_claims(&config.jwt[0], &expressions, claims.as_object().expect("claims"))
    }

    #[test]
    fn claims_with_prefixes_make_a_user() {
        let rest = "claimMappings: {username: {claim: sub, prefix: 'i:'}, groups: {claim: roles, prefix: 'g:'}, uid: {claim: oid}}";
        let user = map(rest, json!({"sub": "ann", "roles": ["a", "b"], "oid": "7", "jti": "x"})).expect("a user");
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("i:ann", "7"));
        assert_eq!(user.groups, ["g:a", "g:b", "system:authenticated"]);
        assert_eq!(user.extra[CREDENTIAL_ID], ["JTI=x"]);
        assert_eq!(map(rest, json!({"sub": "ann", "roles": "a", "oid": "7"})).expect("a user").groups[0], "g:a");
        assert_eq!(
            map(rest, json!({"oid": "7"})),
            Err("oidc: parse username claims \"sub\": claim not present".into())
        );
        assert!(map(rest, json!({"sub": "ann", "roles": [1], "oid": "7"})).is_err());
        let email = "claimMappings: {username: {claim: email, prefix: ''}}";
        assert_eq!(
            map(email, json!({"email": "a@b", "email_verified": false})),
            Err("oidc: email not verified".into())
        );
        assert!(map(email, json!({"email": "a@b"})).is_ok());
    }

    #[test]
    fn expressions_make_a_user() {
        let rest = "claimMappings: {username: {expression: 'claims.first + \"-\" + claims.last'}, groups: {expression: 'claims.roles.split(\",\")'}, uid: {expression: 'claims.id'}, extra: [{key: example.org/team, valueExpression: 'claims.nested.team'}, {key: example.org/none, valueExpression: '\"\"'}]}";
        let claims = json!({"first": "ann", "last": "b", "roles": "x,,y", "id": "9", "nested": {"team": ["t1", "t2"]}});
        let user = map(rest, claims).expect("a user");
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("ann-b", "9"));
        assert_eq!(user.groups, ["x", "y", "system:authenticated"]);
        assert_eq!(user.extra["example.org/team"], ["t1", "t2"]);
        assert!(!user.extra.contains_key("example.org/none"));
        let error = map(rest, json!({"first": "ann"})).expect_err("a claim is missing");
        assert!(error.contains("no such key: last"), "{error}");
        let number = "claimMappings: {username: {expression: 'claims.n'}}";
        assert_eq!(
            map(number, json!({"n": 1})),
            Err("oidc: error evaluating username claim expression: username claim expression must return a string"
                .into())
        );
        let dotted = "claimMappings: {username: {expression: 'claims.example__dot__org__slash__name'}}";
        assert_eq!(map(dotted, json!({"example.org/name": "z"})).expect("a user").name, "z");
    }

    #[test]
    fn rules_refuse_with_their_message() {
        let rest = |rules: &str| format!("claimMappings: {{username: {{claim: sub, prefix: ''}}}}, {rules}");
        let tenant = rest("claimValidationRules: [{claim: tenant, requiredValue: ours}]");
        assert!(map(&tenant, json!({"sub": "a", "tenant": "ours"})).is_ok());
        assert_eq!(
            map(&tenant, json!({"sub": "a", "tenant": "x"})),
            Err("oidc: required claim tenant value does not match. Got = x, want = ours".into())
        );
        assert_eq!(
            map(&tenant, json!({"sub": "a"})),
            Err("oidc: required claim tenant not present in ID token".into())
        );
        let short =
            rest("claimValidationRules: [{expression: 'claims.exp - claims.nbf <= 86400', message: 'too long'}]");
        assert!(map(&short, json!({"sub": "a", "exp": 100, "nbf": 1})).is_ok());
        assert_eq!(
            map(&short, json!({"sub": "a", "exp": 100_000, "nbf": 1})),
            Err("oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.nbf <= 86400' failed: too long".into())
        );
        let system =
            rest("userValidationRules: [{expression: '!user.username.startsWith(\"system:\")', message: 'reserved'}]");
        assert!(map(&system, json!({"sub": "a"})).is_ok());
        assert_eq!(
            map(&system, json!({"sub": "system:admin"})),
            Err("oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith(\"system:\")' failed: reserved".into())
        );
    }
}
