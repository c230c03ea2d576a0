//! The OpenAPI v2 document in protobuf, as gnostic's `openapi.v2.Document`
//! (gnostic-models/openapiv2/OpenAPIv2.proto): what kubectl asked for before version 3.
//! The messages are tables of facts, and one encoder walks the JSON document along them.

use serde_json::{Map, Value};

/// A field's JSON key, its number and what it holds.
struct Field(&'static str, u32, Kind);

struct Message {
    fields: &'static [Field],
    /// The number of `vendor_extension`, which takes every `x-` key; 0 where there is none.
    extensions: u32,
}

enum Kind {
    Text,
    Flag,
    Integer,
    Double,
    Texts,
    /// Any value, as YAML text; JSON is YAML.
    Any,
    Anys,
    One(&'static Message),
    Many(&'static Message),
    /// An object as a message of pairs: each a name and one of these.
    Named(&'static Message),
    /// One of these or a list of them, wrapped in a message of their own.
    Items,
    /// One string or several, wrapped in a message of their own.
    Types,
    /// A schema or a boolean.
    AdditionalProperties,
    Paths,
    Responses,
    Parameters,
    /// Parameters by the name that references give.
    SharedParameters,
    /// A schema inside the choice of schema and file.
    ResponseSchema,
    /// Lists of strings by name.
    Requirements,
    SecurityDefinitions,
}

use Kind::{
    AdditionalProperties, Any, Anys, Double, Flag, Integer, Items, Many, Named, One, Parameters, Paths, Requirements,
    ResponseSchema, Responses, SecurityDefinitions, SharedParameters, Text, Texts, Types,
};

static DOCUMENT: Message = Message {
    fields: &[
        Field("swagger", 1, Text),
        Field("info", 2, One(&INFO)),
        Field("host", 3, Text),
        Field("basePath", 4, Text),
        Field("schemes", 5, Texts),
        Field("consumes", 6, Texts),
        Field("produces", 7, Texts),
        Field("paths", 8, Paths),
        Field("definitions", 9, Named(&SCHEMA)),
        Field("parameters", 10, SharedParameters),
        Field("security", 12, Requirements),
        Field("securityDefinitions", 13, SecurityDefinitions),
        Field("tags", 14, Many(&TAG)),
        Field("externalDocs", 15, One(&EXTERNAL_DOCS)),
    ],
    extensions: 16,
};

static INFO: Message = Message {
    fields: &[
        Field("title", 1, Text),
        Field("version", 2, Text),
        Field("description", 3, Text),
        Field("termsOfService", 4, Text),
    ],
    extensions: 7,
};

static TAG: Message = Message {
    fields: &[Field("name", 1, Text), Field("description", 2, Text), Field("externalDocs", 3, One(&EXTERNAL_DOCS))],
    extensions: 4,
};

static EXTERNAL_DOCS: Message =
    Message { fields: &[Field("description", 1, Text), Field("url", 2, Text)], extensions: 3 };

static PATH_ITEM: Message = Message {
    fields: &[
        Field("$ref", 1, Text),
        Field("get", 2, One(&OPERATION)),
        Field("put", 3, One(&OPERATION)),
        Field("post", 4, One(&OPERATION)),
        Field("delete", 5, One(&OPERATION)),
        Field("options", 6, One(&OPERATION)),
        Field("head", 7, One(&OPERATION)),
        Field("patch", 8, One(&OPERATION)),
        Field("parameters", 9, Parameters),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        Field("tags", 1, Texts),
        Field("summary", 2, Text),
        Field("description", 3, Text),
        Field("externalDocs", 4, One(&EXTERNAL_DOCS)),
        Field("operationId", 5, Text),
        Field("produces", 6, Texts),
        Field("consumes", 7, Texts),
        Field("parameters", 8, Parameters),
        Field("responses", 9, Responses),
        Field("schemes", 10, Texts),
        Field("deprecated", 11, Flag),
        Field("security", 12, Requirements),
    ],
    extensions: 13,
};

static BODY_PARAMETER: Message = Message {
    fields: &[
        Field("description", 1, Text),
        Field("name", 2, Text),
        Field("in", 3, Text),
        Field("required", 4, Flag),
        Field("schema", 5, One(&SCHEMA)),
    ],
    extensions: 6,
};

/// Header and path parameters have the same numbers.
static PATH_PARAMETER: Message = Message {
    fields: &[
        Field("required", 1, Flag),
        Field("in", 2, Text),
        Field("description", 3, Text),
        Field("name", 4, Text),
        Field("type", 5, Text),
        Field("format", 6, Text),
        Field("items", 7, One(&PRIMITIVE)),
        Field("collectionFormat", 8, Text),
        Field("default", 9, Any),
        Field("maximum", 10, Double),
        Field("exclusiveMaximum", 11, Flag),
        Field("minimum", 12, Double),
        Field("exclusiveMinimum", 13, Flag),
        Field("maxLength", 14, Integer),
        Field("minLength", 15, Integer),
        Field("pattern", 16, Text),
        Field("maxItems", 17, Integer),
        Field("minItems", 18, Integer),
        Field("uniqueItems", 19, Flag),
        Field("enum", 20, Anys),
        Field("multipleOf", 21, Double),
    ],
    extensions: 22,
};

/// Query and form parameters have the same numbers.
static QUERY_PARAMETER: Message = Message {
    fields: &[
        Field("required", 1, Flag),
        Field("in", 2, Text),
        Field("description", 3, Text),
        Field("name", 4, Text),
        Field("allowEmptyValue", 5, Flag),
        Field("type", 6, Text),
        Field("format", 7, Text),
        Field("items", 8, One(&PRIMITIVE)),
        Field("collectionFormat", 9, Text),
        Field("default", 10, Any),
        Field("maximum", 11, Double),
        Field("exclusiveMaximum", 12, Flag),
        Field("minimum", 13, Double),
        Field("exclusiveMinimum", 14, Flag),
        Field("maxLength", 15, Integer),
        Field("minLength", 16, Integer),
        Field("pattern", 17, Text),
        Field("maxItems", 18, Integer),
        Field("minItems", 19, Integer),
        Field("uniqueItems", 20, Flag),
        Field("enum", 21, Anys),
        Field("multipleOf", 22, Double),
    ],
    extensions: 23,
};

static PRIMITIVE: Message = Message {
    fields: &[
        Field("type", 1, Text),
        Field("format", 2, Text),
        Field("items", 3, One(&PRIMITIVE)),
        Field("collectionFormat", 4, Text),
        Field("default", 5, Any),
        Field("maximum", 6, Double),
        Field("exclusiveMaximum", 7, Flag),
        Field("minimum", 8, Double),
        Field("exclusiveMinimum", 9, Flag),
        Field("maxLength", 10, Integer),
        Field("minLength", 11, Integer),
        Field("pattern", 12, Text),
        Field("maxItems", 13, Integer),
        Field("minItems", 14, Integer),
        Field("uniqueItems", 15, Flag),
        Field("enum", 16, Anys),
        Field("multipleOf", 17, Double),
    ],
    extensions: 18,
};

static REFERENCE: Message = Message { fields: &[Field("$ref", 1, Text), Field("description", 2, Text)], extensions: 0 };

static RESPONSE: Message =
    Message { fields: &[Field("description", 1, Text), Field("schema", 2, ResponseSchema)], extensions: 5 };

static SCHEMA: Message = Message {
    fields: &[
        Field("$ref", 1, Text),
        Field("format", 2, Text),
        Field("title", 3, Text),
        Field("description", 4, Text),
        Field("default", 5, Any),
        Field("multipleOf", 6, Double),
        Field("maximum", 7, Double),
        Field("exclusiveMaximum", 8, Flag),
        Field("minimum", 9, Double),
        Field("exclusiveMinimum", 10, Flag),
        Field("maxLength", 11, Integer),
        Field("minLength", 12, Integer),
        Field("pattern", 13, Text),
        Field("maxItems", 14, Integer),
        Field("minItems", 15, Integer),
        Field("uniqueItems", 16, Flag),
        Field("maxProperties", 17, Integer),
        Field("minProperties", 18, Integer),
        Field("required", 19, Texts),
        Field("enum", 20, Anys),
        Field("additionalProperties", 21, AdditionalProperties),
        Field("type", 22, Types),
        Field("items", 23, Items),
        Field("allOf", 24, Many(&SCHEMA)),
        Field("properties", 25, Named(&SCHEMA)),
        Field("discriminator", 26, Text),
        Field("readOnly", 27, Flag),
        Field("externalDocs", 29, One(&EXTERNAL_DOCS)),
        Field("example", 30, Any),
    ],
    extensions: 31,
};

static API_KEY: Message = Message {
    fields: &[Field("type", 1, Text), Field("name", 2, Text), Field("in", 3, Text), Field("description", 4, Text)],
    extensions: 5,
};

static BASIC: Message = Message { fields: &[Field("type", 1, Text), Field("description", 2, Text)], extensions: 3 };

/// The document's bytes.
pub fn encode_v2(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&DOCUMENT, document, &mut out);
    out
}

fn encode(message: &Message, value: &Value, out: &mut Vec<u8>) {
    let Some(object) = value.as_object() else { return };
    for Field(key, number, kind) in message.fields {
        if let Some(value) = object.get(*key).filter(|value| !value.is_null()) {
            encode_field(*number, kind, value, out);
        }
    }
    if message.extensions > 0 {
        encode_extensions(message.extensions, object, out);
    }
}

fn encode_field(number: u32, kind: &Kind, value: &Value, out: &mut Vec<u8>) {
    match kind {
        Text => text(number, value.as_str().unwrap_or_default(), out),
        Flag => flag(number, value.as_bool().unwrap_or(false), out),
        Integer => {
            let integer = value.as_i64().unwrap_or(0);
            if integer != 0 {
                tag(number, 0, out);
                varint(integer.cast_unsigned(), out);
            }
        }
        Double => {
            let double = value.as_f64().unwrap_or(0.0);
            if double != 0.0 {
                tag(number, 1, out);
                out.extend_from_slice(&double.to_le_bytes());
            }
        }
        Texts => strings(number, value, out),
        Any => nested(number, out, |out| any(value, out)),
        Anys => items(value).iter().for_each(|item| nested(number, out, |out| any(item, out))),
        One(message) => nested(number, out, |out| encode(message, value, out)),
        Many(message) => items(value).iter().for_each(|item| nested(number, out, |out| encode(message, item, out))),
        Named(message) => nested(number, out, |out| named(1, value, out, |item, out| encode(message, item, out))),
        Items => nested(number, out, |out| {
            let single = std::slice::from_ref(value);
            let schemas = if value.is_array() { items(value) } else { single };
            schemas.iter().for_each(|schema| nested(1, out, |out| encode(&SCHEMA, schema, out)));
        }),
        Types => nested(number, out, |out| match value {
            Value::String(one) => text(1, one, out),
            several => strings(1, several, out),
        }),
        AdditionalProperties => nested(number, out, |out| match value {
            Value::Bool(allowed) => {
                // A choice is written even where it is the default.
                tag(2, 0, out);
                varint(u64::from(*allowed), out);
            }
            schema => nested(1, out, |out| encode(&SCHEMA, schema, out)),
        }),
        Paths => nested(number, out, |out| {
            if let Some(object) = value.as_object() {
                encode_extensions(1, object, out);
            }
            named(2, value, out, |item, out| encode(&PATH_ITEM, item, out));
        }),
        Responses => nested(number, out, |out| {
            named(1, value, out, |response, out| {
                let (choice, message) = if response.get("$ref").is_some() { (2, &REFERENCE) } else { (1, &RESPONSE) };
                nested(choice, out, |out| encode(message, response, out));
            });
            if let Some(object) = value.as_object() {
                encode_extensions(2, object, out);
            }
        }),
        Parameters => items(value).iter().for_each(|item| nested(number, out, |out| parameter(item, out))),
        SharedParameters => nested(number, out, |out| named(1, value, out, plain_parameter)),
        ResponseSchema => nested(number, out, |out| nested(1, out, |out| encode(&SCHEMA, value, out))),
        Requirements => items(value).iter().for_each(|item| {
            nested(number, out, |out| named(1, item, out, |scopes, out| strings(1, scopes, out)));
        }),
        SecurityDefinitions => nested(number, out, |out| {
            named(1, value, out, |item, out| match item.get("type").and_then(Value::as_str) {
                Some("basic") => nested(1, out, |out| encode(&BASIC, item, out)),
                Some("apiKey") => nested(2, out, |out| encode(&API_KEY, item, out)),
                _ => {}
            });
        }),
    }
}

/// A parameter is a choice of choices: a reference, a body, or one of the other places.
fn parameter(value: &Value, out: &mut Vec<u8>) {
    if value.get("$ref").is_some() {
        return nested(2, out, |out| encode(&REFERENCE, value, out));
    }
    nested(1, out, |out| plain_parameter(value, out));
}

fn plain_parameter(value: &Value, out: &mut Vec<u8>) {
    let (choice, message) = match value.get("in").and_then(Value::as_str) {
        Some("body") => return nested(1, out, |out| encode(&BODY_PARAMETER, value, out)),
        Some("header") => (1, &PATH_PARAMETER),
        Some("formData") => (2, &QUERY_PARAMETER),
        Some("query") => (3, &QUERY_PARAMETER),
        _ => (4, &PATH_PARAMETER),
    };
    nested(2, out, |out| nested(choice, out, |out| encode(message, value, out)));
}

/// Pairs of a name and a value. Keys that begin with `x-` are extensions and not pairs.
fn named(number: u32, value: &Value, out: &mut Vec<u8>, mut encode_value: impl FnMut(&Value, &mut Vec<u8>)) {
    for (name, item) in value.as_object().into_iter().flatten().filter(|(name, _)| !name.starts_with("x-")) {
        nested(number, out, |out| {
            text(1, name, out);
            nested(2, out, |out| encode_value(item, out));
        });
    }
}

fn encode_extensions(number: u32, object: &Map<String, Value>, out: &mut Vec<u8>) {
    for (name, value) in object.iter().filter(|(name, _)| name.starts_with("x-")) {
        nested(number, out, |out| {
            text(1, name, out);
            nested(2, out, |out| any(value, out));
        });
    }
}

fn any(value: &Value, out: &mut Vec<u8>) {
    text(2, &format!("{value}\n"), out);
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn strings(number: u32, value: &Value, out: &mut Vec<u8>) {
    for item in items(value).iter().filter_map(Value::as_str) {
        bytes(number, item.as_bytes(), out);
    }
}

fn flag(number: u32, value: bool, out: &mut Vec<u8>) {
    if value {
        tag(number, 0, out);
        out.push(1);
    }
}

fn text(number: u32, value: &str, out: &mut Vec<u8>) {
    if !value.is_empty() {
        bytes(number, value.as_bytes(), out);
    }
}

fn nested(number: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    bytes(number, &inner, out);
}

fn bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    tag(number, 2, out);
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

fn tag(number: u32, wire_type: u32, out: &mut Vec<u8>) {
    varint(u64::from(number << 3 | wire_type), out);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_written_field_by_field() {
        let document = json!({"swagger": "2.0", "info": {"title": "K", "version": "v1"}});
        assert_eq!(encode_v2(&document), b"\x0a\x032.0\x12\x07\x0a\x01K\x12\x02v1");
    }

    #[test]
    fn paths_parameters_and_responses_are_choices() {
        let document = json!({"paths": {"/p": {
            "get": {"responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/d"}}}},
            "parameters": [{"in": "query", "name": "q", "uniqueItems": true}],
        }}});
        let bytes = encode_v2(&document);
        let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(has(b"\x0a\x02/p"), "the name of the path");
        assert!(has(b"\x0a\x03200"), "the code of the response");
        assert!(has(b"\x0a\x0f#/definitions/d"), "the reference");
        // query_parameter_sub_schema (3) inside non_body_parameter (2) inside parameter (1).
        assert!(has(b"\x0a\x11\x12\x0f\x1a\x0d\x12\x05query\x22\x01q\xa0\x01\x01"));
    }

    #[test]
    fn shared_parameters_are_pairs_and_references_to_them() {
        let document = json!({
            "paths": {"/p": {"parameters": [{"$ref": "#/parameters/q-1"}]}},
            "parameters": {"q-1": {"in": "query", "name": "q"}},
        });
        let bytes = encode_v2(&document);
        let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(has(b"\x4a\x14\x12\x12\x0a\x10#/parameters/q-1"), "json_reference (2) inside parameter");
        // parameters (10) holds named_parameter (1): a name (1) and a parameter (2), which is
        // here a query_parameter_sub_schema (3) inside non_body_parameter (2).
        assert!(has(b"\x52\x17\x0a\x15\x0a\x03q-1\x12\x0e\x12\x0c\x1a\x0a\x12\x05query\x22\x01q"));
    }

    #[test]
    fn schemas_keep_types_items_and_extensions() {
        let mut out = Vec::new();
        let schema =
            json!({"type": "array", "items": {"type": "string"}, "additionalProperties": false, "x-a": {"b": 1}});
        encode(&SCHEMA, &schema, &mut out);
        assert_eq!(
            out,
            b"\xaa\x01\x02\x10\x00\xb2\x01\x07\x0a\x05array\xba\x01\x0d\x0a\x0b\xb2\x01\x08\x0a\x06string\xfa\x01\x11\x0a\x03x-a\x12\x0a\x12\x08{\"b\":1}\n"
        );
    }
}
