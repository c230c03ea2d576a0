//! Objects to JSON bytes in the order that clients are used to: kind, apiVersion,
//! metadata, then the rest. The cache relies on metadata standing before anything a
//! user can fill (`cache/stored.rs`).

use serde_json::Value;

/// As clients see it.
pub fn encode(object: &Value) -> Vec<u8> {
    encode_with(object, write_metadata)
}

/// As it is stored: without resourceVersion, which is the store's to say.
pub fn encode_unversioned(object: &Value) -> Vec<u8> {
    encode_with(object, write_unversioned_metadata)
}

fn encode_with(object: &Value, metadata: fn(&mut Vec<u8>, &Value)) -> Vec<u8> {
    // Most objects with their managedFields fit.
    let mut out = Vec::with_capacity(2048);
    let Value::Object(map) = object else {
        write(&mut out, object);
        return out;
    };
    const FIRST: [&str; 3] = ["kind", "apiVersion", "metadata"];
    let first = FIRST.iter().filter_map(|key| map.get_key_value(*key));
    let rest = map.iter().filter(|(key, _)| !FIRST.contains(&key.as_str()));
    out.push(b'{');
    for (key, value) in first.chain(rest) {
        if out.len() > 1 {
            out.push(b',');
        }
        write(&mut out, key);
        out.push(b':');
        if key == "metadata" {
            metadata(&mut out, value);
        } else {
            write(&mut out, value);
        }
    }
    out.push(b'}');
    out
}

fn write_metadata(out: &mut Vec<u8>, metadata: &Value) {
    write(out, metadata);
}

fn write_unversioned_metadata(out: &mut Vec<u8>, metadata: &Value) {
    let Value::Object(map) = metadata else { return write(out, metadata) };
    out.push(b'{');
    for (index, (key, value)) in map.iter().filter(|(key, _)| *key != "resourceVersion").enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, key);
        out.push(b':');
        write(out, value);
    }
    out.push(b'}');
}

fn write(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("JSON values always encode into memory");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn metadata_comes_before_what_users_fill() {
        let object = json!({"data": {"a": "\"metadata\":{"}, "metadata": {"name": "x"}, "apiVersion": "v1", "kind": "ConfigMap"});
        assert_eq!(
            String::from_utf8(super::encode(&object)).expect("text"),
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{"a":"\"metadata\":{"}}"#
        );
        let versioned = json!({"metadata": {"name": "x", "resourceVersion": "5", "uid": "u"}});
        assert_eq!(super::encode_unversioned(&versioned), br#"{"metadata":{"name":"x","uid":"u"}}"#);
    }
}
