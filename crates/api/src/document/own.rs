//! The values of one object that differ from those of the object whose text it shares
//! (`shapes.rs`), in one allocation.
//!
//! ```text
//! one bit for each entry of the index │ the end of each value │ the values
//! ```

use super::index::Index;

/// The values of an object of its own, by the numbers of their entries.
#[derive(Debug, Default)]
pub(super) struct Own {
    data: Box<[u8]>,
    words: u16,
    count: u16,
}

const WORD: usize = size_of::<u64>();
const END: usize = size_of::<u16>();

/// An index of more entries is not shared: what comes before a value is counted for each read.
pub(super) const MAX_ENTRIES: usize = 64 * u64::BITS as usize;

impl Own {
    /// The value of this entry, if it is the object's own.
    pub(super) fn get(&self, at: usize) -> Option<&[u8]> {
        let (number, bit) = (at / u64::BITS as usize, 1 << (at % u64::BITS as usize));
        let word = self.word(number);
        if word & bit == 0 {
            return None;
        }
        let before: u32 = (0..number).map(|number| self.word(number).count_ones()).sum();
        Some(self.value((before + (word & (bit - 1)).count_ones()) as usize))
    }

    /// The numbers of the entries from `first` on whose values are the object's own, with these
    /// values, in the order of the text.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = (usize, &[u8])> {
        let entries = (0..usize::from(self.words)).flat_map(|number| {
            let mut word = self.word(number);
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(number * u64::BITS as usize + bit as usize)
            })
        });
        entries.enumerate().skip_while(move |(_, at)| *at < first).map(|(number, at)| (at, self.value(number)))
    }

    /// Whether all values are those of the text.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The bytes that it takes besides its own.
    pub(super) fn size(&self) -> usize {
        self.data.len()
    }

    /// The same values with another one for this entry.
    pub(super) fn with(&self, at: usize, value: &[u8]) -> Option<Self> {
        let mut builder = OwnBuilder::default();
        let mut placed = false;
        for (entry, old) in self.from(0) {
            if entry >= at && !std::mem::replace(&mut placed, true) {
                builder.push(at, value);
            }
            if entry != at {
                builder.push(entry, old);
            }
        }
        if !placed {
            builder.push(at, value);
        }
        builder.finish()
    }

    fn word(&self, number: usize) -> u64 {
        if number >= usize::from(self.words) {
            return 0;
        }
        self.data[number * WORD..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
    }

    fn value(&self, number: usize) -> &[u8] {
        let (ends, text) = self.data[usize::from(self.words) * WORD..].split_at(usize::from(self.count) * END);
        let end = |number: usize| ends[number * END..].first_chunk().map_or(0, |end| u16::from_le_bytes(*end).into());
        text.get(number.checked_sub(1).map_or(0, end)..end(number)).unwrap_or_default()
    }
}

/// Collects the values of an object's own in the order of their entries.
#[derive(Default)]
pub(super) struct OwnBuilder {
    words: Vec<u64>,
    ends: Vec<usize>,
    text: Vec<u8>,
}

impl OwnBuilder {
    pub(super) fn push(&mut self, at: usize, value: &[u8]) {
        let number = at / u64::BITS as usize;
        if number >= self.words.len() {
            self.words.resize(number + 1, 0);
        }
        self.words[number] |= 1 << (at % u64::BITS as usize);
        self.text.extend_from_slice(value);
        self.ends.push(self.text.len());
    }

    /// The bytes of the values so far.
    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// `None` where the values are too long to be counted.
    pub(super) fn finish(self) -> Option<Own> {
        if self.ends.is_empty() {
            return Some(Own::default());
        }
        let mut data = Vec::with_capacity(self.words.len() * WORD + self.ends.len() * END + self.text.len());
        self.words.iter().for_each(|word| data.extend_from_slice(&word.to_le_bytes()));
        for end in &self.ends {
            data.extend_from_slice(&u16::try_from(*end).ok()?.to_le_bytes());
        }
        data.extend_from_slice(&self.text);
        let (words, count) = (u16::try_from(self.words.len()).ok()?, u16::try_from(self.ends.len()).ok()?);
        Some(Own { data: data.into(), words, count })
    }
}

/// What an object of the same shape as `text`, of which `index` is the index, has of its own.
/// `None` where the shapes differ: the text between the values, or the type of a value.
pub(super) fn compare(text: &str, index: &Index, other: &str, other_index: &Index, most: usize) -> Option<Own> {
    if index.len() != other_index.len() || index.len() > MAX_ENTRIES {
        return None;
    }
    let (text, other) = (text.as_bytes(), other.as_bytes());
    let mut own = OwnBuilder::default();
    let (mut behind, mut other_behind) = (0, 0);
    let (mut values, mut other_values) = (index.values(), other_index.values());
    loop {
        let (value, other_value) = match (values.next(), other_values.next()) {
            (Some(value), Some(other_value)) if value.is_alike(&other_value) => (value, other_value),
            (None, None) => break,
            _ => return None,
        };
        if text[behind..value.range.start] != other[other_behind..other_value.range.start] {
            return None;
        }
        let theirs = &other[other_value.range.clone()];
        if text[value.range.clone()] != *theirs {
            if value.is_escaped {
                own.push(value.at - 1, other_index.unescaped_of(value.at));
            }
            own.push(value.at, theirs);
            if own.text_len() > most {
                return None;
            }
        }
        (behind, other_behind) = (value.range.end, other_value.range.end);
    }
    (text[behind..] == other[other_behind..]).then(|| own.finish())?
}
