//! Every controller, one line each. A newcomer is run, and met by the tests that loop
//! over this list, by being named here.

use crate::error::Result;
use crate::runner::Controller;
use crate::{Config, deployment, replica_set};
use std::sync::Arc;

pub fn all(_config: &Config) -> Result<Vec<Arc<dyn Controller>>> {
    Ok(vec![Arc::new(deployment::DeploymentController), Arc::new(replica_set::ReplicaSetController::default())])
}
