//! The seats of one priority level and the queues before them: fair between flows, by a
//! clock of virtual time (fair queuing, as upstream's queueset does it). Pure: the caller
//! gives the time, and says how many seats the level may use now.
//!
//! A worked example: one flow sends a thousand requests, another sends one. Their hands
//! of queues hardly overlap, so the one waits in a queue of its own; its queue has been
//! served less, so the next free seat is its.

use std::collections::VecDeque;

/// How many queues, how many of them a flow may use, and how long each may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queuing {
    pub queues: usize,
    pub hand_size: usize,
    pub length_limit: usize,
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    pub width: u32,
    pub ticket: T,
    number: u64,
}

#[derive(Debug)]
struct Queue<T> {
    waiting: VecDeque<Waiting<T>>,
    executing: u32,
    /// The virtual time at which the next request of this queue may begin.
    next_begin: f64,
}

/// How long a request is thought to take until it is known, in seconds (upstream's guess).
const SERVICE_TIME: f64 = 0.003;

#[derive(Debug)]
pub(super) struct Queues<T> {
    queuing: Queuing,
    queues: Vec<Queue<T>>,
    executing_seats: u32,
    waiting: usize,
    virtual_time: f64,
    last_event: f64,
    numbers: u64,
}

impl<T> Queues<T> {
    pub(super) fn new(queuing: Queuing) -> Self {
        let queue = |_| Queue { waiting: VecDeque::new(), executing: 0, next_begin: 0.0 };
        Self {
            queuing,
            queues: (0..queuing.queues).map(queue).collect(),
            executing_seats: 0,
            waiting: 0,
            virtual_time: 0.0,
            last_event: 0.0,
            numbers: 0,
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The queue that a flow's next request would join: the least filled one of its hand.
    pub(super) fn choose(&self, flow: u64) -> usize {
        let load = |index: usize| {
            let queue = &self.queues[index];
            let waiting: u32 = queue.waiting.iter().map(|waiting| waiting.width).sum();
            (waiting + queue.executing, index)
        };
        // The hand's own order breaks ties, so that flows spread over idle queues.
        let hand = deal(flow, self.queuing.queues, self.queuing.hand_size);
        hand.into_iter().min_by_key(|index| load(*index).0).unwrap_or(0)
    }

    /// Puts a request into a queue, and says under which number it can be taken out
    /// again; `Err` gives it back when the queue is full.
    pub(super) fn enqueue(&mut self, now: f64, queue: usize, width: u32, ticket: T) -> Result<u64, T> {
        self.advance(now);
        let virtual_time = self.virtual_time;
        let chosen = &mut self.queues[queue];
        if chosen.waiting.len() >= self.queuing.length_limit {
            return Err(ticket);
        }
        if chosen.waiting.is_empty() && chosen.executing == 0 {
            // A queue that was idle saves nothing up.
            chosen.next_begin = chosen.next_begin.max(virtual_time);
        }
        self.numbers += 1;
        chosen.waiting.push_back(Waiting { width, ticket, number: self.numbers });
        self.waiting += 1;
        Ok(self.numbers)
    }

    /// A request begins in a queue without having waited.
    pub(super) fn begin(&mut self, now: f64, queue: usize, width: u32) {
        self.advance(now);
        let virtual_time = self.virtual_time;
        let chosen = &mut self.queues[queue];
        chosen.next_begin = chosen.next_begin.max(virtual_time) + SERVICE_TIME * f64::from(width);
        chosen.executing += width;
        self.executing_seats += width;
    }

    /// The next request to begin, if it fits into the seats that are free: that of the
    /// queue which would finish it first in virtual time. Nothing overtakes one that is
    /// too wide for now, or it would wait for ever.
    pub(super) fn next(&mut self, now: f64, free_seats: u32) -> Option<(usize, Waiting<T>)> {
        self.advance(now);
        let finish = |queue: &Queue<T>| {
            let width = queue.waiting.front().map(|waiting| waiting.width)?;
            Some((queue.next_begin + SERVICE_TIME * f64::from(width), width))
        };
        let (index, (_, width)) = self
            .queues
            .iter()
            .enumerate()
            .filter_map(|(index, queue)| Some((index, finish(queue)?)))
            .min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0))?;
        if width > free_seats {
            return None;
        }
        let waiting = self.queues[index].waiting.pop_front()?;
        self.waiting -= 1;
        self.begin(now, index, width);
        Some((index, waiting))
    }

    /// A request is over; what it took more or less than was thought is charged to its queue.
    pub(super) fn finish(&mut self, now: f64, queue: usize, width: u32, took: f64) {
        self.advance(now);
        let queue = &mut self.queues[queue];
        queue.executing -= width;
        queue.next_begin += (took - SERVICE_TIME) * f64::from(width);
        self.executing_seats -= width;
    }

    /// Takes out a request that waits no longer; `false` if it is not there any more.
    pub(super) fn leave(&mut self, queue: usize, number: u64) -> bool {
        let waiting = &mut self.queues[queue].waiting;
        let before = waiting.len();
        waiting.retain(|waiting| waiting.number != number);
        let left = waiting.len() < before;
        self.waiting -= usize::from(left);
        left
    }

    /// Virtual time goes as fast as each busy queue is served.
    fn advance(&mut self, now: f64) {
        let elapsed = (now - self.last_event).max(0.0);
        self.last_event = now;
        let busy = self.queues.iter().filter(|queue| queue.executing > 0 || !queue.waiting.is_empty()).count();
        if busy > 0 {
            self.virtual_time += elapsed * f64::from(self.executing_seats) / busy as f64;
        }
    }
}

/// A hand of different queues for a flow: the same for the same flow, and hardly the same
/// for two (shuffle sharding).
fn deal(flow: u64, queues: usize, hand_size: usize) -> Vec<usize> {
    let mut rest = flow;
    let mut hand: Vec<usize> = Vec::with_capacity(hand_size);
    for dealt in 0..hand_size.min(queues) {
        let left = (queues - dealt) as u64;
        let mut card = (rest % left) as usize;
        rest /= left;
        // The card counts only the queues that are not in the hand yet.
        let mut sorted = hand.clone();
        sorted.sort_unstable();
        for taken in sorted {
            if card >= taken {
                card += 1;
            }
        }
        hand.push(card);
    }
    hand
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUING: Queuing = Queuing { queues: 64, hand_size: 6, length_limit: 50 };

    #[test]
    fn a_hand_has_different_queues_and_is_the_flows_own() {
        for flow in [0, 1, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
            let hand = deal(flow, 64, 6);
            let mut distinct = hand.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 6);
            assert!(hand.iter().all(|card| *card < 64));
            assert_eq!(hand, deal(flow, 64, 6));
        }
        assert_eq!(deal(7, 3, 6).len(), 3);
    }

    #[test]
    fn a_quiet_flow_does_not_wait_behind_a_loud_one() {
        let mut queues = Queues::new(QUEUING);
        let (loud, quiet) = (queues.choose(1), queues.choose(0x9e37_79b9_7f4a_7c15));
        assert_ne!(loud, quiet);
        queues.begin(0.0, loud, 1);
        for number in 0..20 {
            queues.enqueue(0.0, loud, 1, format!("loud {number}")).expect("room");
        }
        // The loud flow has been served for a while before the quiet one comes.
        for step in 1..=5 {
            let now = f64::from(step) * 0.1;
            queues.finish(now, loud, 1, 0.1);
            queues.next(now, 1).expect("one waits");
        }
        queues.enqueue(0.55, quiet, 1, "quiet".to_owned()).expect("room");
        queues.finish(0.6, loud, 1, 0.1);
        assert_eq!(queues.next(0.6, 1).map(|(_, waiting)| waiting.ticket), Some("quiet".to_owned()));
    }

    #[test]
    fn a_full_queue_gives_the_request_back() {
        let mut queues = Queues::new(Queuing { length_limit: 1, ..QUEUING });
        queues.enqueue(0.0, 0, 1, "first").expect("room");
        assert_eq!(queues.enqueue(0.0, 0, 1, "second"), Err("second"));
        assert_eq!(queues.waiting(), 1);
    }

    #[test]
    fn a_wide_request_is_not_overtaken_for_ever() {
        let mut queues = Queues::new(QUEUING);
        queues.enqueue(0.0, 0, 3, "wide").expect("room");
        assert!(queues.next(0.0, 2).is_none());
        assert_eq!(queues.next(0.0, 3).map(|(_, waiting)| waiting.ticket), Some("wide"));
    }

    #[test]
    fn one_that_gives_up_is_gone() {
        let mut queues = Queues::new(QUEUING);
        let number = queues.enqueue(0.0, 0, 1, ()).expect("room");
        assert!(queues.leave(0, number));
        assert!(!queues.leave(0, number));
        assert!(queues.next(0.0, 10).is_none());
    }
}
