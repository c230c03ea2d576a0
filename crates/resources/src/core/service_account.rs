//! ServiceAccount.

use crate::Strategy;

pub struct ServiceAccount;

impl Strategy for ServiceAccount {}
