//! Compiles the applets into a static binary that the ferry binary then carries.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=applets");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let rustc = std::env::var("RUSTC").expect("cargo sets RUSTC");
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
    let binary = Path::new(&out).join("applets");
    let status = Command::new(rustc)
        .args(["--edition=2024", "--crate-name=applets", "applets/main.rs", "--target", &target, "-o"])
        .arg(&binary)
        .args(["-C", "target-feature=+crt-static", "-C", "opt-level=s", "-C", "lto=fat", "-C", "codegen-units=1"])
        .args(["-C", "panic=abort", "-C", "strip=symbols"])
        .status()
        .expect("the compiler that builds ferry can be started");
    assert!(status.success(), "the applets do not compile");
    println!("cargo::rustc-env=FERRY_APPLETS={}", binary.display());
}
