//! The values that a JSONPath finds in an object. `mod.rs` calls `run`.

use super::parse::Node;
use serde_json::Value;
use std::cmp::Ordering;

/// The answer to a field that is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Evaluation {
    AllowMissing,
    Strict,
}

pub(crate) fn run(nodes: &[Node], root: &Value, missing: Evaluation) -> Result<Vec<Vec<Value>>, String> {
    let mut results = Vec::new();
    each(nodes, root, root, missing, &mut results)?;
    Ok(results)
}

fn each(
    nodes: &[Node],
    root: &Value,
    current: &Value,
    missing: Evaluation,
    results: &mut Vec<Vec<Value>>,
) -> Result<(), String> {
    for node in nodes {
        match node {
            Node::Text(text) => results.push(vec![Value::String(text.clone())]),
            Node::List(path) => results.push(walk(path, root, current, missing)?),
            Node::Range(path, body) => {
                for item in walk(path, root, current, missing)? {
                    each(body, root, &item, missing, results)?;
                }
            }
            other => results.push(walk(std::slice::from_ref(other), root, current, missing)?),
        }
    }
    Ok(())
}

fn walk(path: &[Node], root: &Value, current: &Value, missing: Evaluation) -> Result<Vec<Value>, String> {
    let mut found = vec![current.clone()];
    for node in path {
        found = step(node, root, found, missing)?;
    }
    Ok(found)
}

fn step(node: &Node, root: &Value, found: Vec<Value>, missing: Evaluation) -> Result<Vec<Value>, String> {
    let mut out = Vec::new();
    match node {
        Node::Root => out.push(root.clone()),
        Node::Text(text) => out.push(Value::String(text.clone())),
        Node::Literal(value) => out.push(value.clone()),
        Node::Field(name) => {
            for value in found {
                match value {
                    Value::Object(mut map) => match map.remove(name) {
                        Some(inner) => out.push(inner),
                        None if missing == Evaluation::Strict => return Err(format!("{name} is not found")),
                        None => {}
                    },
                    Value::Null => {}
                    _ if missing == Evaluation::Strict => return Err(format!("{name} is not found")),
                    _ => {}
                }
            }
        }
        Node::Wildcard => {
            for value in found {
                match value {
                    Value::Array(items) => out.extend(items),
                    Value::Object(map) => out.extend(map.into_iter().map(|(_, value)| value)),
                    _ => {}
                }
            }
        }
        Node::Recursive => {
            for value in &found {
                descend(value, &mut out);
            }
            // A field behind `..` is looked for everywhere and may be missing anywhere.
            out.retain(|value| value.is_object() || value.is_array());
        }
        Node::Slice { start, end, step, is_index } => {
            for value in found {
                match value {
                    Value::Array(items) => out.extend(slice(items, *start, *end, *step, *is_index)?),
                    Value::Null => {}
                    other if missing == Evaluation::Strict => {
                        return Err(format!("{} is not array or slice", text_of(&other)));
                    }
                    _ => {}
                }
            }
        }
        Node::Union(members) => {
            for member in members {
                for inner in member {
                    out.extend(step_into(inner, root, &found, missing)?);
                }
            }
        }
        Node::Filter { left, operator, right } => {
            for value in found {
                let items = match value {
                    Value::Array(items) => items,
                    other => vec![other],
                };
                for item in items {
                    if is_kept(left, operator, right, root, &item)? {
                        out.push(item);
                    }
                }
            }
        }
        Node::List(path) => {
            for value in &found {
                out.extend(walk(path, root, value, missing)?);
            }
        }
        Node::Range(..) => return Err("range inside an expression".into()),
    }
    Ok(out)
}

fn step_into(node: &Node, root: &Value, found: &[Value], missing: Evaluation) -> Result<Vec<Value>, String> {
    step(node, root, found.to_vec(), missing)
}

fn descend(value: &Value, out: &mut Vec<Value>) {
    out.push(value.clone());
    match value {
        Value::Array(items) => items.iter().for_each(|item| descend(item, out)),
        Value::Object(map) => map.values().for_each(|item| descend(item, out)),
        _ => {}
    }
}

fn slice(
    items: Vec<Value>,
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
    is_index: bool,
) -> Result<Vec<Value>, String> {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let from_end = |index: i64| if index < 0 { index + length } else { index };
    let first = from_end(start.unwrap_or(0));
    if is_index {
        let item = usize::try_from(first).ok().and_then(|at| items.into_iter().nth(at));
        return item
            .map(|item| vec![item])
            .ok_or_else(|| format!("array index out of bounds: index {}, length {length}", start.unwrap_or(0)));
    }
    let last = from_end(end.unwrap_or(length)).min(length);
    let step = step.unwrap_or(1);
    if step < 1 {
        return Err(format!("step must be > 0, but is {step}"));
    }
    let kept = items.into_iter().enumerate().filter(|(i, _)| {
        let i = i64::try_from(*i).unwrap_or(i64::MAX);
        i >= first.max(0) && i < last && (i - first.max(0)) % step == 0
    });
    Ok(kept.map(|(_, item)| item).collect())
}

fn is_kept(left: &[Node], operator: &str, right: &[Node], root: &Value, item: &Value) -> Result<bool, String> {
    let left = walk(left, root, item, Evaluation::AllowMissing)?;
    if operator == "exists" {
        return Ok(!left.is_empty());
    }
    let right = walk(right, root, item, Evaluation::AllowMissing)?;
    let ([left], [right]) = (&left[..], &right[..]) else {
        return match (left.len(), right.len()) {
            (0, _) | (_, 0) => Ok(false),
            _ => Err("can only compare one element at a time".into()),
        };
    };
    Ok(match operator {
        "==" => is_equal(left, right),
        "!=" => !is_equal(left, right),
        _ => match (order(left, right), operator) {
            (Some(order), "<") => order.is_lt(),
            (Some(order), "<=") => order.is_le(),
            (Some(order), ">") => order.is_gt(),
            (Some(order), ">=") => order.is_ge(),
            _ => return Err("unrecognized filter operator or values that cannot be compared".into()),
        },
    })
}

fn is_equal(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

pub(crate) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// A value in a template's text: strings bare, objects and lists as JSON.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Number(number) => match (number.is_f64(), number.as_f64()) {
            (true, Some(float)) => crate::print::number::go_general(float),
            _ => number.to_string(),
        },
        other => crate::print::json::render_compact(other),
    }
}
