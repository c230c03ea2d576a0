//! containerd's own event service, read for task exits.
//!
//! containerd 1.6 has no CRI event stream, but its native gRPC service on the same
//! socket announces every task exit at once. Only the topic and the container id of an
//! envelope matter here, so the few protobuf fields are walked by hand instead of
//! carrying containerd's generated types.

use super::RuntimeEvent;
use bytes::{Buf, BufMut, Bytes};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

pub(super) const SUBSCRIBE: &str = "/containerd.services.events.v1.Events/Subscribe";

/// A codec that leaves messages as bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = BytesCodec;
    type Decoder = BytesCodec;

    fn encoder(&mut self) -> Self::Encoder {
        *self
    }

    fn decoder(&mut self) -> Self::Decoder {
        *self
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buf.put(item);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        let length = buf.remaining();
        Ok(Some(buf.copy_to_bytes(length)))
    }
}

/// A `SubscribeRequest` with one filter per topic of interest.
pub(super) fn subscribe_request(namespace: &str) -> Bytes {
    let mut request = Vec::new();
    for topic in ["/tasks/exit", "/tasks/oom"] {
        let filter = format!("topic==\"{topic}\",namespace==\"{namespace}\"");
        request.push(0x0a);
        put_varint(&mut request, filter.len() as u64);
        request.extend_from_slice(filter.as_bytes());
    }
    request.into()
}

/// What one `Envelope` says, or nothing when it is not about a task.
pub(super) fn decode_envelope(envelope: &[u8]) -> Option<RuntimeEvent> {
    let topic = std::str::from_utf8(field(envelope, 3)?).ok()?;
    if !topic.starts_with("/tasks/") {
        return None;
    }
    // The event is an Any; TaskExit and TaskOOM both carry the container id
    // as their first field.
    let event = field(field(envelope, 4)?, 2)?;
    let id = std::str::from_utf8(field(event, 1)?).ok()?.to_string();
    // A TaskExit also tells which process ended: an exec's end is not the container's.
    if topic == "/tasks/exit"
        && let Some(process) = field(event, 2)
        && process != id.as_bytes()
    {
        return None;
    }
    Some(RuntimeEvent { id, exited: topic == "/tasks/exit" })
}

/// The last length-delimited field with this number.
fn field(mut message: &[u8], wanted: u64) -> Option<&[u8]> {
    let mut found = None;
    while !message.is_empty() {
        let key = take_varint(&mut message)?;
        match key & 7 {
            0 => {
                take_varint(&mut message)?;
            }
            1 => message = message.get(8..)?,
            2 => {
                let length = usize::try_from(take_varint(&mut message)?).ok()?;
                let value = message.get(..length)?;
                message = &message[length..];
                if key >> 3 == wanted {
                    found = Some(value);
                }
            }
            5 => message = message.get(4..)?,
            _ => return None,
        }
    }
    found
}

fn take_varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(out: &mut Vec<u8>, number: u8, value: &[u8]) {
        out.push(number << 3 | 2);
        put_varint(out, value.len() as u64);
        out.extend_from_slice(value);
    }

    fn envelope(topic: &str, id: &str, process: &str) -> Vec<u8> {
        let mut event = Vec::new();
        put(&mut event, 1, id.as_bytes());
        put(&mut event, 2, process.as_bytes());
        event.extend_from_slice(&[0x18, 0x2a]); // pid 42
        let mut any = Vec::new();
        put(&mut any, 1, b"containerd.events.TaskExit");
        put(&mut any, 2, &event);
        let mut envelope = Vec::new();
        put(&mut envelope, 1, &[0x08, 0x01]);
        put(&mut envelope, 2, b"k8s.io");
        put(&mut envelope, 3, topic.as_bytes());
        put(&mut envelope, 4, &any);
        envelope
    }

    #[test]
    fn a_task_exit_names_its_container() {
        let event = decode_envelope(&envelope("/tasks/exit", "abc", "abc"));
        assert_eq!(event, Some(RuntimeEvent { id: "abc".into(), exited: true }));
    }

    #[test]
    fn the_end_of_an_exec_is_not_the_end_of_its_container() {
        assert_eq!(decode_envelope(&envelope("/tasks/exit", "abc", "exec-1")), None);
    }

    #[test]
    fn torn_envelopes_are_nothing() {
        let whole = envelope("/tasks/exit", "abc", "abc");
        for length in 0..whole.len() {
            let _ = decode_envelope(&whole[..length]);
        }
        assert_eq!(decode_envelope(&[0xff; 12]), None);
    }
}
