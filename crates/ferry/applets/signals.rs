//! Waiting for signals with nothing but libc: the only unsafe code of the applets.
//!
//! As process 1 of its namespace a program gets no default action for SIGTERM, so each
//! applet that runs for long must handle it; and the pause process of a pod that shares
//! its process namespace inherits orphans and must reap them.

use std::process::ExitCode;

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
const SIGCHLD: i32 = 17;
const WNOHANG: i32 = 1;

unsafe extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn pause() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(code: i32) -> !;
}

extern "C" fn leave(_signal: i32) {
    // SAFETY: `_exit` is async-signal-safe and takes no pointer.
    unsafe { _exit(0) }
}

extern "C" fn reap(_signal: i32) {
    // SAFETY: `waitpid` is async-signal-safe; a null status pointer is allowed.
    while unsafe { waitpid(-1, std::ptr::null_mut(), WNOHANG) } > 0 {}
}

/// SIGTERM and SIGINT end the process at once with success.
pub fn exit_on_term() {
    // SAFETY: the handlers call only async-signal-safe functions.
    unsafe {
        signal(SIGINT, leave);
        signal(SIGTERM, leave);
    }
}

/// Does nothing until told to stop, reaping children that were left behind.
pub fn hold_and_reap() -> ExitCode {
    exit_on_term();
    // SAFETY: as above; `pause` returns after each handled signal.
    unsafe {
        signal(SIGCHLD, reap);
        loop {
            pause();
        }
    }
}
