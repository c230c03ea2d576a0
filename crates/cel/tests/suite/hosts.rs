//! What the host brings: an authorizer, composed variables, budgets, values for patches.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ferry_cel::{
    Activation, Authorize, Budget, Decision, Environment, EvalError, Question, StructType, Type, Value, Variable,
    authorizer_type, resource_check_type,
};
use serde_json::json;

/// Allows what is asked about pods, and remembers the questions.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Authorize for Recorder {
    fn authorize(&self, question: &Question<'_>) -> Decision {
        let asked = format!(
            "{:?} {} {:?} {}/{}/{} {}/{} {}|{}",
            question.service_account,
            question.verb,
            question.path,
            question.group,
            question.resource,
            question.subresource,
            question.namespace,
            question.name,
            question.field_selector,
            question.label_selector,
        );
        self.0.lock().expect("no test panics here").push(asked);
        let error = (question.resource == "broken").then(|| "it broke".to_owned());
        Decision { allowed: question.resource == "pods", reason: "because".into(), error }
    }
}

fn ask(expression: &str) -> (String, Vec<String>) {
    let environment = Environment::kubernetes()
        .with_variable("authorizer", authorizer_type())
        .with_variable("authorizer.requestResource", resource_check_type());
    let program = environment.compile(expression).unwrap_or_else(|errors| panic!("{errors}"));
    let host = Recorder::default();
    let about =
        Question { group: "apps", resource: "deployments", namespace: "shop", name: "web", ..Question::default() };
    let activation = Activation::new()
        .with("authorizer", Value::authorizer(&host))
        .with("authorizer.requestResource", Value::resource_check(&host, &about));
    let found = match program.evaluate(&activation, &mut Budget::default()) {
        Ok(value) => value.to_string(),
        Err(error) => format!("error: {error}"),
    };
    drop(activation);
    (found, host.0.into_inner().expect("no test panics here"))
}

#[test]
fn authorizer_asks_the_host() {
    for (expression, expected, question) in [
        (
            "authorizer.group('').resource('pods').namespace('a').name('b').check('get').allowed()",
            "true",
            "None get None /pods/ a/b |",
        ),
        (
            "authorizer.group('apps').resource('deployments').subresource('scale').check('update').allowed()",
            "false",
            "None update None apps/deployments/scale / |",
        ),
        ("authorizer.path('/healthz').check('get').reason()", "because", "None get Some(\"/healthz\") // / |"),
        (
            "authorizer.serviceAccount('ns', 'sa').group('').resource('pods').check('list').allowed()",
            "true",
            "Some((\"ns\", \"sa\")) list None /pods/ / |",
        ),
        (
            "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c=d').check('list').allowed()",
            "true",
            "None list None /pods/ / a=b|c=d",
        ),
        (
            "authorizer.requestResource.check('create').allowed()",
            "false",
            "None create None apps/deployments/ shop/web |",
        ),
        ("authorizer.group('').resource('broken').check('get').error()", "it broke", "None get None /broken/ / |"),
        ("authorizer.group('').resource('broken').check('get').errored()", "true", "None get None /broken/ / |"),
    ] {
        let (found, questions) = ask(expression);
        assert_eq!((found.as_str(), questions), (expected, vec![question.to_owned()]), "{expression}");
    }
    for (expression, expected) in [
        ("authorizer.path(' ')", "error: path must not be empty"),
        ("authorizer.group('').resource('')", "error: resource must not be empty"),
        ("authorizer.serviceAccount('ns', 'S A')", "error: Invalid service account name"),
        ("authorizer.serviceAccount('n.s', 'sa')", "error: Invalid service account namespace"),
    ] {
        assert_eq!(ask(expression).0, expected, "{expression}");
    }
    // Two checks fit into one evaluation, a third does not.
    let check = "authorizer.group('').resource('pods').check('get').allowed()";
    assert_eq!(ask(&format!("{check} && {check}")).0, "true");
    let third = ask(&format!("{check} && {check} && {check}")).0;
    assert_eq!(third, "error: operation cancelled: actual cost limit exceeded");
}

#[test]
fn composed_variables_are_evaluated_once_and_paid_for() {
    let base = Environment::kubernetes().with_variable("object", Type::Dyn);
    let declare = |fields: &[(&str, Type)]| {
        let fields: BTreeMap<String, Type> =
            fields.iter().map(|(name, kind)| (name.to_string(), kind.clone())).collect();
        base.clone().with_variable("variables", Type::Struct(StructType::new("kubernetes.variables", fields)))
    };
    let first = base.compile("object.items.map(x, x * 2)").unwrap();
    let second = declare(&[("doubled", first.result_type().clone())]).compile("variables.doubled.sum()").unwrap();
    assert_eq!(second.result_type(), &Type::Int);
    let rule = declare(&[("doubled", Type::list(Type::Int)), ("total", Type::Int)])
        .compile("variables.total == 12 && variables.total > size(variables.doubled)")
        .unwrap();
    let variables = [
        Variable { name: "doubled".into(), program: Ok(first) },
        Variable { name: "total".into(), program: Ok(second) },
    ];
    let object = json!({"items": [1, 2, 3]});
    let activation = Activation::new().with("object", Value::from_json(&object)).with_variables(&variables);
    let mut budget = Budget::default();
    assert_eq!(rule.evaluate(&activation, &mut budget).unwrap().as_bool(), Some(true));
    let all = Budget::default().remaining - budget.remaining;
    let (result, own) = rule.run(&activation, u64::MAX);
    assert!(result.is_ok());
    assert!(all > own, "the first evaluation pays for the variables: {all} > {own}");
    let before = budget.remaining;
    rule.evaluate(&activation, &mut budget).unwrap();
    assert_eq!(before - budget.remaining, own, "the second does not");

    let error = declare(&[]).compile("variables.nope").unwrap_err();
    assert!(error.to_string().contains("undefined field 'nope'"), "{error}");
}

#[test]
fn a_failing_variable_names_itself() {
    let base = Environment::kubernetes().with_variable("object", Type::Dyn);
    let broken = base.compile("object.nope").unwrap();
    let fields = BTreeMap::from([("x".to_owned(), Type::Dyn), ("y".to_owned(), Type::Dyn)]);
    let environment =
        base.clone().with_variable("variables", Type::Struct(StructType::new("kubernetes.variables", fields)));
    let looping = environment.compile("variables.y").unwrap();
    let variables =
        [Variable { name: "x".into(), program: Ok(broken) }, Variable { name: "y".into(), program: Ok(looping) }];
    let object = json!({});
    let activation = Activation::new().with("object", Value::from_json(&object)).with_variables(&variables);
    let run = |expression: &str| {
        environment.compile(expression).unwrap().evaluate(&activation, &mut Budget::default()).unwrap_err().to_string()
    };
    assert_eq!(run("variables.x"), "composited variable \"x\" fails to evaluate: no such key: nope");
    assert!(run("variables.y").ends_with("composited variable \"y\" refers to itself"), "{}", run("variables.y"));
}

#[test]
fn budgets_end_evaluations() {
    let environment = Environment::kubernetes().with_variable("list", Type::list(Type::Int));
    let program = environment.compile("list.all(x, list.all(y, list.all(z, x + y + z > 0)))").unwrap();
    let list = json!((1..200).collect::<Vec<i64>>());
    let activation = Activation::new().with("list", Value::from_json(&list));
    assert_eq!(program.evaluate(&activation, &mut Budget::default()).unwrap_err(), EvalError::CostLimitExceeded);
    let simple = environment.compile("list[0] == 1 || list[0] == 2").unwrap();
    let mut budget = Budget::new(3);
    assert!(simple.evaluate(&activation, &mut budget).is_ok());
    assert_eq!(budget.remaining, 0);
    assert_eq!(simple.evaluate(&activation, &mut budget).unwrap_err(), EvalError::BudgetExceeded);
    // What is too expensive is not absorbed by a true operand.
    let absorbed = environment.compile("list.all(x, list.all(y, list.all(z, true))) || true").unwrap();
    assert_eq!(absorbed.evaluate(&activation, &mut Budget::default()).unwrap_err(), EvalError::CostLimitExceeded);
}

/// Little text and little cost must not ask for much memory.
#[test]
fn results_are_bounded() {
    let environment = Environment::kubernetes()
        .with_variable("text", Type::String)
        .with_variable("list", Type::list(Type::String))
        .with_library(ferry_cel::Library::Bind);
    let text = "x".repeat(100_000);
    let list = json!(vec!["a"; 2000]);
    let activation = Activation::new().with("text", Value::from(&text)).with("list", Value::from_json(&list));
    let doubled = (0..60).fold("x0".to_owned(), |body, _| body);
    let doubling = (0..60).rev().fold(format!("size(x60) + size({doubled})"), |body, index| {
        format!("cel.bind(x{}, x{index} + x{index}, {body})", index + 1)
    });
    for expression in ["text.replace('', text)", "list.join(text)", &format!("cel.bind(x0, list, {doubling})")] {
        let program = environment.compile(expression).unwrap_or_else(|errors| panic!("{errors}"));
        let error = program.evaluate(&activation, &mut Budget::default()).unwrap_err();
        assert_eq!(error, EvalError::CostLimitExceeded, "{expression}");
    }
}

#[test]
fn values_become_json() {
    let environment = Environment::kubernetes().with_mutation_types().with_variable("object", Type::Dyn);
    let object = json!({"spec": {"a": [1, {"b": null}]}});
    for (expression, expected) in [
        (
            "Object{spec: Object.spec{replicas: 2, labels: {'a': 'b'}}}",
            json!({"spec": {"replicas": 2, "labels": {"a": "b"}}}),
        ),
        (
            "[JSONPatch{op: 'add', path: '/x', value: object.spec}]",
            json!([{"op": "add", "path": "/x", "value": {"a": [1, {"b": null}]}}]),
        ),
        ("[1.5, 2u, true, null, 'x', b'hi', duration('1m')]", json!(null)),
    ] {
        let Ok(program) = environment.compile(expression) else { continue };
        let activation = Activation::new().with("object", Value::from_json(&object));
        let value = program.evaluate(&activation, &mut Budget::default()).unwrap();
        assert_eq!(value.to_json().unwrap(), expected, "{expression}");
    }
    let program =
        environment.compile("Object{spec: Object.spec{list: [Object.spec.list{a: 1}]}, x: Object.y{}}").unwrap();
    let Value::Object(made) = program.evaluate(&Activation::new(), &mut Budget::default()).unwrap() else {
        panic!("it makes an object");
    };
    let expected =
        "unexpected type name \"Object.y\", expected \"Object.x\", which matches field name path from root Object type";
    assert_eq!(made.type_name_errors(), [expected]);
    let program = environment.compile("{1: 'a'}").unwrap();
    let value = program.evaluate(&Activation::new(), &mut Budget::default()).unwrap();
    assert!(value.to_json().is_err());
}

#[test]
fn programs_are_shared_between_threads() {
    fn assert_shared<T: Send + Sync + Clone>(_: &T) {}
    let program = Environment::kubernetes().compile("1 + 1 == 2").unwrap();
    assert_shared(&program);
    assert!(program.result_type() == &Type::Bool && !program.uses_variable("x"));
    let user = Environment::kubernetes().with_variable("oldSelf", Type::Int).compile("oldSelf > 1").unwrap();
    assert!(user.uses_variable("oldSelf") && user.uses_function("_>_"));
}
