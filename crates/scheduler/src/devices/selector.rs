//! The CEL selectors of classes and claims, compiled once a text.

use ferry_api::view::resource::v1::DeviceView;
use ferry_cel::{Program, Stage, device};
use std::collections::HashMap;
use std::sync::Arc;

/// Selectors that are kept compiled. Clusters have a handful, of their classes.
const MAX_SELECTORS: usize = 256;

#[derive(Debug)]
pub struct Selector {
    /// Two selectors of one text have one number as long as it is kept.
    pub id: u32,
    program: Result<Program, String>,
}

impl Selector {
    pub fn matches(&self, driver: &str, device: DeviceView<'_>) -> Result<bool, String> {
        let program = self.program.as_ref().map_err(|error| format!("CEL compile error: {error}"))?;
        device::matches(program, driver, device).map_err(|error| format!("CEL runtime error: {error}"))
    }
}

#[derive(Default)]
pub struct Selectors {
    by_text: HashMap<Box<str>, Arc<Selector>>,
    next: u32,
}

impl Selectors {
    pub fn get(&mut self, text: &str) -> Arc<Selector> {
        if let Some(selector) = self.by_text.get(text) {
            return selector.clone();
        }
        if self.by_text.len() >= MAX_SELECTORS {
            self.by_text.clear();
        }
        let program = device::environment().compile(text).map_err(|errors| match errors.stage {
            Stage::Compile => format!("compilation failed: {errors}"),
            Stage::Instantiate => format!("program instantiation failed: {errors}"),
        });
        self.next = self.next.wrapping_add(1);
        let selector = Arc::new(Selector { id: self.next, program });
        self.by_text.insert(text.into(), selector.clone());
        selector
    }
}
