//! The edge to the kernel: a script goes in, takes effect whole or not at all. `sync.rs` calls
//! it; its tests use a recording double.

use std::ffi::OsString;
use std::process::Stdio;

use async_trait::async_trait;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::Error;

#[async_trait]
pub trait Nft: Send + Sync {
    /// Runs a script as one transaction. An error means that nothing changed. Not retried here.
    async fn run(&self, script: &str) -> Result<(), Error>;
}

/// The `nft` command.
#[derive(Clone, Debug)]
pub struct NftCommand {
    command: Vec<OsString>,
}

impl NftCommand {
    pub fn new(command: Vec<OsString>) -> NftCommand {
        NftCommand { command }
    }

    fn name(&self) -> String {
        self.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }
}

#[async_trait]
impl Nft for NftCommand {
    async fn run(&self, script: &str) -> Result<(), Error> {
        let start = |source| Error::Start { command: self.name(), source };
        let talk = |source| Error::Talk { command: self.name(), source };
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| start(std::io::ErrorKind::InvalidInput.into()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(start)?;
        let mut input = child.stdin.take().ok_or_else(|| talk(std::io::ErrorKind::BrokenPipe.into()))?;
        // nft may refuse before it has read everything, so that output and input go on at once
        // and its own words matter more than the broken pipe.
        let write = async move {
            input.write_all(script.as_bytes()).await?;
            input.shutdown().await
        };
        let (written, output) = tokio::join!(write, child.wait_with_output());
        let output = output.map_err(talk)?;
        if !output.status.success() {
            let output_text = String::from_utf8_lossy(&output.stderr).trim().to_string();
            return Err(Error::Refused { command: self.name(), status: output.status, output: output_text });
        }
        written.map_err(talk)
    }
}
