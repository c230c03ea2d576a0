//! postStart and preStop: exec, HTTP GET or sleep.

use crate::cri::Runtime;
use crate::pod;
use crate::probe::{self, http};
use ferry_api::view::core::v1::{ContainerView, LifecycleHandlerView, PodView};
use std::time::Duration;

/// HTTP hooks without an answer are given up after this.
const HTTP_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a hook to its end. The error is upstream's message for it.
pub async fn run(
    runtime: &dyn Runtime,
    pod: PodView<'_>,
    container: ContainerView<'_>,
    id: &str,
    pod_ip: &str,
    hook: LifecycleHandlerView<'_>,
) -> Result<(), String> {
    let about = format!("for Container {:?} in Pod {:?}", container.name(), pod::full_name(pod));
    if let Some(action) = hook.exec() {
        let command = action.command().to_vec();
        let text = command.join(" ");
        return match runtime.exec_sync(id, command, Duration::ZERO).await {
            Ok(output) if output.exit_code == 0 => Ok(()),
            Ok(output) => {
                let said = [output.stdout, output.stderr].concat();
                Err(format!(
                    "Exec lifecycle hook ([{text}]) {about} failed - error: command '{text}' exited with {}: {}, message: {:?}",
                    output.exit_code,
                    String::from_utf8_lossy(&said),
                    String::from_utf8_lossy(&said)
                ))
            }
            Err(error) => Err(format!("Exec lifecycle hook ([{text}]) {about} failed - error: {error}, message: \"\"")),
        };
    }
    if let Some(action) = hook.http_get() {
        let path = action.path();
        let failed = |why: String| format!("HTTP lifecycle hook ({path}) {about} failed - error: {why}");
        let url = http::target(action, container, pod_ip).map_err(failed)?;
        let answer = tokio::time::timeout(HTTP_TIMEOUT, http::get(&url, action.http_headers())).await;
        // Any answer will do: a hook tells, it does not ask.
        return match answer {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(why)) => Err(failed(format!("Get {:?}: {why}", url.text()))),
            Err(_) => Err(failed(format!("Get {:?}: context deadline exceeded", url.text()))),
        };
    }
    if let Some(action) = hook.sleep() {
        tokio::time::sleep(Duration::from_secs(u64::try_from(action.seconds()).unwrap_or(0))).await;
        return Ok(());
    }
    if let Some(action) = hook.tcp_socket() {
        // Kept by upstream for old manifests only; the port must at least be one.
        return probe::resolve_port(action.port(), container).map(drop);
    }
    Err("Cannot run handler: invalid handler".into())
}
