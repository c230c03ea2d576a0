//! What is asked of other resolvers, and what is remembered of it.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A resolver that knows of no name, says so for a minute, and counts.
async fn knows_nothing(asked: Arc<AtomicUsize>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("bind");
    let address = socket.local_addr().expect("its address");
    tokio::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((length, client)) = socket.recv_from(&mut buffer).await {
            asked.fetch_add(1, Ordering::Relaxed);
            let question = Message::from_vec(&buffer[..length]).expect("a question");
            let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
            answer.metadata.response_code = ResponseCode::NXDomain;
            answer.queries = question.queries;
            let at = |text: &str| Name::from_ascii(text).expect("a name");
            let soa = hickory_proto::rr::rdata::SOA::new(at("ns."), at("root."), 1, 1, 1, 1, 60);
            answer.authorities.push(Record::from_rdata(at("example.com."), 60, RData::SOA(soa)));
            let _ = socket.send_to(&answer.to_vec().expect("an answer"), client).await;
        }
    });
    address
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_asked_for_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let running = start(Vec::new(), vec![knows_nothing(asked.clone()).await]).await;
    for _ in 0..20 {
        let answer = ask(running.address, &question("nobody.example.com.", RecordType::A)).await;
        assert_eq!(answer.metadata.response_code, ResponseCode::NXDomain);
        assert_eq!(answer.authorities.len(), 1, "who asks may remember it too");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_stub_domain_has_resolvers_of_its_own() {
    let asked = Arc::new(AtomicUsize::new(0));
    let stub = knows_nothing(asked.clone()).await;
    let map = json!({
        "metadata": {"name": "kube-dns", "namespace": "kube-system", "resourceVersion": "1"},
        "data": {"stubDomains": json!({"acme.local": [stub.to_string()]}).to_string()},
    });
    // Nobody else answers.
    let running = start(vec![("configmaps", map)], Vec::new()).await;
    loop {
        let answer = ask(running.address, &question("www.acme.local.", RecordType::A)).await;
        // The ConfigMap is read beside the first questions.
        if answer.metadata.response_code == ResponseCode::NXDomain {
            break;
        }
        assert_eq!(answer.metadata.response_code, ResponseCode::ServFail);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let other = ask(running.address, &question("www.example.com.", RecordType::A)).await;
    assert_eq!(other.metadata.response_code, ResponseCode::ServFail);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_storm_of_names_that_nobody_answers_leaves_the_clusters_own() {
    // A resolver that takes questions and never answers one.
    let silent = UdpSocket::bind("127.0.0.1:0").await.expect("bind");
    let running =
        start(vec![service("web", json!({"clusterIP": "10.96.0.7"}))], vec![silent.local_addr().expect("its address")])
            .await;
    let storm = UdpSocket::bind("127.0.0.1:0").await.expect("bind");
    for number in 0..2000 {
        let message = question(&format!("n{number}.example.com."), RecordType::A).to_vec().expect("a question");
        storm.send_to(&message, running.address).await.expect("send");
    }
    let answer = ask(running.address, &question("web.default.svc.cluster.local.", RecordType::A)).await;
    assert_eq!(data(&answer), ["10.96.0.7"]);
}
