//! Versions of objects as protobuf, kept beside them: GET, LIST and WATCH of one version
//! encode it once, however many ask. `stored.rs` and `watcher.rs` hold the [`WireForm`]s;
//! the API server's verbs fill and read them.
//!
//! Nothing is kept for an object that nobody asked for in this form. All of them together
//! take at most [`BUDGET`]; the oldest make room, a form older than [`STAYS`] goes with the
//! next [`sweep`], and a version that is gone gives its bytes back at once.

use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// The bytes that all kept forms may take together: some 7,000 pods.
pub const BUDGET: usize = 16 << 20;

/// Watchers take a form when it is made, and readers that come in a burst come at once. One who
/// reads later pays for one encoding in so long.
pub const STAYS: Duration = Duration::from_secs(20);

/// The kept form of one version of one object.
#[derive(Debug, Default)]
pub struct WireForm {
    slot: OnceLock<Arc<Slot>>,
}

#[derive(Debug, Default)]
struct Slot {
    message: Mutex<Option<Bytes>>,
}

/// All kept forms of the process.
#[derive(Default)]
struct Kept {
    /// The bytes of all of them.
    size: AtomicUsize,
    encoded: AtomicU64,
    /// From the oldest to the youngest; those whose object is gone are passed over.
    queue: Mutex<VecDeque<Queued>>,
}

/// A form, and when it was made.
struct Queued {
    slot: Weak<Slot>,
    at: Instant,
}

static KEPT: OnceLock<Kept> = OnceLock::new();

fn kept() -> &'static Kept {
    KEPT.get_or_init(Kept::default)
}

/// How often an object was encoded because no form of it was at hand.
pub fn encoded() -> u64 {
    kept().encoded.load(Ordering::Relaxed)
}

/// Gives back the forms that are old by now. Whether others are left.
pub fn sweep(now: Instant) -> bool {
    let mut queue = kept().queue.lock();
    while queue.front().is_some_and(|oldest| now.duration_since(oldest.at) >= STAYS) {
        if let Some(slot) = queue.pop_front().and_then(|oldest| oldest.slot.upgrade()) {
            slot.take();
        }
    }
    if queue.is_empty() {
        queue.shrink_to_fit();
    }
    !queue.is_empty()
}

impl WireForm {
    /// The message, if it is at hand.
    pub fn get(&self) -> Option<Bytes> {
        self.slot.get()?.message.lock().clone()
    }

    /// The message, which `encode` makes and which is kept if it is not at hand. Two who ask
    /// at once do not both encode it.
    pub fn get_or_keep<E>(&self, encode: impl FnOnce() -> Result<Bytes, E>) -> Result<Bytes, E> {
        let slot = self.slot.get_or_init(Arc::default);
        let mut message = slot.message.lock();
        if let Some(message) = &*message {
            return Ok(message.clone());
        }
        let made = encode()?;
        kept().encoded.fetch_add(1, Ordering::Relaxed);
        *message = Some(made.clone());
        drop(message);
        kept().add(slot, made.len());
        Ok(made)
    }

    /// Keeps a message that was made before it was clear whether it would be kept.
    pub fn keep(&self, made: Bytes) {
        let slot = self.slot.get_or_init(Arc::default);
        let length = made.len();
        if slot.message.lock().replace(made).is_none() {
            kept().add(slot, length);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.take();
    }
}

impl Slot {
    /// Gives the bytes back.
    fn take(&self) {
        if let Some(message) = self.message.lock().take() {
            kept().size.fetch_sub(message.len(), Ordering::Relaxed);
        }
    }
}

impl Kept {
    fn add(&self, slot: &Arc<Slot>, length: usize) {
        let size = self.size.fetch_add(length, Ordering::Relaxed) + length;
        let mut queue = self.queue.lock();
        queue.push_back(Queued { slot: Arc::downgrade(slot), at: Instant::now() });
        // The gone are swept out when they may be most of the queue: a thousand forms are
        // never fewer bytes than this, so that the sweeps cost little for each form.
        if queue.len().is_multiple_of(SWEEP) {
            queue.retain(|queued| queued.slot.strong_count() > 0);
        }
        let mut surplus = size.saturating_sub(BUDGET);
        while surplus > 0
            && let Some(oldest) = queue.pop_front()
        {
            if let Some(oldest) = oldest.slot.upgrade() {
                oldest.take();
                surplus = self.size.load(Ordering::Relaxed).saturating_sub(BUDGET);
            }
        }
    }
}

/// How many entries the queue takes between two sweeps.
const SWEEP: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(form: &WireForm, size: usize) -> Bytes {
        form.get_or_keep(|| Ok::<_, ()>(vec![1; size].into())).expect("made")
    }

    #[test]
    fn a_form_is_made_once_and_given_back_with_its_version() {
        let form = WireForm::default();
        assert!(form.get().is_none());
        let before = encoded();
        assert_eq!(keep(&form, 100), keep(&form, 7));
        assert_eq!((encoded() - before, form.get().map(|message| message.len())), (1, Some(100)));
        assert_eq!(kept().size.load(Ordering::Relaxed), 100);
        drop(form);
        assert_eq!(kept().size.load(Ordering::Relaxed), 0);
        let failed = WireForm::default();
        assert!(failed.get_or_keep(|| Err::<Bytes, _>("no")).is_err() && failed.get().is_none());
    }

    #[test]
    fn the_oldest_make_room() {
        let forms: Vec<WireForm> = (0..5).map(|_| WireForm::default()).collect();
        for form in &forms {
            keep(form, BUDGET / 4);
        }
        let are_there: Vec<bool> = forms.iter().map(|form| form.get().is_some()).collect();
        assert_eq!(are_there, [false, true, true, true, true]);
        assert!(kept().size.load(Ordering::Relaxed) <= BUDGET);
    }

    #[test]
    fn forms_that_are_old_go_with_a_sweep() {
        let form = WireForm::default();
        keep(&form, 10);
        let now = Instant::now();
        assert!(sweep(now) && form.get().is_some());
        assert!(!sweep(now + STAYS) && form.get().is_none());
        assert_eq!((keep(&form, 10).len(), kept().size.load(Ordering::Relaxed)), (10, 10));
    }

    #[test]
    fn versions_that_are_gone_leave_nothing_in_the_queue() {
        for _ in 0..10 * SWEEP {
            keep(&WireForm::default(), 10);
        }
        assert!(kept().queue.lock().len() <= SWEEP, "{}", kept().queue.lock().len());
    }
}
