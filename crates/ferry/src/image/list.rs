//! `ferry image list`: the images of the cluster's containerd, as a table or as JSON.

use super::{connect, render_size};
use crate::Place;
use crate::progress::say;
use anyhow::Result;
use clap::{Args, ValueEnum};
use ferry_kubelet::cri::{Runtime, v1};
use serde_json::{Value, json};

/// List the images that pods find without a registry
#[derive(Args)]
pub struct ListArgs {
    #[command(flatten)]
    place: Place,
    /// How to print them [default: a table]
    #[arg(short, long, value_enum)]
    output: Option<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Json,
}

pub async fn run(args: ListArgs) -> Result<()> {
    let (_, runtime) = connect(&args.place).await?;
    let mut images = runtime.list_images().await?;
    images.sort_by(|a, b| a.repo_tags.cmp(&b.repo_tags).then_with(|| a.id.cmp(&b.id)));
    let containers = runtime.list_containers(None).await?;
    say(match args.output {
        Some(Output::Json) => serde_json::to_string_pretty(&render_json(&images, &containers))?,
        None => render_table(&images, &containers),
    }
    .trim_end());
    Ok(())
}

/// The pods whose containers were made of an image, as `namespace/name`.
pub fn users(image: &v1::Image, containers: &[v1::Container]) -> Vec<String> {
    let is_of = |container: &&v1::Container| {
        let named = container.image.as_ref().map(|own| own.image.as_str()).unwrap_or_default();
        container.image_ref == image.id
            || named == image.id
            || image
                .repo_tags
                .iter()
                .chain(&image.repo_digests)
                .any(|name| name == named || *name == container.image_ref)
    };
    let label = |container: &v1::Container, key: &str| container.labels.get(key).cloned().unwrap_or_default();
    let mut found: Vec<String> = containers
        .iter()
        .filter(is_of)
        .map(|own| format!("{}/{}", label(own, "io.kubernetes.pod.namespace"), label(own, "io.kubernetes.pod.name")))
        .collect();
    found.sort();
    found.dedup();
    found
}

fn render_json(images: &[v1::Image], containers: &[v1::Container]) -> Value {
    let render = |image: &v1::Image| {
        json!({"id": image.id, "names": image.repo_tags, "digests": image.repo_digests, "size": image.size,
            "pinned": image.pinned, "pods": users(image, containers)})
    };
    json!({ "images": images.iter().map(render).collect::<Vec<_>>() })
}

fn render_table(images: &[v1::Image], containers: &[v1::Container]) -> String {
    let mut rows = vec![["IMAGE".to_owned(), "TAG".into(), "IMAGE ID".into(), "SIZE".into(), "PODS".into()]];
    for image in images {
        let id = image.id.strip_prefix("sha256:").unwrap_or(&image.id);
        let (id, size) = (id.get(..13).unwrap_or(id).to_owned(), render_size(image.size));
        let pods = users(image, containers).len().to_string();
        let names: Vec<&str> = image.repo_tags.iter().map(String::as_str).collect();
        for name in if names.is_empty() { vec!["<none>:<none>"] } else { names } {
            let (repository, tag) = name.rsplit_once(':').unwrap_or((name, "<none>"));
            rows.push([repository.to_owned(), tag.to_owned(), id.clone(), size.clone(), pods.clone()]);
        }
    }
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.len().max(*width);
        }
    }
    let mut out = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        out += cells.join("   ").trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_table_has_a_row_for_each_name() {
        let image = v1::Image {
            id: "sha256:0123456789abcdef".into(),
            repo_tags: vec!["docker.io/example/app:1".into(), "docker.io/example/app:2".into()],
            size: 1_500_000,
            ..Default::default()
        };
        let labels = HashMap::from([
            ("io.kubernetes.pod.namespace".to_owned(), "default".to_owned()),
            ("io.kubernetes.pod.name".to_owned(), "web".to_owned()),
        ]);
        let container = v1::Container { image_ref: image.id.clone(), labels, ..Default::default() };
        assert_eq!(users(&image, std::slice::from_ref(&container)), ["default/web"]);
        let expected = "IMAGE                   TAG   IMAGE ID        SIZE     PODS\n\
                        docker.io/example/app   1     0123456789abc   1.5 MB   1\n\
                        docker.io/example/app   2     0123456789abc   1.5 MB   1\n";
        assert_eq!(render_table(&[image], &[container]), expected);
    }
}
