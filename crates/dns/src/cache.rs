//! Answers of other resolvers, kept for as long as they may be remembered: at most 30 seconds, as
//! the cache of kubeadm's CoreDNS does. `server.rs` asks it before the forwarder.
//!
//! Negative answers are kept apart from others, so that a storm of names that do not exist
//! pushes out nothing that anybody needs. Questions that are alike and under way are asked once.

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// The longest that an answer is kept, whatever it allows.
const LONGEST: Duration = Duration::from_secs(30);

/// How many answers of each sort are kept (CoreDNS' default is 9,984).
const CAPACITY: usize = 10_000;

/// What makes two questions alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    name: Name,
    kind: RecordType,
    class: DNSClass,
    dnssec_ok: bool,
    checking_disabled: bool,
}

impl Question {
    /// None for a message without a question.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        let query = message.queries.first()?;
        Some(Self {
            name: query.name().to_lowercase(),
            kind: query.query_type(),
            class: query.query_class(),
            dnssec_ok: message.edns.as_ref().is_some_and(|edns| edns.flags().dnssec_ok),
            checking_disabled: message.metadata.checking_disabled,
        })
    }
}

#[derive(Default)]
pub(crate) struct Cache {
    positive: Mutex<Generations>,
    negative: Mutex<Generations>,
    under_way: Mutex<HashMap<Question, Flight>>,
}

/// The answer to questions that wait for it together.
type Flight = Arc<OnceCell<Option<Message>>>;

/// One who waits for an answer, and may be dropped before it comes.
struct Waiting<'a> {
    cache: &'a Cache,
    question: &'a Question,
    flight: Flight,
}

impl Waiting<'_> {
    /// Ends the flight, which has its answer; returns whether nobody has before.
    fn land(&self) -> bool {
        let mut under_way = self.cache.under_way.lock();
        let is_this = under_way.get(self.question).is_some_and(|known| Arc::ptr_eq(known, &self.flight));
        is_this && under_way.remove(self.question).is_some()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut under_way = self.cache.under_way.lock();
        // The map's and our own: nobody else waits.
        let is_last = under_way
            .get(self.question)
            .is_some_and(|known| Arc::ptr_eq(known, &self.flight) && Arc::strong_count(known) == 2);
        if is_last {
            under_way.remove(self.question);
        }
    }
}

/// Two generations, of which the older goes when the younger is full: what has been asked for
/// lately stays, and nothing is searched.
#[derive(Default)]
struct Generations {
    young: HashMap<Question, Remembered>,
    old: HashMap<Question, Remembered>,
}

#[derive(Clone)]
struct Remembered {
    since: Instant,
    until: Instant,
    answer: Arc<Message>,
}

impl Generations {
    fn get(&mut self, question: &Question, now: Instant) -> Option<Remembered> {
        if let Some(found) = self.young.get(question) {
            return (now < found.until).then(|| found.clone());
        }
        let found = self.old.remove(question).filter(|found| now < found.until)?;
        self.put(question.clone(), found.clone());
        Some(found)
    }

    fn put(&mut self, question: Question, remembered: Remembered) {
        if self.young.len() >= CAPACITY / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(question, remembered);
    }
}

impl Cache {
    /// The answer that is remembered, or what `ask` brings, which is asked once at a time for
    /// all who wait for it. Should the one that asks be dropped, the next one asks.
    pub(crate) async fn answer(
        &self,
        question: Question,
        ask: impl Future<Output = Option<Message>>,
    ) -> Option<Message> {
        if let Some(known) = self.get(&question, Instant::now()) {
            return Some(known);
        }
        let flight = self.under_way.lock().entry(question.clone()).or_default().clone();
        let waiting = Waiting { cache: self, question: &question, flight };
        let answer = waiting.flight.get_or_init(|| ask).await.clone();
        if waiting.land()
            && let Some(answer) = &answer
        {
            self.put(question.clone(), answer, Instant::now());
        }
        answer
    }

    fn get(&self, question: &Question, now: Instant) -> Option<Message> {
        let found = [&self.positive, &self.negative].into_iter().find_map(|kept| kept.lock().get(question, now))?;
        let age = now.duration_since(found.since).as_secs() as u32;
        let mut answer = Message::clone(&found.answer);
        for records in [&mut answer.answers, &mut answer.authorities, &mut answer.additionals] {
            records.iter_mut().for_each(|record| record.ttl = record.ttl.saturating_sub(age));
        }
        Some(answer)
    }

    fn put(&self, question: Question, answer: &Message, now: Instant) {
        let Some(lifetime) = lifetime(answer) else { return };
        let remembered = Remembered { since: now, until: now + lifetime, answer: Arc::new(answer.clone()) };
        let kept = if answer.answers.is_empty() { &self.negative } else { &self.positive };
        kept.lock().put(question, remembered);
    }
}

/// How long an answer may be remembered; none at all for failures, and for a "no" that does not
/// come with the zone's start of authority (RFC 2308).
fn lifetime(answer: &Message) -> Option<Duration> {
    if answer.metadata.truncation {
        return None;
    }
    let seconds = match answer.metadata.response_code {
        ResponseCode::NoError if !answer.answers.is_empty() => answer.answers.iter().map(|record| record.ttl).min(),
        ResponseCode::NoError | ResponseCode::NXDomain => answer.authorities.iter().find_map(negative_seconds),
        _ => None,
    };
    let lifetime = Duration::from_secs(seconds?.into()).min(LONGEST);
    (!lifetime.is_zero()).then_some(lifetime)
}

fn negative_seconds(record: &Record) -> Option<u32> {
    match &record.data {
        RData::SOA(soa) => Some(record.ttl.min(soa.minimum)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_proto::op::Query;
    use hickory_proto::rr::rdata::{A, SOA};
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn name(text: &str) -> Name {
        Name::from_ascii(text).expect("a name")
    }

    fn question(text: &str) -> Question {
        let mut message = Message::query();
        message.add_query(Query::query(name(text), RecordType::A));
        Question::of(&message).expect("a question")
    }

    fn found(text: &str, ttl: u32) -> Message {
        let mut message = Message::query();
        message.answers.push(Record::from_rdata(name(text), ttl, RData::A(A(Ipv4Addr::LOCALHOST))));
        message
    }

    fn not_found(ttl: u32, minimum: u32) -> Message {
        let mut message = Message::query();
        message.metadata.response_code = ResponseCode::NXDomain;
        let soa = SOA::new(name("ns."), name("root."), 1, 1, 1, 1, minimum);
        message.authorities.push(Record::from_rdata(name("example.com."), ttl, RData::SOA(soa)));
        message
    }

    #[test]
    fn answers_are_kept_for_as_long_as_they_say_and_at_most_half_a_minute() {
        let seconds = |answer: &Message| lifetime(answer).map(|lifetime| lifetime.as_secs());
        assert_eq!(seconds(&found("a.example.com.", 7)), Some(7));
        assert_eq!(seconds(&found("a.example.com.", 3600)), Some(30));
        assert_eq!(seconds(&found("a.example.com.", 0)), None);
        assert_eq!(seconds(&not_found(600, 5)), Some(5));
        assert_eq!(seconds(&not_found(3, 300)), Some(3));
        let mut failed = Message::query();
        failed.metadata.response_code = ResponseCode::ServFail;
        assert_eq!(seconds(&failed), None);
        failed.metadata.response_code = ResponseCode::NXDomain;
        assert_eq!(seconds(&failed), None, "without a start of authority");
    }

    #[test]
    fn a_remembered_answer_grows_older_and_goes() {
        let cache = Cache::default();
        let now = Instant::now();
        cache.put(question("A.example.com."), &found("a.example.com.", 20), now);
        let later = |seconds| cache.get(&question("a.EXAMPLE.com."), now + Duration::from_secs(seconds));
        assert_eq!(later(5).expect("it is known").answers[0].ttl, 15);
        assert_eq!(later(20), None);
    }

    #[test]
    fn a_storm_of_names_that_do_not_exist_pushes_out_nothing_else() {
        let cache = Cache::default();
        let now = Instant::now();
        cache.put(question("a.example.com."), &found("a.example.com.", 20), now);
        for number in 0..3 * CAPACITY {
            cache.put(question(&format!("n{number}.example.com.")), &not_found(30, 30), now);
        }
        assert!(cache.get(&question("a.example.com."), now).is_some());
        let kept = cache.negative.lock();
        assert!(kept.young.len() + kept.old.len() <= CAPACITY);
    }

    #[tokio::test]
    async fn questions_that_are_alike_are_asked_once() {
        let cache = Cache::default();
        let asked = AtomicUsize::new(0);
        let ask = || {
            cache.answer(question("a.example.com."), async {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Some(found("a.example.com.", 20))
            })
        };
        let answers = futures_util::future::join_all((0..50).map(|_| ask())).await;
        assert!(answers.iter().all(Option::is_some));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(cache.under_way.lock().is_empty());
    }

    #[tokio::test]
    async fn a_question_that_nobody_waits_for_any_more_is_forgotten() {
        let cache = Cache::default();
        let asking = cache.answer(question("a.example.com."), std::future::pending());
        assert_eq!(futures_util::FutureExt::now_or_never(asking), None);
        assert!(cache.under_way.lock().is_empty());
    }
}
