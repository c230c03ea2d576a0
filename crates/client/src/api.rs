//! The requests about one kind: `client.api::<Pod>("default").get("web")`.

use crate::error::Error;
use crate::object::SharedObject;
use crate::request::{Client, DeleteParams, ListParams, Patch, Request, ResourcePath};
use crate::transport::read_body;
use ferry_api::document::{Document, DocumentList};
use ferry_api::view::meta::v1::PartialObjectMetadata;
use ferry_api::view::{Kind, View};
use serde_json::Value;
use std::marker::PhantomData;
use std::sync::Arc;

/// The media type that asks for a list of objects stripped to their metadata.
pub(crate) const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

/// The objects of one kind in one namespace; in all of them, or of a cluster-scoped kind,
/// where the namespace is empty. Answers are documents: nothing of them is decoded before
/// somebody reads it.
pub struct Api<'c, K> {
    client: &'c Client,
    path: ResourcePath,
    namespace: String,
    kind: PhantomData<fn() -> K>,
}

/// A page of a list.
#[derive(Debug)]
pub struct ObjectList<K> {
    pub items: Vec<SharedObject<K>>,
    pub resource_version: String,
    /// Empty on the last page.
    pub continue_token: String,
}

impl Client {
    pub fn api<K: Kind>(&self, namespace: &str) -> Api<'_, K> {
        self.api_at(ResourcePath::new(K::GROUP, K::VERSION, K::PLURAL), namespace)
    }

    /// The same for a kind that is known only at run time, read by the view of another, as a
    /// rule by that of its metadata.
    pub fn api_at<K: Kind>(&self, path: ResourcePath, namespace: &str) -> Api<'_, K> {
        Api { client: self, path, namespace: namespace.to_owned(), kind: PhantomData }
    }
}

impl<K: Kind> Api<'_, K> {
    pub async fn get(&self, name: &str) -> Result<SharedObject<K>, Error> {
        self.send(http::Method::GET, Some(name), None, None).await
    }

    pub async fn create(&self, object: &K) -> Result<SharedObject<K>, Error> {
        self.send(http::Method::POST, None, None, Some(object.value())).await
    }

    pub async fn replace(&self, object: &K) -> Result<SharedObject<K>, Error> {
        self.send(http::Method::PUT, Some(name_of(object)), None, Some(object.value())).await
    }

    pub async fn replace_status(&self, object: &K) -> Result<SharedObject<K>, Error> {
        self.send(http::Method::PUT, Some(name_of(object)), Some("status"), Some(object.value())).await
    }

    pub async fn patch(&self, name: &str, patch: &Patch) -> Result<SharedObject<K>, Error> {
        self.patch_subresource(name, None, patch).await
    }

    pub async fn patch_status(&self, name: &str, patch: &Patch) -> Result<SharedObject<K>, Error> {
        self.patch_subresource(name, Some("status"), patch).await
    }

    async fn patch_subresource(
        &self,
        name: &str,
        subresource: Option<&str>,
        patch: &Patch,
    ) -> Result<SharedObject<K>, Error> {
        let request = self.client.patch_request(&self.path, &self.namespace, name, subresource, patch)?;
        self.answer(request).await
    }

    pub async fn delete(&self, name: &str, params: &DeleteParams) -> Result<(), Error> {
        self.client.delete_at(&self.path, &self.namespace, name, params).await
    }

    /// POST to a subresource (`binding`, `eviction`, `token`); the answer may be of any kind.
    pub async fn create_subresource<R: Kind>(
        &self,
        name: &str,
        subresource: &str,
        body: &Value,
    ) -> Result<SharedObject<R>, Error> {
        let api = self.client.api_at::<R>(self.path.clone(), &self.namespace);
        api.send(http::Method::POST, Some(name), Some(subresource), Some(body)).await
    }

    /// PUT to a subresource (`finalize`, `approval`).
    pub async fn replace_subresource(&self, object: &K, subresource: &str) -> Result<SharedObject<K>, Error> {
        self.send(http::Method::PUT, Some(name_of(object)), Some(subresource), Some(object.value())).await
    }

    /// One page; all of the collection where `params` has no limit.
    pub async fn list(&self, params: &ListParams) -> Result<ObjectList<K>, Error> {
        self.list_as(params, None).await
    }

    pub(crate) async fn list_as(&self, params: &ListParams, accept: Option<&str>) -> Result<ObjectList<K>, Error> {
        let request = Request {
            path: self.path.url(&self.namespace, None, None),
            query: params.query(),
            accept: accept.map(str::to_owned),
            ..Default::default()
        };
        let what = format!("{} {}", request.method, request.path);
        let response = self.client.call_for_documents(request).await?;
        if let Some(list) = response.extensions().get::<DocumentList>() {
            return Ok(ObjectList {
                items: list.items.iter().cloned().map(SharedObject::new).collect(),
                resource_version: list.resource_version.clone(),
                continue_token: list.continue_token.clone(),
            });
        }
        let body = read_body(response.into_body()).await.map_err(Error::Transport)?;
        parse_list(&body).map_err(|source| Error::Decode { what, source })
    }

    async fn send(
        &self,
        method: http::Method,
        name: Option<&str>,
        subresource: Option<&str>,
        body: Option<&Value>,
    ) -> Result<SharedObject<K>, Error> {
        let path = self.path.url(&self.namespace, name, subresource);
        let body = body.map(|body| body.to_string().into_bytes());
        self.answer(Request { method, path, body, ..Default::default() }).await
    }

    async fn answer(&self, request: Request) -> Result<SharedObject<K>, Error> {
        let response = self.client.call(request).await?;
        let body = read_body(response.into_body()).await.map_err(Error::Transport)?;
        Ok(SharedObject::new(Arc::new(Document::new(body))))
    }
}

impl Api<'_, PartialObjectMetadata> {
    /// One page of objects of any kind, of which the server sends the metadata only.
    pub async fn list_metadata(&self, params: &ListParams) -> Result<ObjectList<PartialObjectMetadata>, Error> {
        self.list_as(params, Some(METADATA_LIST)).await
    }
}

fn name_of<K: Kind>(object: &K) -> &str {
    // The view's own lifetime ends here; the name's is that of the object.
    K::metadata(object.view()).name()
}

/// Cuts a list into documents of their own, so that the page is given back when the last of
/// its objects has changed, and not when it is.
fn parse_list<K>(body: &[u8]) -> Result<ObjectList<K>, serde_json::Error> {
    #[derive(serde::Deserialize)]
    struct Wire<'a> {
        #[serde(default)]
        metadata: Value,
        // Upstream writes null where a list is empty and was never made.
        #[serde(borrow, default)]
        items: Option<Vec<&'a serde_json::value::RawValue>>,
    }
    let wire: Wire<'_> = serde_json::from_slice(body)?;
    let metadata = ferry_api::view::meta::v1::ListMetaView::over((&wire.metadata).into());
    let document = |item: &serde_json::value::RawValue| {
        SharedObject::new(Arc::new(Document::new(bytes::Bytes::copy_from_slice(item.get().as_bytes()))))
    };
    Ok(ObjectList {
        items: wire.items.unwrap_or_default().into_iter().map(document).collect(),
        resource_version: metadata.resource_version().to_owned(),
        continue_token: metadata.continue_().to_owned(),
    })
}
