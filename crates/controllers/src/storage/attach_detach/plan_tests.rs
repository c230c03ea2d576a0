//! Tables of plan.rs.

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).expect("a time")
}

fn pod(namespace: &str, name: &str) -> Reference {
    Reference { namespace: namespace.to_owned(), name: name.to_owned(), ..Default::default() }
}

/// A node that is well, with one pod for each name.
fn node(name: &str, pods: &[&str], attachment: Attachment) -> NodeFacts {
    let is_reported = attachment == Attachment::Attached;
    NodeFacts {
        name: name.to_owned(),
        presence: Presence::Managed,
        is_ready: true,
        is_out_of_service: false,
        is_in_use: false,
        is_reported,
        pods: pods.iter().map(|name| pod("ns", name)).collect(),
        volume_name: "pv".to_owned(),
        attachment,
        memory: NodeMemory::default(),
    }
}

fn volume(nodes: Vec<NodeFacts>) -> VolumeFacts {
    VolumeFacts { handle: "h".to_owned(), driver: "d".to_owned(), is_attachable: true, is_exclusive: true, nodes }
}

/// The steps as text: `attach a`, `detach a (verify)`, `tell ns/p: …`.
fn steps(plan: &VolumePlan) -> Vec<String> {
    let text = |step: &Step| match step {
        Step::Attach { node, volume } => format!("attach {volume} to {node}"),
        Step::Detach { node, verify: true } => format!("detach {node} (verify)"),
        Step::Detach { node, verify: false } => format!("detach {node} (force)"),
        Step::Tell { pod, is_warning, message } => {
            format!("{} {}: {message}", if *is_warning { "warn" } else { "tell" }, pod.name)
        }
    };
    plan.steps.iter().map(text).collect()
}

fn check(facts: &VolumeFacts, now: i64, expected: &[&str]) -> VolumePlan {
    let plan = plan_volume(facts, at(now));
    assert_eq!(steps(&plan), expected);
    plan
}

#[test]
fn a_volume_is_attached_once_and_success_is_told_once() {
    let mut facts = volume(vec![node("a", &["p"], Attachment::None)]);
    let plan = check(&facts, 0, &["attach pv to a"]);
    assert_eq!(plan.look_again, Some(ATTACH_TIMEOUT));
    facts.nodes[0].memory = plan.memories[0].clone();
    facts.nodes[0].attachment = Attachment::Waiting;
    let plan = check(&facts, 50, &[]);
    assert_eq!(plan.look_again, Some(Duration::from_secs(70)));
    facts.nodes[0].memory = plan.memories[0].clone();
    facts.nodes[0].attachment = Attachment::Attached;
    let plan = check(&facts, 60, &["tell p: AttachVolume.Attach succeeded for volume \"pv\" "]);
    assert_eq!(plan.look_again, None);
    facts.nodes[0].memory = plan.memories[0].clone();
    check(&facts, 61, &[]);
    // After a restart the node's own report is what tells that the pods know.
    facts.nodes[0].memory = NodeMemory::default();
    facts.nodes[0].is_reported = true;
    check(&facts, 62, &[]);
}

#[test]
fn failures_of_the_driver_are_told_as_they_change_and_silence_every_two_minutes() {
    let mut facts = volume(vec![node("a", &["p"], Attachment::Failed("no room".to_owned()))]);
    let told = "warn p: AttachVolume.Attach failed for volume \"pv\" : no room";
    let plan = check(&facts, 0, &[told]);
    facts.nodes[0].memory = plan.memories[0].clone();
    check(&facts, 1, &[]);
    facts.nodes[0].attachment = Attachment::Failed("no power".to_owned());
    check(&facts, 2, &["warn p: AttachVolume.Attach failed for volume \"pv\" : no power"]);
    facts.nodes[0].attachment = Attachment::Waiting;
    let silence = "warn p: AttachVolume.Attach failed for volume \"pv\" : timed out waiting for external-attacher of d \
                   CSI driver to attach volume h";
    let plan = check(&facts, 10, &[]);
    facts.nodes[0].memory = plan.memories[0].clone();
    let plan = check(&facts, 130, &[silence]);
    facts.nodes[0].memory = plan.memories[0].clone();
    check(&facts, 131, &[]);
    check(&facts, 250, &[silence]);
    facts.nodes[0].attachment = Attachment::Leaving;
    let plan = check(
        &facts,
        251,
        &["warn p: AttachVolume.Attach failed for volume \"pv\" : volume attachment is being deleted"],
    );
    assert_eq!(plan.look_again, None);
    // Our own detach is no failure.
    facts.nodes[0].memory.detaching = Some("uid".to_owned());
    check(&facts, 251, &[]);
}

#[test]
fn an_exclusive_volume_waits_for_the_other_node_and_says_whose_it_is() {
    let other = |pods: &[&str]| node("a", pods, Attachment::Attached);
    let waiting = || node("b", &["q"], Attachment::None);
    let mut facts = volume(vec![other(&["p1", "p2"]), waiting()]);
    let used = "warn q: Waiting for detach for volume \"pv\" Volume is already used by pod(s) p1, p2";
    let plan = check(&facts, 0, &[used]);
    facts.nodes[1].memory = plan.memories[1].clone();
    check(&facts, 1, &[]);
    facts.nodes[0].pods[1].namespace = "other".to_owned();
    facts.nodes[1].memory = NodeMemory::default();
    check(
        &facts,
        2,
        &[
            "warn q: Waiting for detach for volume \"pv\" Volume is already used by pod(s) p1 and 1 pod(s) in different \
         namespaces",
        ],
    );
    facts.nodes[0].pods.remove(0);
    check(
        &facts,
        2,
        &["warn q: Waiting for detach for volume \"pv\" Volume is already used by 1 pod(s) in different namespaces"],
    );
    // The pod is gone and the node has not unmounted yet.
    facts.nodes[0].pods.clear();
    facts.nodes[0].is_in_use = true;
    check(
        &facts,
        3,
        &[
            "warn q: Waiting for detach for volume \"pv\" Volume is already exclusively attached to one node, waiting on \
         detach before it can be attached to another node",
        ],
    );
    facts.nodes[0].is_in_use = false;
    check(&facts, 4, &["detach a (verify)"]);
    facts.nodes[0].attachment = Attachment::Leaving;
    check(&facts, 5, &[]);
    facts.nodes[0] = node("a", &[], Attachment::None);
    check(&facts, 6, &["attach pv to b"]);
    // Many nodes may have a shared volume.
    let shared = VolumeFacts { is_exclusive: false, ..volume(vec![other(&["p1"]), waiting()]) };
    check(&shared, 7, &["attach pv to b"]);
}

#[test]
fn two_nodes_that_want_an_exclusive_volume_at_once_get_it_in_turn() {
    let facts = volume(vec![node("a", &["p"], Attachment::None), node("b", &["q"], Attachment::None)]);
    check(&facts, 0, &["attach pv to a"]);
    let facts = volume(vec![node("a", &["p"], Attachment::Waiting), node("b", &["q"], Attachment::None)]);
    check(&facts, 0, &[]);
    // A driver that refuses one node does not keep the volume from the other.
    let refused = Attachment::Failed("no".to_owned());
    let facts = volume(vec![node("a", &["p"], refused), node("b", &["q"], Attachment::None)]);
    check(&facts, 0, &["warn p: AttachVolume.Attach failed for volume \"pv\" : no", "attach pv to b"]);
}

#[test]
fn a_mounted_volume_is_detached_by_force_from_a_node_that_is_not_well() {
    let mut facts = volume(vec![node("a", &[], Attachment::Attached)]);
    facts.nodes[0].is_in_use = true;
    // A node that is well is waited for without end, and wakes us.
    let plan = check(&facts, 0, &[]);
    assert_eq!(plan.look_again, None);
    facts.nodes[0].memory = plan.memories[0].clone();
    facts.nodes[0].is_ready = false;
    let plan = check(&facts, 60, &[]);
    assert_eq!(plan.look_again, Some(Duration::from_secs(300)));
    check(&facts, 359, &[]);
    check(&facts, 360, &["detach a (force)"]);
    // A pod that comes back ends the wait.
    facts.nodes[0].pods = vec![pod("ns", "p")];
    let plan = check(&facts, 360, &[]);
    assert_eq!(plan.memories[0].detach_asked, None);
    facts.nodes[0].pods.clear();
    facts.nodes[0].memory = NodeMemory::default();
    facts.nodes[0].is_out_of_service = true;
    check(&facts, 0, &["detach a (force)"]);
}

#[test]
fn nodes_that_are_gone_or_attach_by_themselves_get_nothing() {
    let mut facts = volume(vec![node("a", &["p"], Attachment::None)]);
    facts.nodes[0].presence = Presence::Gone;
    check(&facts, 0, &[]);
    facts.nodes[0].presence = Presence::Unmanaged;
    check(&facts, 0, &[]);
    // Pods that are left on a node that is gone still hold their volume.
    let mut facts = volume(vec![node("a", &["p"], Attachment::Attached)]);
    facts.nodes[0].presence = Presence::Gone;
    check(&facts, 0, &[]);
}

#[test]
fn a_driver_without_attaching_gets_no_attachment_and_loses_those_that_it_has() {
    let facts = VolumeFacts { is_attachable: false, ..volume(vec![node("a", &["p"], Attachment::None)]) };
    check(&facts, 0, &[]);
    let facts = VolumeFacts { is_attachable: false, ..volume(vec![node("a", &["p"], Attachment::Attached)]) };
    check(&facts, 0, &["detach a (verify)"]);
}

#[test]
fn a_report_without_an_attachment_is_taken_back() {
    let mut facts = volume(vec![node("a", &[], Attachment::None)]);
    check(&facts, 0, &[]);
    facts.nodes[0].is_reported = true;
    check(&facts, 0, &["detach a (verify)"]);
}
