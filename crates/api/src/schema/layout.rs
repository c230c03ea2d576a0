//! How protobuf lays a type out: the fields by tag, with embedded structs as the nested
//! messages that they are there. Built on first use, since most types never travel so.

use super::Field;

#[derive(Debug, Default)]
pub struct Layout {
    /// In the order of tags.
    pub entries: Vec<(u32, Entry)>,
}

#[derive(Debug)]
pub enum Entry {
    /// The position of a field in the type.
    Field(u16),
    /// A struct whose fields stand in the same JSON object.
    Embedded(Layout),
}

impl Layout {
    pub(super) fn new(fields: &[Field]) -> Self {
        let mut layout = Self::default();
        for (index, field) in fields.iter().enumerate() {
            let (Some(tag), Ok(index)) = (field.tag, u16::try_from(index)) else { continue };
            layout.insert(&field.embedded_in, tag, index);
        }
        layout.sort();
        layout
    }

    fn insert(&mut self, embedded_in: &[u32], tag: u32, index: u16) {
        let Some((outer, inner)) = embedded_in.split_first() else {
            self.entries.push((tag, Entry::Field(index)));
            return;
        };
        let known = self.entries.iter().position(|(known, _)| known == outer);
        let position = known.unwrap_or_else(|| {
            self.entries.push((*outer, Entry::Embedded(Self::default())));
            self.entries.len() - 1
        });
        if let (_, Entry::Embedded(layout)) = &mut self.entries[position] {
            layout.insert(inner, tag, index);
        }
    }

    fn sort(&mut self) {
        self.entries.sort_by_key(|(tag, _)| *tag);
        for (_, entry) in &mut self.entries {
            if let Entry::Embedded(layout) = entry {
                layout.sort();
            }
        }
    }

    pub fn find(&self, tag: u32) -> Option<&Entry> {
        let index = self.entries.binary_search_by_key(&tag, |(known, _)| *known).ok()?;
        Some(&self.entries[index].1)
    }
}
