//! Node.

use crate::Strategy;

pub struct Node;

impl Strategy for Node {}
