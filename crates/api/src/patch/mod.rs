//! How a request changes an object: JSON patch, merge patch, strategic merge patch and
//! server-side apply, and who owns which field after each write.
//!
//! Everything here is a function on JSON values; the API server's patch verb picks one
//! by content type, and every write ends in [`apply::update`] or [`apply::apply`].

pub mod apply;
pub mod go;
pub mod json;
pub mod merge;
pub mod strategic;

use crate::status::{Details, Status};

/// What upstream answers when a well-formed patch cannot be carried out: one fixed
/// sentence, with the cause kept to itself.
fn unprocessable() -> Status {
    Status::failure(422, "Invalid", "the server rejected our request due to an error in our request")
        .with_details(Details::default())
}
