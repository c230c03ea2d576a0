//! A transaction as netlink messages: batches that the kernel takes whole or not at all.
//! `kernel.rs` sends them, and asks [`Batch::describe`] which statement an error is about.
//!
//! The numbers are those of the kernel's include/uapi/linux/netfilter/nf_tables.h and
//! nfnetlink.h.

mod attribute;
mod expression;

pub(crate) use self::attribute::{Writer, attributes};
use self::expression::RuleEncoder;
use crate::rule::{Base, Family, Hook, Name, Statement, Verdict};
use crate::set::{Data, Key, KeyType, Set};
use crate::text;
use crate::transaction::Transaction;

const NFT_SUBSYSTEM: u16 = 10;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NEW_TABLE: u16 = 0;
const GET_TABLE: u16 = 1;
const DELETE_TABLE: u16 = 2;
const NEW_CHAIN: u16 = 3;
const DELETE_CHAIN: u16 = 5;
const NEW_RULE: u16 = 6;
const DELETE_RULE: u16 = 8;
const NEW_SET: u16 = 9;
const DELETE_SET: u16 = 11;
const NEW_ELEMENTS: u16 = 12;
const DELETE_ELEMENTS: u16 = 14;

const REQUEST: u16 = 1;
const ACK: u16 = 4;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;

const INET: u8 = 1;

/// The kernel's number for a verdict as the type of a map's data.
const VERDICT_TYPE: u32 = 0xffff_ff00;

/// The list of a message's elements is one attribute, whose length is a 16-bit number.
const ELEMENT_BYTES: usize = 48 * 1024;

/// Which part of the transaction a message is about; elements from an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Frame,
    Table,
    Set(usize),
    Chain(usize),
    Flush(usize),
    DeletedElements(usize),
    Rule(usize),
    NewElements(usize),
    DeletedChain(usize),
    DeletedSet(usize),
}

/// A question about a table, by which the kernel tells whether it is there and awake.
pub(crate) fn table_question(table: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let kind = NFT_SUBSYSTEM << 8 | GET_TABLE;
    Writer::new(&mut bytes).message(kind, REQUEST, Batch::FIRST, INET, 0, |writer| writer.text(1, table));
    bytes
}

/// Whether what the kernel says is a table whose hooks are on.
pub(crate) fn is_awake(message: &[u8]) -> bool {
    let kind = message.get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]]));
    let body = message.get(20..).unwrap_or_default();
    let flags = attributes(body).find(|(_, kind, _)| *kind == 2).map(|(_, _, value)| value);
    kind == Some(NFT_SUBSYSTEM << 8 | NEW_TABLE)
        && flags.is_none_or(|flags| flags.last().is_none_or(|last| last & 1 == 0))
}

/// Messages for one send.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// By sequence number, the first being [`Batch::FIRST`]: where the message starts.
    messages: Vec<(Origin, usize)>,
}

impl Batch {
    const FIRST: u32 = 1;

    /// The whole transaction.
    pub(crate) fn of(transaction: &Transaction) -> Batch {
        let mut encoder = Encoder { transaction, batch: Batch { bytes: Vec::new(), messages: Vec::new() }, set_id: 0 };
        encoder.frame(BATCH_BEGIN, false);
        encoder.table();
        encoder.sets();
        encoder.chains();
        encoder.rules();
        encoder.new_elements();
        encoder.removals();
        encoder.acknowledge_last();
        encoder.frame(BATCH_END, false);
        encoder.batch
    }

    /// The number of the last message before the end, for which the kernel sends an
    /// acknowledgement when all has been done.
    pub(crate) fn acknowledged(&self) -> u32 {
        Self::FIRST + self.messages.len() as u32 - 2
    }

    /// The statement that an error is about, by the number of its message and the offset of
    /// the attribute in it, if the kernel names one.
    pub(crate) fn describe(&self, transaction: &Transaction, sequence: u32, offset: Option<usize>) -> String {
        let Some((origin, start)) = sequence.checked_sub(Self::FIRST).and_then(|at| self.messages.get(at as usize))
        else {
            return "a message".to_owned();
        };
        let element = |first: usize| first + offset.map_or(0, |offset| self.element_at(*start, offset));
        let name = |names: &[Name], at: usize| names.get(at).map(|name| name.to_string()).unwrap_or_default();
        match *origin {
            Origin::Frame => "the transaction".to_owned(),
            Origin::Table => format!("table {}", transaction.table),
            Origin::Set(at) => transaction.new_sets.get(at).map(Set::to_string).unwrap_or_default(),
            Origin::Chain(at) => format!("add chain {}", transaction.new_chains.get(at).map_or("", |(name, _)| name)),
            Origin::Flush(at) => format!("flush chain {}", name(&transaction.flushed_chains, at)),
            Origin::DeletedChain(at) => format!("delete chain {}", name(&transaction.deleted_chains, at)),
            Origin::DeletedSet(at) => format!("delete set {}", name(&transaction.deleted_sets, at)),
            Origin::Rule(at) => transaction
                .rules
                .get(at)
                .map(|(chain, rule)| format!("add rule {chain} {}", text::rule(rule)))
                .unwrap_or_default(),
            Origin::DeletedElements(first) => transaction
                .deleted_elements
                .get(element(first))
                .map(|(set, key)| format!("delete element {set} {}", text::element(key, None)))
                .unwrap_or_default(),
            Origin::NewElements(first) => transaction
                .new_elements
                .get(element(first))
                .map(|(set, key, verdict)| format!("add element {set} {}", text::element(key, verdict.as_ref())))
                .unwrap_or_default(),
        }
    }

    /// The position of the element that holds the attribute at an offset of the message.
    fn element_at(&self, start: usize, offset: usize) -> usize {
        let body = self.bytes.get(start + 20..).unwrap_or_default();
        let length =
            self.bytes.get(start..start + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes);
        let body = &body[..body.len().min((length as usize).saturating_sub(20))];
        let Some((list_at, list)) = attributes(body).find(|(_, kind, _)| *kind == 3).map(|(at, _, value)| (at, value))
        else {
            return 0;
        };
        let inside = offset.saturating_sub(20 + list_at);
        attributes(list).take_while(|(at, _, _)| *at <= inside).count().saturating_sub(1)
    }
}

struct Encoder<'a> {
    transaction: &'a Transaction,
    batch: Batch,
    /// Of the last set that the batch makes; a rule names its anonymous set by it.
    set_id: u32,
}

impl Encoder<'_> {
    fn frame(&mut self, kind: u16, acknowledged: bool) {
        let sequence = self.next(Origin::Frame);
        let flags = if acknowledged { REQUEST | ACK } else { REQUEST };
        Writer::new(&mut self.batch.bytes).message(kind, flags, sequence, 0, NFT_SUBSYSTEM, |_| {});
    }

    fn next(&mut self, origin: Origin) -> u32 {
        self.batch.messages.push((origin, self.batch.bytes.len()));
        Batch::FIRST + self.batch.messages.len() as u32 - 1
    }

    fn message(&mut self, origin: Origin, kind: u16, flags: u16, body: impl FnOnce(&mut Writer<'_>)) {
        let sequence = self.next(origin);
        let kind = NFT_SUBSYSTEM << 8 | kind;
        Writer::new(&mut self.batch.bytes).message(kind, REQUEST | flags, sequence, INET, 0, body);
    }

    /// The flags stand at bytes 6 and 7 of a message's header.
    fn acknowledge_last(&mut self) {
        if let Some((_, start)) = self.batch.messages.last()
            && let Some(flags) = self.batch.bytes.get_mut(start + 6..start + 8)
        {
            let with_ack = u16::from_ne_bytes([flags[0], flags[1]]) | ACK;
            flags.copy_from_slice(&with_ack.to_ne_bytes());
        }
    }

    fn table(&mut self) {
        let transaction = self.transaction;
        if transaction.removes_table {
            self.remove_table(&transaction.table);
        }
        if transaction.makes_table {
            self.make_table(&transaction.table, transaction.dormant);
        }
    }

    /// Making it first makes the deletion succeed whether the table was there or not.
    fn remove_table(&mut self, table: &Name) {
        self.make_table(table, false);
        self.message(Origin::Table, DELETE_TABLE, 0, |writer| writer.text(1, table));
    }

    fn make_table(&mut self, table: &Name, dormant: bool) {
        self.message(Origin::Table, NEW_TABLE, CREATE, |writer| {
            writer.text(1, table);
            writer.number(2, u32::from(dormant));
        });
    }

    fn sets(&mut self) {
        let transaction = self.transaction;
        for (index, set) in transaction.new_sets.iter().enumerate() {
            self.set_id += 1;
            let id = self.set_id;
            self.message(Origin::Set(index), NEW_SET, CREATE, |writer| named_set(writer, &transaction.table, set, id));
        }
    }

    fn chains(&mut self) {
        let transaction = self.transaction;
        for (index, (name, chain)) in transaction.new_chains.iter().enumerate() {
            self.message(Origin::Chain(index), NEW_CHAIN, CREATE, |writer| {
                writer.text(1, &transaction.table);
                writer.text(3, name);
                if let Some(base) = chain.base {
                    base_chain(writer, base);
                }
            });
            self.flush(Origin::Chain(index), name);
        }
        for (index, name) in transaction.flushed_chains.iter().enumerate() {
            self.flush(Origin::Flush(index), name);
        }
        let elements = &transaction.deleted_elements;
        let mut first = 0;
        while first < elements.len() {
            let set = &elements[first].0;
            let mut taken = 0;
            self.message(Origin::DeletedElements(first), DELETE_ELEMENTS, 0, |writer| {
                let keys = elements[first..].iter().take_while(|(of, _)| of == set).map(|(_, key)| (key, None));
                taken = element_list(writer, (&transaction.table, set, None), keys);
            });
            first += taken.max(1);
        }
    }

    /// A rule is deleted by its handle, and all rules of a chain without one.
    fn flush(&mut self, origin: Origin, chain: &Name) {
        let table = &self.transaction.table;
        self.message(origin, DELETE_RULE, 0, |writer| {
            writer.text(1, table);
            writer.text(2, chain);
        });
    }

    fn rules(&mut self) {
        let transaction = self.transaction;
        for (index, (chain, statements)) in transaction.rules.iter().enumerate() {
            let anonymous = self.anonymous_sets(Origin::Rule(index), statements);
            self.message(Origin::Rule(index), NEW_RULE, CREATE | APPEND, |writer| {
                writer.text(1, &transaction.table);
                writer.text(2, chain);
                writer.nested(4, |writer| RuleEncoder::new(writer, anonymous).statements(statements));
            });
        }
    }

    /// Makes the maps that stand inside a rule; returns the number of the one there is.
    fn anonymous_sets(&mut self, origin: Origin, statements: &[Statement]) -> u32 {
        for statement in statements {
            match statement {
                Statement::DnatRandom(targets) => {
                    let family = targets.first().map_or(Family::V4, |target| Family::of(target.ip()));
                    let values = targets.iter().map(|target| Key::target(*target).bytes().to_vec()).collect::<Vec<_>>();
                    let data = AnonymousData::Target(family);
                    self.anonymous_map(origin, data, values.len(), |index, writer| {
                        writer.nested(2, |writer| writer.bytes(1, &values[index]));
                    });
                }
                Statement::GotoRandom(chains) => {
                    self.anonymous_map(origin, AnonymousData::Verdict, chains.len(), |index, writer| {
                        writer.nested(2, |writer| verdict(writer, &Verdict::Goto(chains[index].clone())));
                    });
                }
                _ => {}
            }
        }
        self.set_id
    }

    /// A map from the numbers below `count`.
    fn anonymous_map(
        &mut self,
        origin: Origin,
        data: AnonymousData,
        count: usize,
        value: impl Fn(usize, &mut Writer<'_>),
    ) {
        self.set_id += 1;
        let id = self.set_id;
        let table = &self.transaction.table;
        self.message(origin, NEW_SET, CREATE, |writer| {
            writer.text(1, table);
            writer.text(2, ANONYMOUS_MAP);
            writer.number(3, 1 | 2 | 8);
            writer.number(4, 4);
            writer.number(5, 4);
            match data {
                AnonymousData::Verdict => writer.number(6, VERDICT_TYPE),
                AnonymousData::Target(family) => {
                    let parts = [KeyType::Address(family), KeyType::Port];
                    writer.number(6, concatenated(&parts));
                    writer.number(7, width(&parts));
                }
            }
            // The size makes the kernel choose a table that does not grow.
            writer.nested(9, |writer| writer.number(1, count as u32));
            writer.number(10, id);
            writer.bytes(13, &HOST_ORDER_KEY);
        });
        let mut first = 0;
        while first < count {
            self.message(origin, NEW_ELEMENTS, CREATE, |writer| {
                writer.text(1, table);
                writer.text(2, ANONYMOUS_MAP);
                writer.number(4, id);
                writer.nested(3, |writer| {
                    let start = writer.length();
                    while first < count && writer.length() - start < ELEMENT_BYTES {
                        writer.nested(1, |writer| {
                            // The kernel counts in the machine's own order.
                            writer.nested(1, |writer| writer.bytes(1, &(first as u32).to_ne_bytes()));
                            value(first, writer);
                        });
                        first += 1;
                    }
                });
            });
        }
    }

    fn new_elements(&mut self) {
        let transaction = self.transaction;
        let elements = &transaction.new_elements;
        let mut first = 0;
        while first < elements.len() {
            let set = &elements[first].0;
            let mut taken = 0;
            self.message(Origin::NewElements(first), NEW_ELEMENTS, CREATE, |writer| {
                let same = elements[first..].iter().take_while(|(of, _, _)| of == set);
                let same = same.map(|(_, key, verdict)| (key, verdict.as_ref()));
                taken = element_list(writer, (&transaction.table, set, None), same);
            });
            first += taken.max(1);
        }
    }

    fn removals(&mut self) {
        let transaction = self.transaction;
        for (index, chain) in transaction.deleted_chains.iter().enumerate() {
            self.message(Origin::DeletedChain(index), DELETE_CHAIN, 0, |writer| {
                writer.text(1, &transaction.table);
                writer.text(3, chain);
            });
        }
        for (index, set) in transaction.deleted_sets.iter().enumerate() {
            self.message(Origin::DeletedSet(index), DELETE_SET, 0, |writer| {
                writer.text(1, &transaction.table);
                writer.text(2, set);
            });
        }
        if let Some(table) = &transaction.superseded {
            self.remove_table(table);
        }
        if transaction.wakes_table {
            self.make_table(&transaction.table, false);
        }
    }
}

enum AnonymousData {
    Verdict,
    Target(Family),
}

/// A note for `nft`, which reads the keys of a listed map by it: kind, length, and the number
/// of the machine's own byte order.
const HOST_ORDER_KEY: [u8; 6] = {
    let [a, b, c, d] = 1_u32.to_ne_bytes();
    [0, 4, a, b, c, d]
};

/// The kernel puts a number in the place of `%d`.
const ANONYMOUS_MAP: &str = "__map%d";

fn named_set(writer: &mut Writer<'_>, table: &str, set: &Set, id: u32) {
    let map = if set.data == Data::Verdict { 8 } else { 0 };
    let dynamic = if set.timeout.is_some() { 0x10 | 0x20 } else { 0 };
    writer.text(1, table);
    writer.text(2, &set.name);
    writer.number(3, map | dynamic);
    writer.number(4, concatenated(&set.key));
    writer.number(5, width(&set.key));
    if set.data == Data::Verdict {
        writer.number(6, VERDICT_TYPE);
    }
    writer.number(10, id);
    if let Some(timeout) = set.timeout {
        writer.bytes(11, &(timeout.as_millis() as u64).to_be_bytes());
    }
}

/// The number by which `nft` knows the types of a key when it lists the set: six bits each.
fn concatenated(parts: &[KeyType]) -> u32 {
    parts.iter().fold(0, |sum, part| {
        let number = match part {
            KeyType::Address(Family::V4) => 7,
            KeyType::Address(Family::V6) => 8,
            KeyType::Protocol => 12,
            KeyType::Port => 13,
        };
        sum << 6 | number
    })
}

fn width(parts: &[KeyType]) -> u32 {
    // A key of one part has the part's own width; only parts of several stand apart.
    match parts {
        [KeyType::Protocol] => 1,
        [KeyType::Port] => 2,
        parts => parts.iter().map(|part| part.width() as u32).sum(),
    }
}

fn base_chain(writer: &mut Writer<'_>, base: Base) {
    let hook = match base.hook {
        Hook::Prerouting => 0,
        Hook::Input => 1,
        Hook::Forward => 2,
        Hook::Output => 3,
        Hook::Postrouting => 4,
    };
    writer.nested(4, |writer| {
        writer.number(1, hook);
        writer.number(2, base.priority as u32);
    });
    writer.number(5, 1);
    writer.text(7, if base.nat { "nat" } else { "filter" });
}

/// Writes as many elements as one message holds; returns how many.
fn element_list<'k>(
    writer: &mut Writer<'_>,
    (table, set, id): (&str, &str, Option<u32>),
    elements: impl Iterator<Item = (&'k Key, Option<&'k Verdict>)>,
) -> usize {
    writer.text(1, table);
    writer.text(2, set);
    if let Some(id) = id {
        writer.number(4, id);
    }
    let mut count = 0;
    writer.nested(3, |writer| {
        let start = writer.length();
        for (key, data) in elements {
            writer.nested(1, |writer| {
                writer.nested(1, |writer| writer.bytes(1, key.bytes()));
                if let Some(data) = data {
                    writer.nested(2, |writer| verdict(writer, data));
                }
            });
            count += 1;
            if writer.length() - start >= ELEMENT_BYTES {
                break;
            }
        }
    });
    count
}

/// A verdict as data: a code, and the chain that it leads to.
fn verdict(writer: &mut Writer<'_>, verdict: &Verdict) {
    let (code, chain) = match verdict {
        Verdict::Drop => (0, None),
        Verdict::Accept => (1, None),
        Verdict::Jump(chain) => (-3, Some(chain)),
        Verdict::Goto(chain) => (-4, Some(chain)),
        Verdict::Return => (-5, None),
    };
    writer.nested(2, |writer| {
        writer.number(1, code as u32);
        if let Some(chain) = chain {
            writer.text(2, chain);
        }
    });
}
