//! What the containers of a pod ask for together (component-helpers/resource): the sum
//! of those that run side by side, or the most that the pod needs while it initializes,
//! whichever is more.

use super::is_restartable_init_container;
use crate::read::Read;
use crate::validation::resources::quantity;
use ferry_api::quantity::Quantity;
use serde_json::Value;
use std::collections::BTreeMap;

pub type Amounts<'a> = BTreeMap<&'a str, Quantity>;

/// The aggregate of every container's `requests` or `limits`.
pub fn aggregate<'a>(spec: &'a Value, which: &str) -> Amounts<'a> {
    let of = |container: &'a Value| amounts(container, which);
    let mut total = Amounts::new();
    for container in spec.list("containers") {
        add(&mut total, &of(container));
    }
    // Sidecars run beside all that starts after them; other init containers run alone
    // but for the sidecars started before.
    let mut sidecars = Amounts::new();
    let mut initializing = Amounts::new();
    for container in spec.list("initContainers") {
        let mut needs = of(container);
        if is_restartable_init_container(container) {
            add(&mut total, &needs);
            add(&mut sidecars, &needs);
            needs = sidecars.clone();
        } else {
            add(&mut needs, &sidecars);
        }
        raise(&mut initializing, &needs);
    }
    raise(&mut total, &initializing);
    total
}

fn amounts<'a>(container: &'a Value, which: &str) -> Amounts<'a> {
    let list = container.field("resources").map(|resources| resources.entries(which));
    list.into_iter().flatten().filter_map(|(name, value)| Some((name.as_str(), quantity(value)?))).collect()
}

fn add<'a>(to: &mut Amounts<'a>, more: &Amounts<'a>) {
    for (name, amount) in more {
        match to.get_mut(name) {
            Some(sum) => *sum = sum.add(amount),
            None => drop(to.insert(name, *amount)),
        }
    }
}

fn raise<'a>(to: &mut Amounts<'a>, other: &Amounts<'a>) {
    for (name, amount) in other {
        if to.get(name).is_none_or(|current| current < amount) {
            to.insert(name, *amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn init_containers_count_by_their_most() {
        let needs = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = needs("1");
        sidecar["restartPolicy"] = "Always".into();
        let spec = json!({"containers": [needs("1"), needs("500m")], "initContainers": [sidecar, needs("4")]});
        let total = aggregate(&spec, "requests");
        assert_eq!(total["cpu"].to_string(), "5");
    }
}
