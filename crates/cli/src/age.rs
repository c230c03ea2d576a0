//! Ages of objects as kubectl prints them.

use ferry_api::rules::duration::human;
use jiff::Timestamp;

/// The age of a time in RFC 3339; `<unknown>` where there is none.
pub(crate) fn since(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => human(Timestamp::now().as_second() - time.as_second()),
        Err(_) => "<unknown>".into(),
    }
}
