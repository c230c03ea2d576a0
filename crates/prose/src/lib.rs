//! The words of `kubectl explain`: what each type and field is for. The API server asks for them
//! while it renders an OpenAPI document.
//!
//! ferry keeps no prose of its own about the API. build.rs makes a table of k8s-openapi's doc
//! strings and describes its form; the table is part of the binary and read where it lies.

const STRINGS: &str = include_str!(concat!(env!("OUT_DIR"), "/strings.txt"));
const TYPES: Records<6> = Records(include_bytes!(concat!(env!("OUT_DIR"), "/types.bin")));
const FIELDS: Records<4> = Records(include_bytes!(concat!(env!("OUT_DIR"), "/fields.bin")));

/// The text about a type (`io.k8s.api.core.v1.Pod` and no field) or about one of its fields.
pub fn get(definition: &str, field: Option<&str>) -> Option<&'static str> {
    let [.., text, length, first, count] = TYPES.find(definition, 0, TYPES.len())?;
    let (text, length) = match field {
        None => (text, length),
        Some(field) => {
            let [.., text, length] = FIELDS.find(field, first as usize, count as usize)?;
            (text, length)
        }
    };
    string(text, length).filter(|text| !text.is_empty())
}

/// How many types there are words about.
pub fn type_count() -> usize {
    TYPES.len()
}

/// Records of `N` numbers each, of which the first two are a name.
struct Records<const N: usize>(&'static [u8]);

impl<const N: usize> Records<N> {
    const SIZE: usize = N * size_of::<u32>();

    fn len(&self) -> usize {
        self.0.len() / Self::SIZE
    }

    fn get(&self, position: usize) -> Option<[u32; N]> {
        let record = self.0.get(position * Self::SIZE..)?.get(..Self::SIZE)?;
        let mut numbers = record.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        Some(std::array::from_fn(|_| numbers.next().unwrap_or_default()))
    }

    /// The record of that name among `count` records from `first` on, which are sorted by name.
    fn find(&self, name: &str, first: usize, count: usize) -> Option<[u32; N]> {
        let (mut low, mut high) = (first, first + count);
        while low < high {
            let middle = low.midpoint(high);
            let record = self.get(middle)?;
            match string(record[0], record[1])?.cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(record),
            }
        }
        None
    }
}

fn string(offset: u32, length: u32) -> Option<&'static str> {
    STRINGS.get(offset as usize..)?.get(..length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_fields_have_words() {
        assert!(type_count() > 300, "{}", type_count());
        for (definition, field) in [
            ("io.k8s.api.core.v1.Pod", None),
            ("io.k8s.api.core.v1.Container", Some("image")),
            ("io.k8s.api.apps.v1.DeploymentSpec", Some("strategy")),
            ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", Some("labels")),
        ] {
            assert!(get(definition, field).is_some_and(|text| text.len() > 10), "{definition} {field:?}");
        }
        assert_eq!(get("io.k8s.api.core.v1.Pod", Some("colour")), None);
    }

    #[test]
    fn every_name_in_the_table_is_found_again() {
        for position in 0..TYPES.len() {
            let [name, length, _, _, first, count] = TYPES.get(position).expect("a record");
            let definition = string(name, length).expect("a name");
            assert_eq!(TYPES.find(definition, 0, TYPES.len()), TYPES.get(position), "{definition}");
            for position in first..first + count {
                let [name, length, ..] = FIELDS.get(position as usize).expect("a record");
                let field = string(name, length).expect("a name");
                assert!(get(definition, Some(field)).is_some(), "{definition} {field}");
            }
        }
        for absent in ["", "a", "io.k8s.api.core.v1.Po", "io.k8s.api.core.v1.Pode", "zzz"] {
            assert_eq!(get(absent, None), None, "{absent:?}");
        }
    }
}
