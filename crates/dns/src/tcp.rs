//! DNS over TCP: each message has its length before it. `server.rs` starts one for each listener.
//!
//! The connections are ours and not hickory's, whose loop takes any number of them and spins when
//! no descriptor is left.

use crate::server::Handler;
use ferry_listen::{Connection, Limits, Listener};
use futures_util::StreamExt;
use hickory_proto::op::SerialMessage;
use hickory_server::net::runtime::TokioTime;
use hickory_server::net::xfer::{BufDnsStreamHandle, Protocol};
use hickory_server::server::{Request, RequestHandler, ResponseHandle};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The share of DNS of the process's descriptors, and the most that it takes.
const DESCRIPTOR_SHARE: usize = 16;
const CONNECTIONS_MAX: usize = 512;

/// A connection that asks nothing whole for this long is closed, and one that does not take its
/// answer.
const IDLE: Duration = Duration::from_secs(10);

/// Serves until it is dropped; fails only with the socket itself.
pub(crate) async fn serve(listener: TcpListener, handler: &Arc<Handler>) -> io::Result<()> {
    let listener = Listener::new(listener, Limits::of_share(DESCRIPTOR_SHARE, CONNECTIONS_MAX));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (connection, handler) = (accepted?, handler.clone());
                let activity = connection.activity();
                connections.spawn(async move {
                    tokio::select! {
                        outcome = converse(connection, &handler) => {
                            if let Err(error) = outcome {
                                tracing::debug!(%error, "a DNS connection ended");
                            }
                        }
                        () = activity.evicted() => {}
                    }
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Questions are answered one after the other: more at once would only favour who floods.
async fn converse(mut connection: Connection, handler: &Handler) -> io::Result<()> {
    let (remote, activity) = (connection.remote(), connection.activity());
    loop {
        let question = match tokio::time::timeout(IDLE, read_message(&mut connection)).await {
            Ok(Ok(Some(question))) => question,
            Ok(Ok(None)) | Err(_) => return Ok(()),
            Ok(Err(error)) => return Err(error),
        };
        let _serving = activity.serve();
        let request = Request::from_bytes(question, remote, Protocol::Tcp)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        let (handle, mut answers) = BufDnsStreamHandle::new(remote);
        handler.handle_request::<_, TokioTime>(&request, ResponseHandle::new(remote, handle, Protocol::Tcp)).await;
        // The handle went with the handler, so that what it was given is all there is.
        while let Some(answer) = answers.next().await {
            tokio::time::timeout(IDLE, write_message(&mut connection, &answer)).await??;
        }
    }
}

/// `None` when the peer has nothing more to ask.
async fn read_message(connection: &mut Connection) -> io::Result<Option<Vec<u8>>> {
    let length = match connection.read_u16().await {
        Ok(length) => length,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut message = vec![0; usize::from(length)];
    connection.read_exact(&mut message).await?;
    Ok(Some(message))
}

async fn write_message(connection: &mut Connection, message: &SerialMessage) -> io::Result<()> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidData, "the answer is longer than TCP can carry");
    let length = u16::try_from(message.bytes().len()).map_err(|_| too_long())?;
    connection.write_all(&[&length.to_be_bytes()[..], message.bytes()].concat()).await
}
