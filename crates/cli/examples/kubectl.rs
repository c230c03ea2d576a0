//! kubectl alone, without the rest of ferry: for tests of the verbs beside upstream's kubectl.

use std::process::ExitCode;

fn main() -> ExitCode {
    ferry_cli::run(std::env::args_os().skip(1))
}
