//! What must hold for any bytes from outside: one target for each place where ferry reads
//! what it did not write. A target is a function that panics when a property is broken, so
//! that the same code serves the quick test (`tests/replay.rs`, in `make test`) and
//! libFuzzer (`fuzz_targets/`, by `make fuzz`).
//!
//! Inputs are plain wherever the format is: a target that needs two documents takes the
//! first line as one and the rest as the other.

mod codec;
mod expression;
mod framing;
mod patch;
mod request;
mod text;

/// A place that reads bytes from outside.
#[derive(Clone, Copy)]
pub struct Target {
    /// Names the folder of seeds and the binary for libFuzzer.
    pub name: &'static str,
    pub check: fn(&[u8]),
}

/// Every target. One line here, one file in `fuzz_targets/` and a folder in `corpus/`.
pub const ALL: &[Target] = &[
    Target { name: "json", check: codec::json },
    Target { name: "json_object", check: codec::json_object },
    Target { name: "yaml", check: codec::yaml },
    Target { name: "protobuf_object", check: codec::protobuf_object },
    Target { name: "protobuf_envelope", check: codec::protobuf_envelope },
    Target { name: "metadata", check: codec::metadata },
    Target { name: "patch_json", check: patch::json },
    Target { name: "patch_merge", check: patch::merge },
    Target { name: "patch_strategic", check: patch::strategic },
    Target { name: "patch_apply", check: patch::apply },
    Target { name: "managed_fields", check: patch::managed_fields },
    Target { name: "label_selector", check: text::label_selector },
    Target { name: "field_selector", check: text::field_selector },
    Target { name: "quantity", check: text::quantity },
    Target { name: "time", check: text::time },
    Target { name: "usage_page", check: text::usage_page },
    Target { name: "request_info", check: request::request_info },
    Target { name: "continue_token", check: request::continue_token },
    Target { name: "spdy", check: framing::spdy },
    Target { name: "websocket", check: framing::websocket },
    Target { name: "cel", check: expression::cel },
    Target { name: "crd_schema", check: expression::crd_schema },
    Target { name: "json_path", check: expression::json_path },
];

/// Runs the target of a name; the binaries for libFuzzer call this.
pub fn run(name: &str, data: &[u8]) {
    let target = ALL.iter().find(|target| target.name == name).expect("every binary names a target");
    (target.check)(data);
}

/// The first line, and what follows it.
fn two_parts(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, b""),
    }
}
