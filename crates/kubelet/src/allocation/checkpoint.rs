//! The file that remembers what was allocated to a pod: `<root>/pods/<uid>/allocation.json`. A
//! kubelet that starts anew holds a pod to it, whatever its spec has come to ask for meanwhile.
//! It goes with the pod's directory.

use super::amounts::{ContainerAmounts, PodAllocation};
use crate::volume::beneath::Dir;
use crate::volume::pod_directory;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

const NAME: &str = "allocation.json";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    pub allocation: PodAllocation,
    /// The amounts that running containers were resized to, by container id. The others have
    /// those that they were created with.
    pub actuated: HashMap<String, ContainerAmounts>,
}

/// The checkpoint of an earlier kubelet, or nothing where it is missing or cannot be read: the pod is
/// then taken for allocated as its spec says. Blocking.
pub fn load(root: &Path, uid: &str) -> Option<Checkpoint> {
    let directory = Dir::open(&pod_directory(root, uid)).ok()?;
    let mut text = String::new();
    directory.open_file(Path::new(NAME)).ok()?.read_to_string(&mut text).ok()?;
    parse(&serde_json::from_str(&text).ok()?)
}

fn parse(value: &Value) -> Option<Checkpoint> {
    let amounts = |(id, text): (&String, &Value)| Some((id.clone(), ContainerAmounts::parse(text.as_str()?)?));
    let actuated = value.get("actuated").and_then(Value::as_object);
    Some(Checkpoint {
        allocation: PodAllocation::from_value(value.get("allocated")?)?,
        actuated: actuated.into_iter().flatten().filter_map(amounts).collect(),
    })
}

/// Returns when the checkpoint is on the disk. Blocking.
pub fn store(root: &Path, uid: &str, checkpoint: &Checkpoint) -> io::Result<()> {
    let actuated: HashMap<&String, String> =
        checkpoint.actuated.iter().map(|(id, amounts)| (id, amounts.render())).collect();
    let text = json!({ "allocated": checkpoint.allocation.to_value(), "actuated": actuated }).to_string();
    let directory = Dir::open(root)?.make_dirs(&Path::new("pods").join(uid), 0o755)?;
    directory.replace_file(OsStr::new(NAME), text.as_bytes(), 0o600)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;

    #[test]
    fn a_checkpoint_survives_and_a_broken_one_is_none() {
        let root = tempfile::tempdir().expect("a temporary directory");
        assert_eq!(load(root.path(), "u"), None);
        let sized = pod(json!({ "containers": [{ "name": "a", "resources": { "limits": { "cpu": "1" } } }] }));
        let amounts = ContainerAmounts { cpu_limit: 1000, ..Default::default() };
        let checkpoint = Checkpoint {
            allocation: PodAllocation::of(sized.view()),
            actuated: HashMap::from([("c1".to_owned(), amounts)]),
        };
        for _ in 0..2 {
            store(root.path(), "u", &checkpoint).expect("stored");
            assert_eq!(load(root.path(), "u"), Some(checkpoint.clone()));
        }
        std::fs::write(pod_directory(root.path(), "u").join(NAME), "{").expect("written");
        assert_eq!(load(root.path(), "u"), None);
    }
}
