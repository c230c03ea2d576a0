//! Exec probes: a command in the container, judged by its exit code.

use super::Answer;
use crate::container::expand::expand;
use crate::cri::Runtime;
use ferry_api::rules::duration;
use ferry_api::view::core::v1::{ContainerView, ExecActionView};
use std::time::Duration;

/// What of the output goes into an event.
const MAX_OUTPUT: usize = 10 * 1024;

/// `$(NAME)` is replaced only from variables whose value stands in the spec.
pub(super) fn command(action: ExecActionView<'_>, container: ContainerView<'_>) -> Vec<String> {
    let lookup = |name: &str| {
        let variable = container.env().iter().find(|variable| variable.name() == name)?;
        variable.value_from().is_none().then(|| variable.value_().to_owned())
    };
    action.command().iter().map(|word| expand(word, lookup)).collect()
}

pub(super) async fn probe(runtime: &dyn Runtime, id: &str, command: Vec<String>, timeout: Duration) -> Answer {
    let text = command.join(" ");
    match runtime.exec_sync(id, command, timeout).await {
        Ok(output) if output.exit_code == 0 => Answer::Success,
        Ok(output) => {
            let mut bytes = output.stdout;
            bytes.extend(output.stderr);
            bytes.truncate(MAX_OUTPUT);
            Answer::Failure(String::from_utf8_lossy(&bytes).into_owned())
        }
        Err(error) if error.is_timeout() => {
            Answer::Failure(format!("command timed out: {text:?} timed out after {}", duration::format(timeout)))
        }
        Err(error) => Answer::Error(error.to_string()),
    }
}
