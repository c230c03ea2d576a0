//! Volumes and claims as they will be once the API has confirmed what was decided: the next
//! cycle must not give a volume away that this one has taken.
//!
//! An assumption holds while the informer has the version that it was made of; a newer one is
//! the API's word, whatever it says.

use ferry_api::view::Kind;
use ferry_client::{Informer, SharedObject};
use parking_lot::Mutex;
use std::collections::HashMap;

pub struct Assumed<K: Kind> {
    informer: Informer<K>,
    /// By namespace and name.
    objects: Mutex<HashMap<(String, String), SharedObject<K>>>,
}

impl<K: Kind> Assumed<K> {
    pub fn new(informer: Informer<K>) -> Self {
        Self { informer, objects: Mutex::default() }
    }

    /// The object as assumed, or as the API has it.
    pub fn get(&self, namespace: &str, name: &str) -> Option<SharedObject<K>> {
        self.informer.get(namespace, name).map(|object| self.over(object))
    }

    /// The object as the API has it.
    pub fn confirmed(&self, namespace: &str, name: &str) -> Option<SharedObject<K>> {
        self.informer.get(namespace, name)
    }

    /// The assumption about an object of the informer, if there is one.
    pub fn over(&self, object: SharedObject<K>) -> SharedObject<K> {
        let mut objects = self.objects.lock();
        if objects.is_empty() {
            return object;
        }
        let key = (object.namespace().to_owned(), object.name().to_owned());
        match objects.get(&key) {
            Some(assumed) if assumed.meta().resource_version() == object.meta().resource_version() => assumed.clone(),
            Some(_) => {
                objects.remove(&key);
                object
            }
            None => object,
        }
    }

    pub fn assume(&self, object: SharedObject<K>) {
        let key = (object.namespace().to_owned(), object.name().to_owned());
        self.objects.lock().insert(key, object);
    }

    pub fn restore(&self, object: &SharedObject<K>) {
        self.objects.lock().remove(&(object.namespace().to_owned(), object.name().to_owned()));
    }
}
