//! The interpreter. It walks the nodes of a program, counts the cost of each step as
//! cel-go's tracker does, and stops as soon as the limit is passed.

use std::sync::Arc;

use super::*;
use crate::activation::Activation;
use crate::cost::{self, LIST_CREATE, MAP_CREATE, STRUCT_CREATE};
use crate::error::{EvalError, Evaluated};
use crate::library::regex::{find, find_all, matches};
use crate::library::two_variables::insert_into;
use crate::value::{List, Map, Object, Text};

/// The value of a node that needs no variables.
pub(super) fn evaluate_constant(node: &Node) -> Evaluated<Value<'static>> {
    let nothing = Activation::new();
    Interpreter::new(&nothing, 0, u64::MAX).eval(node)
}

/// One evaluation. `'p` is the life of the program, `'v` that of the input.
pub(crate) struct Interpreter<'p, 'a, 'v> {
    activation: &'a Activation<'v>,
    locals: Vec<Local<'p, 'v>>,
    pub cost: u64,
    limit: u64,
}

/// A variable of a comprehension.
enum Local<'p, 'v> {
    Value(Value<'v>),
    Failed(EvalError),
    /// Computed when it is first asked for.
    Lazy(&'p Node),
}

/// What a selection found.
enum Found<'v> {
    Value(Value<'v>),
    NoKey,
    NoIndex,
    /// The value has no parts at all.
    NoParts,
}

impl<'p, 'a, 'v> Interpreter<'p, 'a, 'v> {
    pub fn new(activation: &'a Activation<'v>, slots: usize, limit: u64) -> Self {
        let locals = (0..slots).map(|_| Local::Value(Value::Null)).collect();
        Self { activation, locals, cost: 0, limit }
    }

    fn charge(&mut self, cost: u64) -> Evaluated<()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(EvalError::CostLimitExceeded) } else { Ok(()) }
    }

    pub fn eval(&mut self, node: &'p Node) -> Evaluated<Value<'v>> {
        match node {
            Node::Const(value) => Ok(value.clone()),
            Node::Attribute(attribute) => {
                let value = self.resolve(attribute);
                // A conditional costs what its parts do.
                if !matches!(attribute.base, Base::Conditional(_)) {
                    self.charge(1)?;
                }
                value
            }
            Node::Has(attribute) => self.has(attribute),
            Node::And(terms) => self.logic(terms, false),
            Node::Or(terms) => self.logic(terms, true),
            Node::NotStrictlyFalse(operand) => {
                let value = match self.eval(operand) {
                    Err(error) if error.is_fatal() => return Err(error),
                    Ok(Value::Bool(false)) => false,
                    _ => true,
                };
                self.charge(1)?;
                Ok(Value::Bool(value))
            }
            Node::Call(call) => self.call(call),
            Node::Regex(call) => self.regex(call),
            Node::InSet(membership) => {
                let (operand, set) = &**membership;
                let value = self.eval(operand)?;
                Ok(Value::Bool(is_member(set, &value)))
            }
            Node::OptionalOr { operands, unwrap } => match self.eval(&operands[0])? {
                Value::Optional(Some(inner)) if *unwrap => Ok((*inner).clone()),
                Value::Optional(None) => self.eval(&operands[1]),
                other => Ok(other),
            },
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Struct(node) => self.make_struct(node),
            Node::Fold(fold) => self.fold(fold),
            Node::Append { slot, element, create_cost } => self.append(*slot, element, *create_cost),
            Node::Insert { slot, args } => self.insert(*slot, args),
        }
    }

    /// `&&` (deciding false) and `||` (deciding true): the deciding value of either side
    /// wins, even over a failure of the other.
    fn logic(&mut self, terms: &'p [Node; 2], deciding: bool) -> Evaluated<Value<'v>> {
        let mut failed = None;
        for term in terms {
            let error = match self.eval(term) {
                Ok(Value::Bool(value)) if value == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => continue,
                Ok(_) => EvalError::no_such_overload(),
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => error,
            };
            failed = failed.or(Some(error));
        }
        failed.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    // The frames of the functions below are kept apart from eval's, which recursion
    // multiplies.

    #[inline(never)]
    fn call(&mut self, call: &'p CallNode) -> Evaluated<Value<'v>> {
        match &call.args[..] {
            [only] => {
                let args = [self.eval(only)];
                self.apply(call, args)
            }
            // Both are evaluated, and paid for, even if the first fails.
            [first, second] => {
                let first = self.eval(first);
                if let Err(error) = &first
                    && error.is_fatal()
                {
                    return first;
                }
                let second = self.eval(second);
                self.apply(call, [first, second])
            }
            args => {
                let args: Vec<Value<'v>> = args.iter().map(|arg| self.eval(arg)).collect::<Evaluated<_>>()?;
                self.finish(call, &args)
            }
        }
    }

    fn apply<const N: usize>(&mut self, call: &'p CallNode, args: [Evaluated<Value<'v>>; N]) -> Evaluated<Value<'v>> {
        if args.iter().all(Result::is_ok) {
            return self.finish(call, &args.map(|arg| arg.unwrap_or(Value::Null)));
        }
        let mut failed = None;
        let known = args.map(|arg| {
            arg.unwrap_or_else(|error| {
                failed = failed.take().or(Some(error));
                Value::Null
            })
        });
        let error = failed.unwrap_or_else(EvalError::no_such_overload);
        if error.is_fatal() {
            return Err(error);
        }
        self.charge(cost::cost(call.cost, &known, &Value::Null))?;
        Err(error)
    }

    fn finish(&mut self, call: &'p CallNode, args: &[Value<'v>]) -> Evaluated<Value<'v>> {
        let result = match call.implementation {
            Implementation::Direct(implementation) => implementation(args),
            Implementation::Guarded(index) => {
                let overload = &call.function.overloads[index];
                if overload.accepts(args) { (overload.call)(args) } else { Err(call.function.no_such_overload(args)) }
            }
            Implementation::Dispatch => call.function.dispatch(args),
        };
        let spent = match call.cost {
            cost::CostKind::Fixed(spent) => spent,
            kind => cost::cost(kind, args, result.as_ref().unwrap_or(&Value::Null)),
        };
        self.charge(spent)?;
        result
    }

    #[inline(never)]
    fn regex(&mut self, call: &'p RegexNode) -> Evaluated<Value<'v>> {
        let args: Vec<Value<'v>> = call.args.iter().map(|arg| self.eval(arg)).collect::<Evaluated<_>>()?;
        let result = match (&args[0], call.operation) {
            (Value::String(text), RegexOperation::Matches) => matches(&call.pattern, text),
            (Value::String(text), RegexOperation::Find) => find(&call.pattern, text),
            (Value::String(text), RegexOperation::FindAll) => {
                find_all(&call.pattern, text, args.get(2).and_then(Value::as_int))
            }
            _ => Err(EvalError::no_such_overload()),
        };
        self.charge(cost::cost(call.cost, &args, &Value::Null))?;
        result
    }

    /// The value of an attribute without the cost of having asked for it.
    fn resolve(&mut self, attribute: &'p Attribute) -> Evaluated<Value<'v>> {
        let value = self.base(&attribute.base)?;
        if attribute.qualifiers.is_empty() {
            return Ok(value);
        }
        self.select(value, &attribute.qualifiers)
    }

    fn base(&mut self, base: &'p Base) -> Evaluated<Value<'v>> {
        match base {
            Base::Variable(name) => match self.activation.get(name) {
                Some(value) => Ok(value.clone()),
                None => Err(EvalError::new(format_args!("no such attribute(s): {name}"))),
            },
            Base::Local(slot) => self.local(*slot),
            Base::Value(node) => self.eval(node),
            Base::Conditional(branches) => {
                let [condition, yes, no] = &**branches;
                match self.eval(condition)? {
                    Value::Bool(true) => self.branch(yes),
                    Value::Bool(false) => self.branch(no),
                    _ => Err(EvalError::no_such_overload()),
                }
            }
        }
    }

    /// A branch that is an attribute is resolved, not evaluated: it costs one less.
    fn branch(&mut self, node: &'p Node) -> Evaluated<Value<'v>> {
        match node {
            Node::Attribute(attribute) => self.resolve(attribute),
            node => self.eval(node),
        }
    }

    fn local(&mut self, slot: usize) -> Evaluated<Value<'v>> {
        let node = match &self.locals[slot] {
            Local::Value(value) => return Ok(value.clone()),
            Local::Failed(error) => return Err(error.clone()),
            Local::Lazy(node) => *node,
        };
        let value = self.eval(node);
        self.store(slot, value.clone());
        value
    }

    fn store(&mut self, slot: usize, value: Evaluated<Value<'v>>) {
        self.locals[slot] = value.map_or_else(Local::Failed, Local::Value);
    }

    fn select(&mut self, mut value: Value<'v>, qualifiers: &'p [Qualifier]) -> Evaluated<Value<'v>> {
        let mut optional = false;
        if let Value::Optional(inner) = &value {
            match inner {
                None => return Ok(value),
                Some(inner) => value = (**inner).clone(),
            }
            optional = true;
        }
        for qualifier in qualifiers {
            optional |= qualifier.optional;
            if !optional {
                let found = self.find(&value, &qualifier.key);
                self.charge(1)?;
                value = match found? {
                    Found::Value(found) => found,
                    missing => return Err(self.missing(missing, &qualifier.key)),
                };
                continue;
            }
            match self.find(&value, &qualifier.key)? {
                Found::Value(found) => {
                    self.charge(1)?;
                    value = found;
                }
                _ => return Ok(Value::Optional(None)),
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }

    #[inline(never)]
    fn missing(&mut self, missing: Found<'v>, key: &'p Key) -> EvalError {
        // Asking again for a computed key must not cost again.
        let spent = self.cost;
        let key = match key {
            Key::Field(name) => Value::String(Text::Shared(name.clone())),
            Key::Const(value) => value.clone(),
            Key::Computed(node) => self.branch(node).unwrap_or(Value::Null),
        };
        self.cost = spent;
        match missing {
            Found::NoIndex => EvalError::new(format_args!("index out of bounds: {key}")),
            _ => EvalError::new(format_args!("no such key: {key}")),
        }
    }

    fn find(&mut self, value: &Value<'v>, key: &'p Key) -> Evaluated<Found<'v>> {
        match key {
            Key::Field(name) => self.find_field(value, name),
            Key::Const(key) => find_key(value, key),
            Key::Computed(node) => {
                let key = self.branch(node)?;
                match &key {
                    Value::String(name) => self.find_field(value, name),
                    key => find_key(value, key),
                }
            }
        }
    }

    fn find_field(&mut self, value: &Value<'v>, name: &str) -> Evaluated<Found<'v>> {
        match value {
            Value::Map(map) => match map.get_str(name) {
                Some(found) => found.map(Found::Value),
                None => Ok(map.absent().map_or(Found::NoKey, Found::Value)),
            },
            Value::Object(object) => Ok(Found::Value(object.read(name))),
            Value::Variables => match self.activation.composed(name, self.limit) {
                Some(found) => found.map(Found::Value),
                None => Ok(Found::NoKey),
            },
            Value::List(_) => Err(EvalError::new("unsupported index type 'string' in list")),
            _ => Ok(Found::NoParts),
        }
    }

    #[inline(never)]
    fn has(&mut self, attribute: &'p Attribute) -> Evaluated<Value<'v>> {
        let Some((test, before)) = attribute.qualifiers.split_last() else { return Ok(Value::Bool(false)) };
        let mut value = self.base(&attribute.base)?;
        if !before.is_empty() {
            value = self.select(value, before)?;
        }
        if let Value::Optional(inner) = &value {
            match inner {
                None => return Ok(Value::Bool(false)),
                Some(inner) => value = (**inner).clone(),
            }
        }
        let present = match (&value, &test.key) {
            (Value::Object(object), Key::Field(name)) => object.has(name),
            (value, key) => matches!(self.find(value, key)?, Found::Value(_)),
        };
        self.charge(1)?;
        Ok(Value::Bool(present))
    }

    /// The value of an element, or nothing if it is optional and has none.
    fn element(&mut self, element: &'p Element, what: &dyn std::fmt::Display) -> Evaluated<Option<Value<'v>>> {
        let value = self.eval(&element.node)?;
        if !element.optional {
            return Ok(Some(value));
        }
        match value {
            Value::Optional(inner) => Ok(inner.map(|inner| (*inner).clone())),
            other => {
                Err(EvalError::new(format_args!("cannot initialize optional {what} from non-optional value {other}")))
            }
        }
    }

    #[inline(never)]
    fn list(&mut self, elements: &'p [Element]) -> Evaluated<Value<'v>> {
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            items.extend(self.element(element, &"list element")?);
        }
        self.charge(LIST_CREATE)?;
        Ok(Value::list(items))
    }

    #[inline(never)]
    fn map(&mut self, entries: &'p [(Node, Element)]) -> Evaluated<Value<'v>> {
        let mut map = OwnedMap::default();
        for (key, element) in entries {
            let key = self.eval(key)?;
            let Some(value) = self.element(element, &format_args!("entry '{key}'"))? else { continue };
            let shown = key.type_name().to_owned();
            if !map.insert(key, value) {
                return Err(EvalError::new(format_args!("unsupported key type: {shown}")));
            }
        }
        self.charge(MAP_CREATE)?;
        Ok(Value::Map(Map::Owned(Arc::new(map))))
    }

    #[inline(never)]
    fn make_struct(&mut self, node: &'p StructNode) -> Evaluated<Value<'v>> {
        let mut fields = Vec::with_capacity(node.fields.len());
        for (name, element) in &node.fields {
            if let Some(value) = self.element(element, &format_args!("entry '{name}'"))? {
                if &*node.type_name == "JSONPatch" && &**name != "value" && value.as_str().is_none() {
                    let kind = value.type_name();
                    return Err(EvalError::new(format_args!(
                        "unexpected type {kind} for JSONPatchType '{name}' field"
                    )));
                }
                fields.push((name.clone(), value));
            }
        }
        self.charge(STRUCT_CREATE)?;
        Ok(Value::Object(Arc::new(Object { type_name: node.type_name.clone(), fields })))
    }

    #[inline(never)]
    fn fold(&mut self, fold: &'p Fold) -> Evaluated<Value<'v>> {
        let range = self.eval(&fold.range)?;
        self.locals[fold.accumulator] = Local::Lazy(&fold.init);
        match (&range, fold.second) {
            (Value::List(list), None) => {
                for index in 0..list.len() {
                    let item = list.get(index).unwrap_or(Ok(Value::Null));
                    self.store(fold.iteration, item);
                    if !self.step(fold)? {
                        break;
                    }
                }
            }
            (Value::List(list), Some(second)) => {
                for index in 0..list.len() {
                    let item = list.get(index).unwrap_or(Ok(Value::Null));
                    self.store(fold.iteration, Ok(Value::Int(index as i64)));
                    self.store(second, item);
                    if !self.step(fold)? {
                        break;
                    }
                }
            }
            (Value::Map(map), None) => {
                for key in map.keys() {
                    self.store(fold.iteration, Ok(key));
                    if !self.step(fold)? {
                        break;
                    }
                }
            }
            (Value::Map(map), Some(second)) => {
                for (key, value) in map.entries() {
                    self.store(fold.iteration, Ok(key));
                    self.store(second, value);
                    if !self.step(fold)? {
                        break;
                    }
                }
            }
            (other, None) => {
                let message = format!("got '{}', expected iterable type", go_type(other));
                return Err(EvalError::new(message));
            }
            (other, Some(_)) => {
                let message = format!("unsupported comprehension range type: {}", go_type(other));
                return Err(EvalError::new(message));
            }
        }
        self.eval(&fold.result)
    }

    /// One round of a comprehension; false if it is the last.
    fn step(&mut self, fold: &'p Fold) -> Evaluated<bool> {
        if !matches!(fold.condition, Node::Const(Value::Bool(true))) {
            match self.eval(&fold.condition) {
                Ok(Value::Bool(false)) => return Ok(false),
                Err(error) if error.is_fatal() => return Err(error),
                _ => {}
            }
        }
        let value = match &fold.step {
            // A filter that refuses leaves the accumulator where it is, uncopied.
            Node::Attribute(attribute) => match &attribute.base {
                Base::Conditional(branches) if is_local(&branches[2], fold.accumulator) => {
                    match self.eval(&branches[0]) {
                        Ok(Value::Bool(false)) => {
                            self.touch(fold.accumulator);
                            return Ok(true);
                        }
                        Ok(Value::Bool(true)) => self.branch(&branches[1]),
                        Ok(_) => Err(EvalError::no_such_overload()),
                        Err(error) => Err(error),
                    }
                }
                _ => self.eval(&fold.step),
            },
            step => self.eval(step),
        };
        match value {
            Err(error) if error.is_fatal() => Err(error),
            value => {
                self.store(fold.accumulator, value);
                Ok(true)
            }
        }
    }

    /// Makes the initial value, if that has not happened.
    fn touch(&mut self, slot: usize) {
        if matches!(self.locals[slot], Local::Lazy(_)) {
            // A failure is kept in the slot.
            let _ = self.local(slot);
        }
    }

    #[inline(never)]
    fn append(&mut self, slot: usize, element: &'p Node, create_cost: u64) -> Evaluated<Value<'v>> {
        self.touch(slot);
        self.charge(1)?;
        let element = self.eval(element)?;
        self.charge(create_cost + 1)?;
        match std::mem::replace(&mut self.locals[slot], Local::Value(Value::Null)) {
            Local::Value(Value::List(List::Owned(mut items))) => {
                Arc::make_mut(&mut items).push(element);
                Ok(Value::List(List::Owned(items)))
            }
            Local::Failed(error) => Err(error),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    #[inline(never)]
    fn insert(&mut self, slot: usize, args: &'p [Node]) -> Evaluated<Value<'v>> {
        self.touch(slot);
        self.charge(1)?;
        let args: Vec<Value<'v>> = args.iter().map(|arg| self.eval(arg)).collect::<Evaluated<_>>()?;
        self.charge(1)?;
        match std::mem::replace(&mut self.locals[slot], Local::Value(Value::Null)) {
            Local::Value(Value::Map(Map::Owned(mut map))) => {
                insert_into(&mut map, &args)?;
                Ok(Value::Map(Map::Owned(map)))
            }
            Local::Failed(error) => Err(error),
            _ => Err(EvalError::no_such_overload()),
        }
    }
}

fn is_local(node: &Node, slot: usize) -> bool {
    match node {
        Node::Attribute(attribute) => {
            attribute.qualifiers.is_empty() && matches!(attribute.base, Base::Local(found) if found == slot)
        }
        _ => false,
    }
}

/// A member of the set, whose keys may live longer than the value.
fn is_member<'x>(set: &OwnedMap<'x>, value: &Value<'x>) -> bool {
    match value {
        Value::String(text) => set.get_str(text).is_some(),
        value => set.get(value).is_some(),
    }
}

fn find_key<'v>(value: &Value<'v>, key: &Value<'v>) -> Evaluated<Found<'v>> {
    match value {
        Value::Map(map) => Ok(map.get(key)?.or_else(|| map.absent()).map_or(Found::NoKey, Found::Value)),
        Value::List(list) => {
            let index = match key {
                Value::Int(index) => *index,
                Value::Uint(index) => i64::try_from(*index).unwrap_or(-1),
                Value::Double(index) if index.fract() == 0.0 => *index as i64,
                Value::Double(_) => {
                    return Err(EvalError::new(format_args!("unsupported index value {key} in list")));
                }
                other => {
                    let kind = other.type_name();
                    return Err(EvalError::new(format_args!("unsupported index type '{kind}' in list")));
                }
            };
            match usize::try_from(index).ok().and_then(|index| list.get(index)) {
                Some(found) => found.map(Found::Value),
                None => Ok(Found::NoIndex),
            }
        }
        _ => Ok(Found::NoParts),
    }
}

/// The Go type behind a value, which two messages name.
fn go_type(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Duration(_) => "types.Duration",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Optional(_) => "*types.Optional",
        Value::Type(_) => "*types.Type",
        _ => "ref.Val",
    }
}
