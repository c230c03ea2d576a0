//! Who asks without showing anything, and for what they may. Called by authentication when
//! no credential was shown; what the anonymous user may do is for authorization to say.

use super::UserInfo;
use std::sync::Arc;

pub(super) struct Anonymous {
    user: Arc<UserInfo>,
    paths: Paths,
}

enum Paths {
    None,
    All,
    Only(Vec<String>),
}

impl Default for Anonymous {
    /// Health and version, which tell a stranger nothing.
    fn default() -> Self {
        let open = ["/livez", "/readyz", "/healthz", "/version", "/version/"];
        Self::with(Paths::Only(open.map(str::to_owned).into()))
    }
}

impl Anonymous {
    /// As the configuration has it; no conditions mean every path.
    pub(super) fn configured(enabled: bool, conditions: &[String]) -> Self {
        Self::with(match (enabled, conditions) {
            (false, _) => Paths::None,
            (true, []) => Paths::All,
            (true, paths) => Paths::Only(paths.to_vec()),
        })
    }

    fn with(paths: Paths) -> Self {
        Self { user: Arc::new(UserInfo::anonymous()), paths }
    }

    pub(super) fn user_for(&self, path: &str) -> Option<Arc<UserInfo>> {
        let open = match &self.paths {
            Paths::None => false,
            Paths::All => true,
            Paths::Only(paths) => paths.iter().any(|open| open == path),
        };
        open.then(|| self.user.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_name_whole_paths() {
        let check = |anonymous: &Anonymous, path: &str| anonymous.user_for(path).is_some();
        let usual = Anonymous::default();
        assert!(check(&usual, "/livez") && !check(&usual, "/livez/etcd") && !check(&usual, "/api"));
        let all = Anonymous::configured(true, &[]);
        assert!(check(&all, "/api"));
        let one = Anonymous::configured(true, &["/healthz".into()]);
        assert!(check(&one, "/healthz") && !check(&one, "/livez"));
        assert!(!check(&Anonymous::configured(false, &[]), "/healthz"));
    }
}
