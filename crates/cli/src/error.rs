//! Errors of a command, in kubectl's words. `lib.rs` prints them and takes the exit code.

use ferry_api::status::Status;
use std::fmt::Write;

#[derive(Debug)]
pub(crate) enum CliError {
    /// `error: …`
    Message(String),
    /// As it stands, without `error: ` before it.
    Plain(String),
    /// The API server's refusal.
    Api(Box<Status>),
    /// A mistake in flags or arguments of the named command.
    Usage { message: String, command: String },
    /// Everything has been printed.
    Exit(u8),
}

pub(crate) type Result<T> = std::result::Result<T, CliError>;

impl CliError {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Exit(code) => *code,
            _ => 1,
        }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Api(status) if status.is_not_found())
    }

    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Api(status) if status.is_conflict())
    }

    pub(crate) fn status(&self) -> Option<&Status> {
        match self {
            Self::Api(status) => Some(status),
            _ => None,
        }
    }

    /// The lines for standard error, without the last line's end.
    pub(crate) fn render(&self) -> String {
        match self {
            Self::Message(message) => format!("error: {message}"),
            Self::Plain(message) => message.clone(),
            Self::Api(status) => render_status(status, ""),
            Self::Usage { message, command } => format!("error: {message}\nSee '{command} --help' for usage."),
            Self::Exit(_) => String::new(),
        }
    }
}

/// A Status as kubectl words it (kubectl/pkg/cmd/util StandardErrorMessage, checkErr). `about`
/// is put before the server's message: `error when creating "web.yaml": `.
pub(crate) fn render_status(status: &Status, about: &str) -> String {
    if status.reason == "Invalid" {
        return render_invalid(status);
    }
    if status.code == 401 && about.is_empty() {
        return format!("error: You must be logged in to the server ({})", status.message);
    }
    let message = &status.message;
    match status.reason.as_str() {
        "" | "Unknown" => format!("Error from server: {about}{message}"),
        reason => format!("Error from server ({reason}): {about}{message}"),
    }
}

fn render_invalid(status: &Status) -> String {
    let Some(details) = &status.details else {
        return format!("The request is invalid: {}", status.message);
    };
    let subject = match (details.kind.as_str(), details.name.as_str()) {
        ("", _) => "The request is invalid".to_owned(),
        (kind, "") => format!("The {kind} is invalid"),
        (kind, name) => format!("The {kind} \"{name}\" is invalid"),
    };
    match &details.causes[..] {
        [] if details.kind.is_empty() => format!("{subject}: {}", status.message),
        [] => subject,
        causes => {
            let line = |field: &str, message: &str| match field {
                "" => message.to_owned(),
                field => format!("{field}: {message}"),
            };
            if let [only] = causes {
                return format!("{subject}: {}", line(&only.field, &only.message));
            }
            let mut out = format!("{subject}: ");
            for cause in causes {
                let _ = write!(out, "\n* {}", line(&cause.field, &cause.message));
            }
            out
        }
    }
}

impl From<String> for CliError {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for CliError {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<ferry_client::Error> for CliError {
    fn from(error: ferry_client::Error) -> Self {
        match error {
            ferry_client::Error::Api(status) => Self::Api(status),
            other => Self::Message(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status(value: serde_json::Value) -> CliError {
        CliError::Api(serde_json::from_value(value).expect("a status"))
    }

    #[test]
    fn refusals_read_as_kubectls() {
        let missing =
            status(json!({"kind": "Status", "reason": "NotFound", "code": 404, "message": "pods \"a\" not found"}));
        assert_eq!(missing.render(), "Error from server (NotFound): pods \"a\" not found");
        let invalid = |causes| {
            status(json!({"kind": "Status", "reason": "Invalid", "code": 422, "message": "m",
                "details": {"kind": "Pod", "name": "a", "causes": causes}}))
        };
        assert_eq!(
            invalid(json!([{"field": "spec.x", "message": "Required value"}])).render(),
            "The Pod \"a\" is invalid: spec.x: Required value"
        );
        assert_eq!(
            invalid(json!([{"field": "a", "message": "one"}, {"field": "b", "message": "two"}])).render(),
            "The Pod \"a\" is invalid: \n* a: one\n* b: two"
        );
        let stranger =
            status(json!({"kind": "Status", "reason": "Unauthorized", "code": 401, "message": "Unauthorized"}));
        assert_eq!(stranger.render(), "error: You must be logged in to the server (Unauthorized)");
    }
}
