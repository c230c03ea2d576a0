//! Takes over certificates and configurations that changed on disk, without a restart.
//! What cannot be read or is not valid changes nothing: the server goes on as it was, says
//! so in its log and counts it. Started once with the server.

mod file_watch;

use crate::ServerState;
use file_watch::FileWatch;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ClientCa,
    FrontProxyCa,
    Authentication,
    Authorization,
    Encryption,
}

/// Ends with the server.
pub(crate) fn start(server: &Arc<ServerState>) {
    let options = &server.config.authentication.options;
    let named = [
        (Kind::ClientCa, &options.client_ca_file),
        (Kind::FrontProxyCa, &options.front_proxy_ca_file),
        (Kind::Authentication, &options.config_file),
        (Kind::Authorization, &server.config.authorization_config),
    ];
    let encryption = server.registry.encryption.files().iter().map(|file| (Kind::Encryption, file.clone()));
    let named = named.into_iter().filter_map(|(kind, file)| Some((kind, file.clone()?)));
    let (kinds, files): (Vec<Kind>, Vec<PathBuf>) = named.chain(encryption).unzip();
    if files.is_empty() {
        return;
    }
    let mut watch = match FileWatch::new(&files) {
        Ok(watch) => watch,
        Err(error) => {
            tracing::warn!(%error, "configuration files cannot be watched; changes need a restart");
            return;
        }
    };
    let mut stopped = server.stop.subscribe();
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        loop {
            let changed = tokio::select! {
                changed = watch.changed() => changed,
                // An error means that the server is gone.
                _ = stopped.wait_for(|stop| *stop) => return,
            };
            let Some(server) = server.upgrade() else { return };
            for (index, text) in changed {
                apply(&server, kinds[index], &files[index], text);
            }
        }
    });
}

fn apply(server: &Arc<ServerState>, kind: Kind, file: &std::path::Path, text: String) {
    let authenticator = &server.authenticator;
    let outcome = match kind {
        Kind::ClientCa => authenticator.set_client_ca(&text).map_err(|e| e.to_string()),
        Kind::FrontProxyCa => authenticator.set_front_proxy_ca(&text).map_err(|e| e.to_string()),
        Kind::Authorization => server.authorizer.reload(&text),
        Kind::Encryption => {
            // Its KMS plugins are waited for.
            let (server, file) = (Arc::clone(server), file.to_owned());
            tokio::spawn(async move {
                let outcome = server.registry.encryption.reload().await;
                tell(&server, kind, &file, outcome);
            });
            return;
        }
        Kind::Authentication => {
            // Its issuers are waited for, and nothing else should wait with it.
            let (server, file) = (Arc::clone(server), file.to_owned());
            tokio::spawn(async move {
                let outcome = server.authenticator.reload(&text).await;
                tell(&server, kind, &file, outcome);
            });
            return;
        }
    };
    tell(server, kind, file, outcome);
}

fn tell(server: &ServerState, kind: Kind, file: &std::path::Path, outcome: Result<(), String>) {
    let status = if outcome.is_ok() { "success" } else { "failure" };
    match outcome {
        Ok(()) => tracing::info!(file = %file.display(), ?kind, "a changed file was taken over"),
        Err(why) => tracing::error!(file = %file.display(), ?kind, why, "a changed file is not taken over"),
    }
    let (name, help) = match kind {
        Kind::Authentication => (
            "apiserver_authentication_config_controller_automatic_reloads_total",
            "Total number of automatic reloads of authentication configuration split by status.",
        ),
        Kind::Authorization => (
            "apiserver_authorization_config_controller_automatic_reloads_total",
            "Total number of automatic reloads of authorization configuration split by status.",
        ),
        Kind::Encryption => (
            "apiserver_encryption_config_controller_automatic_reloads_total",
            "Total number of reload successes and failures of encryption configuration split by apiserver identity.",
        ),
        Kind::ClientCa | Kind::FrontProxyCa => return,
    };
    server.authorizer.counters().count(name, help, &[("status", status)]);
}
