//! Which parts of a cluster run on this machine, and what a machine that joined knows of the
//! others. Part of `cluster.json`.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The parts that run here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// `ferry up`: a control plane and a node.
    #[default]
    ServerAndNode,
    /// `ferry server`: a control plane.
    Server,
    /// `ferry join`: a node of a cluster whose control plane is elsewhere.
    Node,
}

impl Role {
    pub fn has_server(self) -> bool {
        self != Self::Node
    }

    pub fn has_node(self) -> bool {
        self != Self::Server
    }

    /// The verb that starts it.
    pub fn verb(self) -> &'static str {
        match self {
            Self::ServerAndNode => "up",
            Self::Server => "server",
            Self::Node => "join",
        }
    }
}

/// The cluster that this machine has joined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Joined {
    /// The server that was named to `ferry join`; kept among the others for ever, because it
    /// may be a name that outlives every address.
    pub server: String,
    /// When, by the server's clock. A later removal concerns this node, an earlier one did not.
    pub at: i64,
}
