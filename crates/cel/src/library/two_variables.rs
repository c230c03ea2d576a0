//! What the macros with two variables need: putting an entry into the map they build.

use std::sync::Arc;

use super::{Declarations, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type;
use crate::value::{Map, OwnedMap, Value};

pub(super) fn declare(d: &mut Declarations) {
    let k = || Type::param("K");
    let v = || Type::param("V");
    let map = || Type::map(k(), v());
    d.global("cel.@mapInsert", "@mapInsert_map_key_value", vec![map(), k(), v()], map(), insert);
    d.global("cel.@mapInsert", "@mapInsert_map_map", vec![map(), map()], map(), insert);
}

fn insert<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::Map(Map::Owned(map)) = &args[0] else { return mismatch() };
    let mut map = map.clone();
    insert_into(&mut map, &args[1..])?;
    Ok(Value::Map(Map::Owned(map)))
}

/// Puts a key and a value, or all entries of a map, where no such key may be yet.
pub(crate) fn insert_into<'v>(map: &mut Arc<OwnedMap<'v>>, args: &[Value<'v>]) -> Evaluated<()> {
    let map = Arc::make_mut(map);
    let mut put = |key: Value<'v>, value: Value<'v>| {
        if map.get(&key).is_some() {
            return Err(EvalError::new(format_args!("insert failed: key {key} already exists")));
        }
        let shown = key.to_string();
        if map.insert(key, value) { Ok(()) } else { Err(EvalError::new(format_args!("unsupported key type: {shown}"))) }
    };
    match args {
        [key, value] => put(key.clone(), value.clone()),
        [Value::Map(entries)] => {
            for (key, value) in entries.entries() {
                put(key, value?)?;
            }
            Ok(())
        }
        _ => Err(EvalError::no_such_overload()),
    }
}
