//! Prints how long typical policies take to compile and to evaluate, on one core:
//! `cargo run --release -p ferry-cel --example policy_speed`.

use std::time::Instant;

use ferry_cel::{Activation, Budget, Environment, Type, Value};
use serde_json::json;

const EVALUATIONS: u32 = 200_000;

fn main() {
    let object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "arch": "amd64", "area": "shop"}},
        "spec": {"replicas": 3, "template": {"spec": {"containers": (0..4).map(|index| json!({
            "name": format!("c{index}"),
            "image": format!("registry.example/app/c{index}:v1.2.3"),
            "resources": {"limits": {"memory": "128Mi", "cpu": "500m"}},
        })).collect::<Vec<_>>()}}},
    });
    let environment =
        Environment::kubernetes().with_variable("object", Type::Dyn).with_variable("oldObject", Type::Dyn);
    for source in [
        "object.spec.replicas <= 5",
        "object.spec.replicas <= 5 && object.metadata.labels.all(k, k.startsWith('a'))",
        "has(object.metadata.labels) && object.metadata.labels.?app.orValue('') in ['web', 'api', 'worker']",
        "object.spec.template.spec.containers.all(c, c.image.matches('^registry\\\\.example/[a-z0-9/]+:v[0-9.]+$'))",
        "object.spec.template.spec.containers.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('1Gi')))",
        "object.spec.template.spec.containers.map(c, c.name).join(',') == 'c0,c1,c2,c3'",
    ] {
        let start = Instant::now();
        let program = environment.compile(source).expect("the example compiles");
        let compile = start.elapsed();
        let activation = Activation::new().with("object", Value::from_json(&object)).with("oldObject", Value::Null);
        let start = Instant::now();
        for _ in 0..EVALUATIONS {
            let value = program.evaluate(&activation, &mut Budget::default()).expect("the example evaluates");
            assert_eq!(value.as_bool(), Some(true), "{source}");
        }
        let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(EVALUATIONS);
        println!("{each:7.3} µs to evaluate, {:5.0} µs to compile: {source}", compile.as_secs_f64() * 1e6);
    }
}
