//! The command line: every verb with its flags, and mistakes in them in kubectl's words.

use crate::cmd;
use crate::config::ConnectionFlags;
use crate::error::{CliError, Result};
use crate::session::{Session, Streams};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// kubectl controls the Kubernetes cluster manager.
#[derive(Parser)]
#[command(name = "kubectl", disable_version_flag = true, args_override_self = true)]
struct Cli {
    #[command(flatten)]
    connection: ConnectionFlags,
    /// Number for the log level verbosity
    #[arg(short, long, global = true, value_name = "LEVEL", action = ArgAction::Set)]
    v: Option<u8>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Annotate(Box<cmd::label::LabelArgs>),
    #[command(name = "api-resources")]
    ApiResources(Box<cmd::server_info::ApiResourcesArgs>),
    /// Print the supported API versions on the server, in the form of "group/version"
    #[command(name = "api-versions")]
    ApiVersions,
    Apply(Box<cmd::apply::ApplyArgs>),
    /// Display cluster information
    #[command(name = "cluster-info")]
    ClusterInfo,
    Config(Box<cmd::config::ConfigArgs>),
    Create(Box<cmd::create::CreateArgs>),
    Delete(Box<cmd::delete::DeleteArgs>),
    Get(Box<cmd::get::GetArgs>),
    Label(Box<cmd::label::LabelArgs>),
    #[command(alias = "log")]
    Logs(Box<cmd::logs::LogsArgs>),
    Patch(Box<cmd::patch::PatchArgs>),
    Rollout(Box<cmd::rollout::RolloutArgs>),
    Scale(Box<cmd::scale::ScaleArgs>),
    Version(Box<cmd::server_info::VersionArgs>),
    Wait(Box<cmd::wait::WaitArgs>),
}

async fn dispatch(verb: Verb, session: &Session) -> Result<()> {
    use cmd::label::MetadataMap;
    match verb {
        Verb::Annotate(args) => cmd::label::run(*args, session, MetadataMap::Annotations).await,
        Verb::ApiResources(args) => cmd::server_info::api_resources(*args, session).await,
        Verb::ApiVersions => cmd::server_info::api_versions(session).await,
        Verb::Apply(args) => cmd::apply::run(*args, session).await,
        Verb::ClusterInfo => cmd::server_info::cluster_info(session).await,
        Verb::Config(args) => cmd::config::run(*args, session),
        Verb::Create(args) => cmd::create::run(*args, session).await,
        Verb::Delete(args) => cmd::delete::run(*args, session).await,
        Verb::Get(args) => cmd::get::run(*args, session).await,
        Verb::Label(args) => cmd::label::run(*args, session, MetadataMap::Labels).await,
        Verb::Logs(args) => cmd::logs::run(*args, session).await,
        Verb::Patch(args) => cmd::patch::run(*args, session).await,
        Verb::Rollout(args) => cmd::rollout::run(*args, session).await,
        Verb::Scale(args) => cmd::scale::run(*args, session).await,
        Verb::Version(args) => cmd::server_info::version(*args, session).await,
        Verb::Wait(args) => cmd::wait::run(*args, session).await,
    }
}

/// Runs kubectl with its arguments, the program's name not among them.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let streams = Streams {
        input: Box::new(std::io::stdin()),
        out: Box::new(std::io::stdout()),
        err: Box::new(std::io::stderr()),
    };
    ExitCode::from(run_with(args, streams))
}

/// The same on any streams; a test reads them back.
fn run_with(args: impl IntoIterator<Item = OsString>, mut streams: Streams) -> u8 {
    ferry_pki::tls::install_provider();
    let named = std::iter::once(OsString::from("kubectl")).chain(args);
    let parsed = Cli::command().try_get_matches_from(named).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &mut streams),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = writeln!(streams.err, "error: cannot start: {error}");
            return 1;
        }
    };
    let mut connection = cli.connection;
    // The subjects of a binding are named by a flag of the same name, which hides this one.
    if matches!(&cli.verb, Verb::Create(create) if create.names_subjects()) {
        connection.user = None;
    }
    let session = Session::new(connection, streams);
    let done = runtime.block_on(dispatch(cli.verb, &session));
    runtime.shutdown_background();
    match done {
        Ok(()) => 0,
        Err(error) => {
            if !matches!(error, CliError::Exit(_)) {
                session.note(&error.render());
            }
            error.exit_code()
        }
    }
}

/// Help goes to standard output; a mistake is worded as kubectl words it.
fn refuse(error: &clap::Error, streams: &mut Streams) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
        let _ = write!(streams.out, "{error}");
        return 0;
    }
    let _ = writeln!(streams.err, "{}", render_mistake(error));
    1
}

fn render_mistake(error: &clap::Error) -> String {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    };
    let flag = text(ContextKind::InvalidArg);
    let name = flag.split([' ', '=', '[']).next().unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if name.starts_with("--") => {
            format!("error: unknown flag: {name}\nSee 'kubectl --help' for usage.")
        }
        ErrorKind::UnknownArgument if name.starts_with('-') => {
            let short: String = name.chars().skip(1).take(1).collect();
            format!("error: unknown shorthand flag: '{short}' in {name}\nSee 'kubectl --help' for usage.")
        }
        ErrorKind::MissingRequiredArgument => {
            let names: Vec<String> = flag.split("--").skip(1).map(required_name).collect();
            match names.is_empty() {
                true => format!("error: {} is required", flag.trim()),
                false => format!("error: required flag(s) {} not set", names.join(", ")),
            }
        }
        ErrorKind::UnknownArgument => format!("error: unexpected argument {name:?}\nSee 'kubectl --help' for usage."),
        ErrorKind::InvalidSubcommand => {
            format!("error: unknown command \"{}\" for \"kubectl\"", text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue).is_empty() => {
            format!("error: flag needs an argument: {name}\nSee 'kubectl --help' for usage.")
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let value = text(ContextKind::InvalidValue);
            format!("error: invalid argument \"{value}\" for \"{name}\" flag\nSee 'kubectl --help' for usage.")
        }
        _ => error.to_string().trim_end().to_owned(),
    }
}

/// `image <IMAGE> ` as kubectl quotes it: `"image"`.
fn required_name(text: &str) -> String {
    format!("\"{}\"", text.split([' ', '=', '<']).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(args: &[&str]) -> String {
        let named = std::iter::once("kubectl").chain(args.iter().copied());
        match Cli::try_parse_from(named) {
            Ok(_) => "fine".into(),
            Err(error) => render_mistake(&error),
        }
    }

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn mistakes_are_worded_as_kubectls() {
        assert!(mistake(&["get", "--nope"]).starts_with("error: unknown flag: --nope\n"));
        assert!(mistake(&["get", "-z"]).starts_with("error: unknown shorthand flag: 'z' in -z\n"));
        assert_eq!(mistake(&["frobnicate"]), "error: unknown command \"frobnicate\" for \"kubectl\"");
        assert!(mistake(&["get", "pods", "-n"]).starts_with("error: flag needs an argument: --namespace"));
        assert_eq!(mistake(&["get", "-A=false", "pods", "-oyaml", "-n", "a", "-n", "b"]), "fine");
    }
}
