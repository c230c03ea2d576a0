//! Static tokens from a CSV file: `token,user,uid,"group1,group2"`. Read once at the start,
//! as upstream reads it; called for every bearer token when there is such a file.

use super::UserInfo;
use super::certificate::sha256;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The users by the digest of their token, so that finding one takes the same time
/// however much of a guess is right.
#[derive(Default)]
pub(super) struct StaticTokens(HashMap<[u8; 32], Arc<UserInfo>>);

impl StaticTokens {
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| format!("--token-auth-file: open {name}: {e}"))?;
        Self::parse(&name, &text).map_err(|why| format!("--token-auth-file: {why}"))
    }

    fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut users = HashMap::new();
        for (number, record) in records(text).into_iter().enumerate() {
            let record = record.map_err(|why| format!("{name}: record {}: {why}", number + 1))?;
            let [token, user, uid, rest @ ..] = record.as_slice() else {
                return Err(format!(
                    "token file '{name}' must have at least 3 columns (token, user name, user uid), found {}",
                    record.len()
                ));
            };
            if token.is_empty() {
                tracing::warn!("empty token has been found in token file '{name}', record number '{}'", number + 1);
                continue;
            }
            let groups = rest.first().map(|groups| groups.split(',').map(str::to_owned).collect()).unwrap_or_default();
            let mut user = UserInfo { name: user.clone(), uid: uid.clone(), groups, ..UserInfo::default() };
            user.add_authenticated();
            if users.insert(sha256(token.as_bytes()), Arc::new(user)).is_some() {
                tracing::warn!("duplicate token has been found in token file '{name}', record number '{}'", number + 1);
            }
        }
        Ok(Self(users))
    }

    pub(super) fn find(&self, token: &str) -> Option<Arc<UserInfo>> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&sha256(token.as_bytes())).cloned()
    }
}

/// The records of a CSV text: fields in quotes may hold commas, line breaks and doubled quotes.
fn records(text: &str) -> Vec<Result<Vec<String>, String>> {
    let mut out = Vec::new();
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            '\r' if !quoted && characters.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                if !(fields.is_empty() && field.is_empty()) {
                    fields.push(std::mem::take(&mut field));
                    out.push(Ok(std::mem::take(&mut fields)));
                }
            }
            other => field.push(other),
        }
    }
    if quoted {
        out.push(Err("extraneous or missing \" in quoted-field".into()));
    } else if !(fields.is_empty() && field.is_empty()) {
        fields.push(field);
        out.push(Ok(fields));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_user_uid_and_groups() {
        let text = "t1,alice,1,\"dev,ops\"\n\nt2,bob,2\r\n,nobody,3\nt3,\"c \"\"x\"\" d\",4,one";
        let tokens = StaticTokens::parse("f", text).expect("read");
        let user = tokens.find("t1").expect("known");
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("alice", "1"));
        assert_eq!(user.groups, ["dev", "ops", "system:authenticated"]);
        assert_eq!(tokens.find("t2").expect("known").groups, ["system:authenticated"]);
        assert_eq!(tokens.find("t3").expect("known").name, "c \"x\" d");
        assert!(tokens.find("").is_none() && tokens.find("t4").is_none());
    }

    #[test]
    fn a_bad_file_says_what_is_missing() {
        assert_eq!(
            StaticTokens::parse("f", "t,alice").err().as_deref(),
            Some("token file 'f' must have at least 3 columns (token, user name, user uid), found 2")
        );
        assert!(StaticTokens::parse("f", "t,\"alice").is_err());
    }
}
