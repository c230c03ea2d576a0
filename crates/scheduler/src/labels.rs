//! The labels of a pod or a namespace as plain texts. Selectors are held against them for
//! every pod on every node, which is too often for a view of the document.

use ferry_api::selector::Selector;
use ferry_api::view::Map;

/// Sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Box<[(Box<str>, Box<str>)]>);

impl Labels {
    pub fn of(map: Map<'_, &str>) -> Self {
        let mut pairs: Vec<(Box<str>, Box<str>)> =
            map.iter().map(|(name, value)| (name.into(), value.into())).collect();
        pairs.sort();
        Self(pairs.into())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        // A handful of them: faster than a binary search.
        self.0.iter().find(|(own, _)| **own == *name).map(|(_, value)| &**value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn match_selector(&self, selector: &Selector) -> bool {
        selector.matches_with(|name| self.get(name))
    }
}
