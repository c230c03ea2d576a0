//! The notes of plugins from one point of a cycle to the next.

use super::profile::PluginSet;
use std::any::{Any, TypeId};
use std::sync::Arc;

/// Values that plugins keep between the points of one cycle, by type. A clone shares them
/// until one side edits, so that a trial of a preemption starts from the cycle's own.
#[derive(Clone, Default)]
pub struct CycleState {
    /// A handful at most, which a list finds faster than a hash.
    data: Vec<(TypeId, Arc<dyn Any + Send + Sync>)>,
    pub(super) skipped_filters: PluginSet,
    pub(super) skipped_scores: PluginSet,
}

impl CycleState {
    pub fn write<T: Send + Sync + 'static>(&mut self, value: T) {
        let id = TypeId::of::<T>();
        self.data.retain(|(other, _)| *other != id);
        self.data.push((id, Arc::new(value)));
    }

    pub fn read<T: 'static>(&self) -> Option<&T> {
        let id = TypeId::of::<T>();
        self.data.iter().find(|(other, _)| *other == id)?.1.downcast_ref()
    }

    /// The value to change in place; clones of this state keep theirs.
    pub fn edit<T: Clone + Send + Sync + 'static>(&mut self) -> Option<&mut T> {
        let id = TypeId::of::<T>();
        let (_, value) = self.data.iter_mut().find(|(other, _)| *other == id)?;
        if Arc::get_mut(value).is_none() {
            *value = Arc::new(value.downcast_ref::<T>()?.clone());
        }
        Arc::get_mut(value)?.downcast_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_leaves_clones_as_they_were() {
        let mut state = CycleState::default();
        state.write(1_i32);
        state.write("text");
        let mut trial = state.clone();
        *trial.edit::<i32>().expect("written") += 1;
        assert_eq!((state.read::<i32>(), trial.read::<i32>()), (Some(&1), Some(&2)));
        assert_eq!(trial.read::<&str>(), Some(&"text"));
        assert_eq!(trial.edit::<u8>(), None);
    }
}
