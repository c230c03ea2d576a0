//! One object as a reader holds it: a shared document seen through its kind's view.

use ferry_api::document::Document;
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_api::view::{Kind, View};
use std::marker::PhantomData;
use std::sync::Arc;

/// One version of an object of kind `K`. A clone shares the document; in the process of the
/// API server it is the one that the watch cache holds.
pub struct SharedObject<K> {
    document: Arc<Document>,
    kind: PhantomData<fn() -> K>,
}

impl<K> SharedObject<K> {
    pub fn new(document: Arc<Document>) -> Self {
        Self { document, kind: PhantomData }
    }

    pub fn document(&self) -> &Arc<Document> {
        &self.document
    }
}

impl<K> Clone for SharedObject<K> {
    fn clone(&self) -> Self {
        Self::new(self.document.clone())
    }
}

impl<K> std::fmt::Debug for SharedObject<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.document.fmt(f)
    }
}

impl<K: Kind> SharedObject<K> {
    /// An object that the caller has made itself, of its kind's own value or of JSON.
    pub fn of(own: impl Into<K>) -> Self {
        let own: K = own.into();
        Self::new(Arc::new(Document::new(own.value().to_string().into_bytes().into())))
    }

    pub fn view(&self) -> K::View<'_> {
        K::View::over(self.document.root())
    }

    pub fn meta(&self) -> ObjectMetaView<'_> {
        K::metadata(self.view())
    }

    pub fn name(&self) -> &str {
        self.meta().name()
    }

    /// Empty for a cluster-scoped kind.
    pub fn namespace(&self) -> &str {
        self.meta().namespace()
    }

    pub fn uid(&self) -> &str {
        self.meta().uid()
    }

    pub fn is_deleting(&self) -> bool {
        self.meta().deletion_timestamp().is_some()
    }

    /// A copy of one's own, to be changed and sent.
    pub fn to_owned(&self) -> K {
        K::from(self.document.root().to_value())
    }

    /// How an event names this object.
    pub fn reference(&self) -> Reference {
        Reference::of::<K>(self.meta())
    }
}

impl<K: Kind> From<K> for SharedObject<K> {
    fn from(own: K) -> Self {
        Self::of(own)
    }
}

/// How an event names its object: upstream's ObjectReference. Empty fields are not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reference {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub resource_version: String,
    pub field_path: String,
}

impl Reference {
    pub fn of<K: Kind>(meta: ObjectMetaView<'_>) -> Self {
        Self {
            api_version: K::API_VERSION.to_owned(),
            kind: K::KIND.to_owned(),
            namespace: meta.namespace().to_owned(),
            name: meta.name().to_owned(),
            uid: meta.uid().to_owned(),
            resource_version: meta.resource_version().to_owned(),
            field_path: String::new(),
        }
    }

    /// The same object, and the field of it that the event is about.
    pub fn at(mut self, field_path: impl Into<String>) -> Self {
        self.field_path = field_path.into();
        self
    }
}

impl From<&Reference> for Reference {
    fn from(reference: &Reference) -> Self {
        reference.clone()
    }
}

impl<K: Kind> From<&SharedObject<K>> for Reference {
    fn from(object: &SharedObject<K>) -> Self {
        object.reference()
    }
}
