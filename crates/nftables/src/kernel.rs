//! The edge to the kernel: a transaction goes in and takes effect whole or not at all. The
//! loops of the proxy and the policies call it; their tests use a recording double.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use async_trait::async_trait;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_NETFILTER;
use nix::sys::socket::{setsockopt, sockopt};
use parking_lot::Mutex;

use crate::Error;
use crate::encode::{Batch, is_awake, table_question};
use crate::transaction::Transaction;

#[async_trait]
pub trait Nft: Send + Sync {
    /// Runs a transaction. An error means that nothing changed. Not retried here.
    async fn apply(&self, transaction: &Transaction) -> Result<(), Error>;

    /// Whether a table is there and its hooks are on.
    async fn is_active(&self, table: &str) -> Result<bool, Error>;
}

/// The kernel of the network namespace in which it was opened.
#[derive(Clone)]
pub struct Kernel {
    socket: Arc<Mutex<Socket>>,
}

/// Enough for the errors of one batch; the kernel stops at what fits.
const ANSWER_BYTES: usize = 1 << 20;

impl Kernel {
    /// Opens the way to the namespace of the calling thread.
    pub fn open() -> Result<Kernel, Error> {
        let mut socket = Socket::new(NETLINK_NETFILTER).map_err(Error::Open)?;
        socket.bind_auto().map_err(Error::Open)?;
        socket.set_ext_ack(true).map_err(Error::Open)?;
        // The answer to an error need not repeat the message, only say where it is wrong.
        socket.set_cap_ack(true).map_err(Error::Open)?;
        socket.set_non_blocking(true).map_err(Error::Open)?;
        let bytes = ANSWER_BYTES;
        setsockopt(&socket.as_fd(), sockopt::RcvBufForce, &bytes).map_err(|error| Error::Open(error.into()))?;
        Ok(Kernel { socket: Arc::new(Mutex::new(socket)) })
    }

    /// The same on the calling thread, which waits for as long as the kernel works.
    pub fn apply_blocking(&self, transaction: &Transaction) -> Result<(), Error> {
        if transaction.is_empty() {
            return Ok(());
        }
        let batch = Batch::of(transaction);
        match exchange(&self.socket.lock(), &batch)? {
            Outcome::Done => Ok(()),
            Outcome::Rejected(rejection) => Err(rejection.into_error(&batch, transaction)),
        }
    }
}

/// One question, answered at once: nothing is listed.
fn ask_for_table(socket: &Socket, table: &str) -> Result<bool, Error> {
    drain(socket);
    socket.send(&table_question(table), 0).map_err(Error::Send)?;
    let (answer, _) = socket.recv_from_full().map_err(Error::Answer)?;
    Ok(split_message(&answer).is_some_and(|(message, _)| is_awake(message)))
}

#[async_trait]
impl Nft for Kernel {
    async fn is_active(&self, table: &str) -> Result<bool, Error> {
        let (socket, table) = (Arc::clone(&self.socket), table.to_owned());
        let asked = tokio::task::spawn_blocking(move || ask_for_table(&socket.lock(), &table));
        asked.await.map_err(|_| Error::Ended)?
    }

    async fn apply(&self, transaction: &Transaction) -> Result<(), Error> {
        if transaction.is_empty() {
            return Ok(());
        }
        let batch = Batch::of(transaction);
        let socket = Arc::clone(&self.socket);
        let sent = tokio::task::spawn_blocking(move || {
            let outcome = exchange(&socket.lock(), &batch);
            (outcome, batch)
        });
        let (outcome, batch) = sent.await.map_err(|_| Error::Ended)?;
        match outcome? {
            Outcome::Done => Ok(()),
            Outcome::Rejected(rejection) => Err(rejection.into_error(&batch, transaction)),
        }
    }
}

enum Outcome {
    Done,
    Rejected(Rejection),
}

/// An error in the kernel's answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    sequence: u32,
    code: i32,
    /// Where in the message it is wrong.
    offset: Option<usize>,
    cause: Option<String>,
}

impl Rejection {
    pub(crate) fn io_error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.code)
    }

    /// The thing is not there.
    pub(crate) fn is_absence(&self) -> bool {
        self.io_error().kind() == io::ErrorKind::NotFound
    }

    fn into_error(self, batch: &Batch, transaction: &Transaction) -> Error {
        Error::Rejected {
            statement: batch.describe(transaction, self.sequence, self.offset),
            error: self.io_error(),
            cause: self.cause,
        }
    }
}

/// Sends a batch. The kernel works it off before `send` returns, so that every answer is there
/// when it does.
fn exchange(socket: &Socket, batch: &Batch) -> Result<Outcome, Error> {
    drain(socket);
    // The kernel takes a message only if the send buffer would hold it with its overhead.
    let room = batch.bytes.len() + 64 * 1024;
    setsockopt(&socket.as_fd(), sockopt::SndBufForce, &room).map_err(|error| Error::Send(error.into()))?;
    socket.send(&batch.bytes, 0).map_err(Error::Send)?;
    let mut acknowledged = false;
    loop {
        let answer = match socket.recv_from_full() {
            Ok((answer, _)) => answer,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::Answer(error)),
        };
        for (sequence, answer) in answers(&answer) {
            match answer {
                Some(rejection) => return Ok(Outcome::Rejected(rejection)),
                None => acknowledged |= sequence == batch.acknowledged(),
            }
        }
    }
    if acknowledged { Ok(Outcome::Done) } else { Err(Error::Answer(io::ErrorKind::UnexpectedEof.into())) }
}

/// Takes what an earlier batch has left unread.
fn drain(socket: &Socket) {
    while socket.recv_from_full().is_ok() {}
}

const ERROR_MESSAGE: u16 = 2;
const HAS_ATTRIBUTES: u16 = 0x200;
const CAPPED: u16 = 0x100;

/// The acknowledgements (`None`) and errors in what the kernel sent, by sequence number.
pub(crate) fn answers(mut bytes: &[u8]) -> Vec<(u32, Option<Rejection>)> {
    let mut all = Vec::new();
    while let Some((message, rest)) = split_message(bytes) {
        bytes = rest;
        let number = |at: usize| message.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_ne_bytes);
        let half = |at: usize| message.get(at..at + 2).and_then(|two| two.try_into().ok()).map(u16::from_ne_bytes);
        let (Some(kind), Some(flags), Some(code), Some(sequence)) = (half(4), half(6), number(16), number(28)) else {
            continue;
        };
        if kind != ERROR_MESSAGE {
            continue;
        }
        let code = (code as i32).wrapping_neg();
        if code == 0 {
            all.push((sequence, None));
            continue;
        }
        let mut rejection = Rejection { sequence, code, offset: None, cause: None };
        if flags & HAS_ATTRIBUTES != 0 {
            // The header of the rejected message, or all of it, stands before the attributes.
            let repeated = if flags & CAPPED != 0 { 16 } else { number(20).unwrap_or(16) as usize };
            for (_, kind, value) in
                crate::encode::attributes(message.get(20 + repeated.next_multiple_of(4)..).unwrap_or_default())
            {
                match kind {
                    1 => rejection.cause = Some(String::from_utf8_lossy(value).trim_end_matches('\0').to_owned()),
                    2 => rejection.offset = value.try_into().ok().map(|four| u32::from_ne_bytes(four) as usize),
                    _ => {}
                }
            }
        }
        all.push((sequence, Some(rejection)));
    }
    all
}

pub(crate) fn split_message(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let message = bytes.get(..length).filter(|message| message.len() >= 16)?;
    Some((message, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}
