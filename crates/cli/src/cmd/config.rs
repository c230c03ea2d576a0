//! `kubectl config`: what a kubeconfig says, and changes of it.

use crate::config::file::{self, ContextEntry, Kubeconfig, Named};
use crate::error::Result;
use crate::print::columns::Columns;
use crate::print::yaml;
use crate::session::Session;
use clap::{Args, Subcommand};
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Modify kubeconfig files
#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub verb: ConfigVerb,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ConfigVerb {
    /// Display merged kubeconfig settings or a specified kubeconfig file
    View(ViewArgs),
    /// Display the current-context
    #[command(name = "current-context")]
    CurrentContext,
    /// Describe one or many contexts
    #[command(name = "get-contexts")]
    GetContexts(GetContextsArgs),
    /// Display clusters defined in the kubeconfig
    #[command(name = "get-clusters")]
    GetClusters,
    /// Display users defined in the kubeconfig
    #[command(name = "get-users")]
    GetUsers,
    /// Set the current-context in a kubeconfig file
    #[command(name = "use-context", alias = "use")]
    UseContext { name: String },
    /// Set a context entry in kubeconfig
    #[command(name = "set-context")]
    SetContext(SetContextArgs),
    /// Rename a context from the kubeconfig file
    #[command(name = "rename-context")]
    RenameContext { from: String, to: String },
    /// Delete the specified context from the kubeconfig
    #[command(name = "delete-context")]
    DeleteContext { name: String },
    /// Delete the specified cluster from the kubeconfig
    #[command(name = "delete-cluster")]
    DeleteCluster { name: String },
    /// Delete the specified user from the kubeconfig
    #[command(name = "delete-user")]
    DeleteUser { name: String },
}

#[derive(Args, Debug)]
pub(crate) struct ViewArgs {
    /// Remove all information not used by current-context from the output
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    minify: bool,
    /// Flatten the resulting kubeconfig file into self-contained output
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    flatten: bool,
    /// Display raw byte data and sensitive data
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    raw: bool,
    #[command(flatten)]
    output: crate::print::OutputFlags,
}

#[derive(Args, Debug)]
pub(crate) struct GetContextsArgs {
    names: Vec<String>,
    /// When using the default or custom-column output format, don't print headers
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    no_headers: bool,
    /// Output format: name
    #[arg(short, long)]
    output: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SetContextArgs {
    name: Option<String>,
    /// Modify the current context
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    current: bool,
}

pub(crate) fn run(args: ConfigArgs, session: &Session) -> Result<()> {
    let files = session.flags.files();
    let config = files.load()?;
    match args.verb {
        ConfigVerb::View(args) => view(session, &args, config),
        ConfigVerb::CurrentContext if config.current_context.is_empty() => Err("current-context is not set".into()),
        ConfigVerb::CurrentContext => session.print(&format!("{}\n", config.current_context)),
        ConfigVerb::GetContexts(args) => get_contexts(session, &args, &config),
        ConfigVerb::GetClusters => print_names(session, config.clusters.iter().map(|c| c.name.as_str())),
        ConfigVerb::GetUsers => print_names(session, config.users.iter().map(|u| u.name.as_str())),
        ConfigVerb::UseContext { name } => {
            if config.context(&name).is_none() {
                return Err(format!("no context exists with the name: \"{name}\"").into());
            }
            change(session, |_| true, |config| config.current_context = name.clone())?;
            session.print(&format!("Switched to context \"{name}\".\n"))
        }
        ConfigVerb::SetContext(args) => set_context(session, &args, &config),
        ConfigVerb::RenameContext { from, to } => {
            if config.context(&from).is_none() {
                return Err(format!("cannot rename the context \"{from}\", it's not in {}", named_file(session)).into());
            }
            if config.context(&to).is_some() {
                return Err(format!(
                    "cannot rename the context \"{from}\", the context \"{to}\" already exists in {}",
                    named_file(session)
                )
                .into());
            }
            change(
                session,
                |own| own.context(&from).is_some(),
                |config| {
                    for context in config.contexts.iter_mut().filter(|context| context.name == from) {
                        context.name = to.clone();
                    }
                },
            )?;
            if config.current_context == from {
                change(session, |own| own.current_context == from, |config| config.current_context = to.clone())?;
            }
            session.print(&format!("Context \"{from}\" renamed to \"{to}\".\n"))
        }
        ConfigVerb::DeleteContext { name } => {
            if config.context(&name).is_none() {
                return Err(format!("cannot delete context {name}, not in {}", named_file(session)).into());
            }
            if config.current_context == name {
                session.note("warning: this removed your active context, use \"kubectl config use-context\" to select a different one");
            }
            change(session, |own| own.context(&name).is_some(), |config| config.contexts.retain(|c| c.name != name))?;
            session.print(&format!("deleted context {name} from {}\n", named_file(session)))
        }
        ConfigVerb::DeleteCluster { name } => {
            if config.cluster(&name).is_none() {
                return Err(format!("cannot delete cluster {name}, not in {}", named_file(session)).into());
            }
            change(session, |own| own.cluster(&name).is_some(), |config| config.clusters.retain(|c| c.name != name))?;
            session.print(&format!("deleted cluster {name} from {}\n", named_file(session)))
        }
        ConfigVerb::DeleteUser { name } => {
            if config.user(&name).is_none() {
                return Err(format!("cannot delete user {name}, not in {}", named_file(session)).into());
            }
            change(session, |own| own.user(&name).is_some(), |config| config.users.retain(|u| u.name != name))?;
            session.print(&format!("deleted user {name} from {}\n", named_file(session)))
        }
    }
}

fn print_names<'a>(session: &Session, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    session.print(&format!("NAME\n{}", names.into_iter().map(|name| format!("{name}\n")).collect::<String>()))
}

fn named_file(session: &Session) -> String {
    session.flags.files().default_target().map(|path| path.display().to_string()).unwrap_or_default()
}

/// Shows the configuration; secrets are covered unless `--raw` asks for them.
fn view(session: &Session, args: &ViewArgs, mut config: Kubeconfig) -> Result<()> {
    if args.minify {
        let current = session.flags.context.clone().unwrap_or_else(|| config.current_context.clone());
        let Some(context) = config.context(&current).cloned() else {
            return Err("cannot locate context ".to_owned().replace("context ", &format!("context {current}")).into());
        };
        config.contexts.retain(|c| c.name == current);
        config.clusters.retain(|c| c.name == context.cluster);
        config.users.retain(|u| u.name == context.user);
        config.current_context = current;
    }
    config.api_version = "v1".into();
    config.kind = "Config".into();
    if args.flatten {
        flatten(&mut config)?;
    }
    if !args.raw && !args.flatten {
        cover(&mut config);
    }
    let mut object = serde_json::to_value(&config).map_err(|error| error.to_string())?;
    for list in ["clusters", "contexts", "users"] {
        if object[list].as_array().is_some_and(Vec::is_empty) {
            object[list] = Value::Null;
        }
    }
    match args.output.format()? {
        Some(format) => session.print(&crate::print::Printer::new(format, &args.output).render(&object)?),
        None => session.print(&yaml::render(&object)),
    }
}

fn cover(config: &mut Kubeconfig) {
    const DATA: &str = "DATA+OMITTED";
    let hide = |field: &mut Option<String>, by: &str| {
        if field.as_deref().is_some_and(|text| !text.is_empty()) {
            *field = Some(by.to_owned());
        }
    };
    for cluster in &mut config.clusters {
        hide(&mut cluster.entry.certificate_authority_data, DATA);
    }
    for user in &mut config.users {
        hide(&mut user.entry.client_certificate_data, DATA);
        hide(&mut user.entry.client_key_data, DATA);
        hide(&mut user.entry.token, "REDACTED");
        hide(&mut user.entry.password, "REDACTED");
    }
}

/// Files named in the configuration become data in it.
fn flatten(config: &mut Kubeconfig) -> Result<()> {
    use base64::Engine as _;
    let take = |path: &mut Option<String>, data: &mut Option<String>| -> Result<()> {
        if let Some(file) = path.take().filter(|path| !path.is_empty()) {
            let bytes = std::fs::read(&file).map_err(|error| format!("open {file}: {error}"))?;
            *data = Some(base64::engine::general_purpose::STANDARD.encode(bytes));
        }
        Ok(())
    };
    for cluster in &mut config.clusters {
        let entry = &mut cluster.entry;
        take(&mut entry.certificate_authority, &mut entry.certificate_authority_data)?;
    }
    for user in &mut config.users {
        let entry = &mut user.entry;
        take(&mut entry.client_certificate, &mut entry.client_certificate_data)?;
        take(&mut entry.client_key, &mut entry.client_key_data)?;
    }
    Ok(())
}

fn get_contexts(session: &Session, args: &GetContextsArgs, config: &Kubeconfig) -> Result<()> {
    let mut shown: Vec<&Named<ContextEntry>> =
        config.contexts.iter().filter(|c| args.names.is_empty() || args.names.contains(&c.name)).collect();
    shown.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(missing) = args.names.iter().find(|name| config.context(name).is_none()) {
        return Err(format!("context {missing} not found").into());
    }
    if args.output.as_deref() == Some("name") {
        return session.print(&shown.iter().map(|c| format!("{}\n", c.name)).collect::<String>());
    }
    let mut columns = Columns::default();
    if !args.no_headers {
        columns.row(["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"]);
    }
    for context in shown {
        let mark = if context.name == config.current_context { "*" } else { "" };
        let entry = &context.entry;
        columns.row([mark, &context.name, &entry.cluster, &entry.user, entry.namespace.as_deref().unwrap_or_default()]);
    }
    session.print(&columns.take())
}

fn set_context(session: &Session, args: &SetContextArgs, config: &Kubeconfig) -> Result<()> {
    let name = match (&args.name, args.current) {
        (Some(_), true) => return Err("you cannot specify both a context name and --current".into()),
        (Some(name), false) => name.clone(),
        (None, true) if config.current_context.is_empty() => return Err("no current context is set".into()),
        (None, true) => config.current_context.clone(),
        (None, false) => return Err("you must specify a non-empty context name or --current".into()),
    };
    let is_there = config.context(&name).is_some();
    let flags = &session.flags;
    change(
        session,
        |own| !is_there || own.context(&name).is_some(),
        |config| {
            if config.context(&name).is_none() {
                config.contexts.push(Named { name: name.clone(), entry: ContextEntry::default() });
            }
            for context in config.contexts.iter_mut().filter(|context| context.name == name) {
                let entry = &mut context.entry;
                if let Some(cluster) = &flags.cluster {
                    entry.cluster.clone_from(cluster);
                }
                if let Some(user) = &flags.user {
                    entry.user.clone_from(user);
                }
                if let Some(namespace) = &flags.namespace {
                    entry.namespace = Some(namespace.clone());
                }
            }
        },
    )?;
    session.print(&format!("Context \"{name}\" {}.\n", if is_there { "modified" } else { "created" }))
}

/// Changes the first file that `owns` says holds the entry, else the default one.
fn change(session: &Session, owns: impl Fn(&Kubeconfig) -> bool, edit: impl FnOnce(&mut Kubeconfig)) -> Result<()> {
    let files = session.flags.files();
    let mut chosen: Option<(PathBuf, Kubeconfig)> = None;
    for path in &files.paths {
        if let Some(config) = file::read(path)?.filter(|config| owns(config)) {
            chosen = Some((path.clone(), config));
            break;
        }
    }
    let (path, mut config) = match (chosen, files.default_target()) {
        (Some(found), _) => found,
        (None, Some(path)) => (path.clone(), file::read(path)?.unwrap_or_default()),
        (None, None) => return Err("no kubeconfig file: neither --kubeconfig, $KUBECONFIG nor $HOME is set".into()),
    };
    config.api_version = "v1".into();
    config.kind = "Config".into();
    edit(&mut config);
    let object = serde_json::to_value(&config).map_err(|error| error.to_string())?;
    replace(&path, &yaml::render(&object))
}

/// Beside the file and renamed, so that no reader sees half of it.
fn replace(path: &Path, text: &str) -> Result<()> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let part = path.with_extension(format!("ferry-{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(text.as_bytes())?;
    std::fs::rename(&part, &path)?;
    Ok(())
}
