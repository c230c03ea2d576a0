//! kubectl in ferry's binary: the verbs that people use, with upstream's flags, output and
//! exit codes. `ferry kubectl …` calls [`run`], and so does the binary under the name kubectl.
//!
//! A verb is a file in `cmd/` and a line in `app.rs`. What verbs share stands beside it:
//! which server (`config/`), which objects (`builder/`), which format (`print/`).

// A print macro panics where its reader is gone.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![warn(unreachable_pub)]

mod age;
mod app;
mod builder;
mod cmd;
mod config;
mod describe;
mod discovery;
mod error;
mod gotemplate;
mod jsonpath;
mod kustomize;
mod print;
mod session;
mod three_way;
mod transport;
mod watch;

pub use app::run;
