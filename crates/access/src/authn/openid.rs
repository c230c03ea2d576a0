//! The two documents by which others verify service account tokens: the issuer's
//! configuration and its key set. Served under the paths named here.

use super::token::TokenAuthority;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Value, json};

pub const CONFIGURATION_PATH: &str = "/.well-known/openid-configuration";
pub const KEYS_PATH: &str = "/openid/v1/jwks";
/// How long clients may keep either document.
pub const CACHE_CONTROL: &str = "public, max-age=3600";
pub const KEYS_CONTENT_TYPE: &str = "application/jwk-set+json";

/// `/.well-known/openid-configuration`; `external` is the API server's `host:port`.
pub fn render_configuration(tokens: &TokenAuthority, external: &str) -> Value {
    json!({
        "issuer": tokens.issuer(),
        "jwks_uri": format!("https://{external}{KEYS_PATH}"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    })
}

/// `/openid/v1/jwks`.
pub fn render_keys(tokens: &TokenAuthority) -> Value {
    let (x, y) = tokens.coordinates();
    json!({"keys": [{
        "use": "sig",
        "kty": "EC",
        "kid": tokens.key_id(),
        "crv": "P-256",
        "alg": "ES256",
        "x": BASE64URL.encode(x),
        "y": BASE64URL.encode(y),
    }]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::{Objects, authenticator};
    use crate::authn::token::Claims;
    use ferry_api::object::Meta;

    #[test]
    fn a_token_verifies_with_the_published_key() {
        let authenticator = authenticator(Objects::of(&[]));
        let token = authenticator.tokens().sign(Claims { sub: "a".into(), ..Claims::default() }).expect("signed");
        let keys: jsonwebtoken::jwk::JwkSet =
            serde_json::from_value(render_keys(authenticator.tokens())).expect("keys");
        let header = jsonwebtoken::decode_header(&token).expect("a header");
        assert_eq!(header.typ, None);
        let key = keys.find(&header.kid.expect("a key id")).expect("published");
        let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::ES256);
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        let key = jsonwebtoken::DecodingKey::from_jwk(key).expect("a key");
        let proven = jsonwebtoken::decode::<Claims>(&token, &key, &validation).expect("verified");
        assert_eq!(proven.claims.sub, "a");
        let configuration = render_configuration(authenticator.tokens(), "192.0.2.1:6443");
        assert_eq!(configuration.str_at(&["jwks_uri"]), "https://192.0.2.1:6443/openid/v1/jwks");
    }
}
