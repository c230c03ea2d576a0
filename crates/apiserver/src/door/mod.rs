//! Between the bytes of a connection and the chain: connections and their framing on the way
//! in, the formats of bodies, and the answers on the way out.
//!
//! ```text
//! serve.rs           TLS connections, HTTP/1.1 and HTTP/2
//! framing.rs         where a request ends
//! negotiate.rs       which format the client sends and accepts
//! wire.rs            bodies to objects
//! table.rs           objects as Table and PartialObjectMetadata
//! answer.rs          objects and failures to responses
//! compress.rs        gzip for large answers
//! finish.rs          work that goes on to its end when its client is gone
//! continue_token.rs  where the next page of a list begins
//! ```

pub(crate) mod answer;
pub(crate) mod compress;
pub mod continue_token;
pub(crate) mod finish;
pub(crate) mod framing;
pub(crate) mod negotiate;
pub(crate) mod serve;
pub(crate) mod table;
pub(crate) mod wire;
