//! The labels of an object and its fields that selectors may name, in one allocation: every
//! watcher of a kind asks for them on every change, without reading the object. Held by
//! `stored.rs`.
//!
//! ```text
//! text  appwebRunningnode-1
//! ends     3  6      13    19     of: label app = web, fields status.phase, spec.nodeName
//! ```

use ferry_api::document::Node;

#[derive(Debug, Default)]
pub(crate) struct Selectable {
    /// The names and values of the labels by turns, then the values of the fields.
    text: Box<str>,
    /// Where each of them ends.
    ends: Box<[u32]>,
    /// The names of the fields, which all objects of a kind have in common.
    fields: Names,
}

/// The names of a kind's fields: one array of the process for each kind.
type Names = &'static [&'static str];

impl Selectable {
    pub(crate) fn of(object: Node<'_>, fields: Vec<(&'static str, String)>) -> Self {
        let labels = object.get("metadata").and_then(|metadata| metadata.get("labels")).unwrap_or_default();
        let (mut text, mut ends) = (String::new(), Vec::new());
        let mut push = |part: &str| {
            text.push_str(part);
            // No object is near 4 GiB: a request's body is limited to 3 MiB.
            ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        };
        for (name, value) in labels.entries().filter_map(|(name, value)| Some((name, value.as_str()?))) {
            push(name);
            push(value);
        }
        fields.iter().for_each(|(_, value)| push(value));
        Self { fields: names::of(&fields), text: text.into(), ends: ends.into() }
    }

    /// The bytes that it takes besides its own.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + size_of_val(&*self.ends)
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let count = self.ends.len() - self.fields.len();
        (0..count / 2).map(|number| (self.part(2 * number), self.part(2 * number + 1)))
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let number = self.fields.iter().position(|field| *field == name)?;
        Some(self.part(self.ends.len() - self.fields.len() + number))
    }

    fn part(&self, number: usize) -> &str {
        let end = |number: usize| self.ends.get(number).map_or(0, |end| *end as usize);
        let start = number.checked_sub(1).map_or(0, end);
        self.text.get(start..end(number)).unwrap_or_default()
    }
}

mod names {
    use super::Names;
    use parking_lot::RwLock;

    /// As many as there are kinds with selectable fields: a strategy names the same ones for
    /// each of its objects.
    static KNOWN: RwLock<Vec<Names>> = RwLock::new(Vec::new());

    pub(super) fn of(fields: &[(&'static str, String)]) -> Names {
        let are_these = |names: &&Names| names.iter().copied().eq(fields.iter().map(|(name, _)| *name));
        if fields.is_empty() {
            return &[];
        }
        if let Some(names) = KNOWN.read().iter().find(are_these) {
            return names;
        }
        let mut known = KNOWN.write();
        if let Some(names) = known.iter().find(are_these) {
            return names;
        }
        let names: Names = fields.iter().map(|(name, _)| *name).collect::<Vec<_>>().leak();
        known.push(names);
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn labels_and_fields_are_found_by_name() {
        let object = json!({"metadata": {"labels": {"app": "web", "": "z", "é": "", "no": 1}}});
        let fields = vec![("status.phase", "Running".to_owned()), ("spec.nodeName", String::new())];
        let selectable = Selectable::of(Node::Value(&object), fields.clone());
        let mut labels: Vec<_> = selectable.labels().collect();
        labels.sort_unstable();
        assert_eq!(labels, [("", "z"), ("app", "web"), ("é", "")]);
        assert_eq!(selectable.field("status.phase"), Some("Running"));
        assert_eq!((selectable.field("spec.nodeName"), selectable.field("app")), (Some(""), None));
        let other = Selectable::of(Node::NULL, fields);
        assert!(std::ptr::eq(selectable.fields, other.fields), "names are held once");
        assert_eq!((other.labels().count(), other.field("status.phase")), (0, Some("Running")));
        assert_eq!(Selectable::default().labels().count(), 0);
    }
}
