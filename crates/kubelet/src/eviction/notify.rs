//! Wakes the eviction loop as soon as memory runs short, where the kernel can tell: on cgroup v1 by
//! a threshold of memory.usage_in_bytes, on v2 by a trigger of the memory's pressure (PSI), which
//! stalls long before memory is used up. Without either, the loop looks every ten seconds.

use super::observe::SignalSource;
use ferry_api::quantity::{Format, Quantity};
use ferry_eviction::signal::Signal;
use ferry_eviction::threshold::Threshold;
use futures_util::future::select_all;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::Path;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Tasks that wait for memory for a tenth of a second within two seconds.
const STALL: &[u8] = b"some 100000 2000000\0";

#[derive(Default)]
pub struct MemoryNotifier {
    thresholds: Vec<AsyncFd<CrossedThreshold>>,
    stall: Option<AsyncFd<File>>,
}

struct CrossedThreshold(EventFd);

impl AsRawFd for CrossedThreshold {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl MemoryNotifier {
    /// Sets the notifications anew, because file pages come and go and a threshold of usage must
    /// follow them. Failures are logged once by the caller and cost only the early notice.
    pub fn update(&mut self, source: &SignalSource, thresholds: &[Threshold]) -> io::Result<()> {
        self.thresholds.clear();
        for threshold in thresholds.iter().filter(|threshold| is_memory(threshold.signal)) {
            let Some(state) = source.memory(threshold.signal) else { continue };
            let Some((directory, is_v2)) = source.cgroups().memory_directory(&state.cgroup) else { continue };
            if is_v2 {
                if self.stall.is_none() {
                    self.stall = Some(watch_stalls(&directory)?);
                }
                continue;
            }
            let capacity = Quantity::from_int(i64::try_from(state.capacity).unwrap_or(i64::MAX), Format::BinarySi);
            let reserved = u64::try_from(threshold.value.quantity(capacity).value()).unwrap_or(0);
            let usage = state.capacity.saturating_sub(reserved).saturating_add(state.inactive_file);
            self.thresholds.push(watch_usage(&directory, usage)?);
        }
        Ok(())
    }

    /// Waits until memory runs short; for ever where the kernel cannot tell.
    pub async fn crossed(&mut self) {
        let thresholds = self.thresholds.iter().map(|crossed| {
            Box::pin(async move {
                match crossed.readable().await {
                    Ok(mut ready) => {
                        let _ = ready.get_inner().0.read();
                        ready.clear_ready();
                    }
                    Err(_) => std::future::pending().await,
                }
            }) as std::pin::Pin<Box<dyn Future<Output = ()> + Send>>
        });
        let stalls = self.stall.iter().map(|stall| {
            Box::pin(async move {
                match stall.ready(Interest::PRIORITY).await {
                    Ok(mut ready) => ready.clear_ready(),
                    Err(_) => std::future::pending().await,
                }
            }) as std::pin::Pin<Box<dyn Future<Output = ()> + Send>>
        });
        let all: Vec<_> = thresholds.chain(stalls).collect();
        if all.is_empty() {
            return std::future::pending().await;
        }
        select_all(all).await;
    }
}

fn is_memory(signal: Signal) -> bool {
    matches!(signal, Signal::MemoryAvailable | Signal::AllocatableMemoryAvailable)
}

#[expect(deprecated, reason = "its successor is unsafe; the event owns its descriptor as long as it lives")]
fn watch_usage(cgroup: &Path, bytes: u64) -> io::Result<AsyncFd<CrossedThreshold>> {
    let usage = File::open(cgroup.join("memory.usage_in_bytes"))?;
    let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
    let mut control = File::options().write(true).open(cgroup.join("cgroup.event_control"))?;
    let line = format!("{} {} {bytes}", event.as_fd().as_raw_fd(), usage.as_raw_fd());
    control.write_all(line.as_bytes())?;
    AsyncFd::with_interest(CrossedThreshold(event), Interest::READABLE)
}

/// The pressure of a cgroup, or of the machine: the root of version 2 has no file of its own where
/// cgroups do not count pressure.
#[expect(deprecated, reason = "its successor is unsafe; a file owns its descriptor as long as it lives")]
fn watch_stalls(cgroup: &Path) -> io::Result<AsyncFd<File>> {
    let open = |path: &Path| File::options().read(true).write(true).open(path);
    let mut file = open(&cgroup.join("memory.pressure")).or_else(|_| open(Path::new("/proc/pressure/memory")))?;
    file.write_all(STALL)?;
    AsyncFd::with_interest(file, Interest::PRIORITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eviction::settings::NodeBoundary;
    use ferry_eviction::threshold::ThresholdValue;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    /// With root's leave on cgroup v1; a stall of version 2 cannot be had for the asking.
    #[tokio::test]
    async fn the_kernel_tells_when_a_cgroup_uses_more_than_its_threshold() {
        let name = format!("ferry-test-notify-{}", std::process::id());
        let cgroup = Path::new("/sys/fs/cgroup/memory").join(&name);
        if !Path::new("/sys/fs/cgroup/memory/cgroup.event_control").exists() || std::fs::create_dir(&cgroup).is_err() {
            return;
        }
        std::fs::write(cgroup.join("memory.limit_in_bytes"), (100 << 20).to_string()).expect("limited");
        let source = SignalSource::of_this_machine(&NodeBoundary { cgroup: format!("/{name}") }, "/none");
        let value = ThresholdValue::Quantity(Quantity::parse("60Mi").expect("read"));
        let mut notifier = MemoryNotifier::default();
        notifier.update(&source, &[Threshold::hard(Signal::MemoryAvailable, value)]).expect("watched");
        let quiet = tokio::time::timeout(Duration::from_millis(100), notifier.crossed()).await;
        assert!(quiet.is_err(), "nothing is used yet");
        // `tail` keeps what it reads until the end of its input, which does not come.
        let script = format!(
            "echo $$ > {}/cgroup.procs; {{ head -c 50000000 /dev/zero; cat; }} | tail -c 90000000",
            cgroup.display()
        );
        let mut child =
            Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("sh");
        let told = tokio::time::timeout(Duration::from_secs(20), notifier.crossed()).await;
        drop(child.stdin.take());
        let _ = child.wait();
        let _ = std::fs::remove_dir(&cgroup);
        assert!(told.is_ok(), "the kernel told nothing");
    }
}
