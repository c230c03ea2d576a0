//! A process whose descriptors are all spent: the listener goes on, turns clients away instead of
//! leaving them to wait, and serves again as soon as there is a descriptor.

use ferry_listen::{Limits, Listener, raise_descriptor_limit};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::fs::File;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PATIENCE: Duration = Duration::from_secs(20);

/// One test, because the limit is the whole process's.
#[tokio::test]
async fn a_listener_survives_that_no_descriptor_is_left() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, 128, hard).expect("a lower limit");

    let tcp = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = tcp.local_addr().expect("an address");
    let listener = Listener::new(tcp, Limits::of_share(2, 1000));
    tokio::spawn(async move {
        while let Ok(mut connection) = listener.accept().await {
            tokio::spawn(async move {
                let activity = connection.activity();
                tokio::select! {
                    () = activity.evicted() => {}
                    _ = connection.read_u8() => {
                        let _serving = activity.serve();
                        let _ = connection.write_all(b"served").await;
                    }
                }
            });
        }
    });

    // The client's own sockets are made before the rest is spent.
    let mut turned_away = tokio::net::TcpSocket::new_v4().expect("a socket");
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    assert!(files.len() > 50, "something was left to spend");
    for _ in 0..3 {
        let mut stream = turned_away.connect(address).await.expect("the kernel takes it");
        let mut byte = [0];
        let end = tokio::time::timeout(PATIENCE, stream.read(&mut byte)).await.expect("it is not left to wait");
        assert!(!matches!(end, Ok(1..)), "nobody served it");
        drop(stream);
        files.pop();
        turned_away = tokio::net::TcpSocket::new_v4().expect("the descriptor of the last");
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
    }

    files.clear();
    let served = async {
        let mut stream = TcpStream::connect(address).await.expect("connected");
        let _ = stream.write_all(b"?").await;
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text).await;
        text
    };
    assert_eq!(tokio::time::timeout(PATIENCE, served).await.expect("it is served in time"), "served");

    let raised = raise_descriptor_limit().expect("raised");
    assert_eq!(raised, hard.min(65_536));
    assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).expect("a limit"), (raised, hard));
}
