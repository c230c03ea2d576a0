//! Judges the pods in a directory that is laid out as upstream's fixtures are,
//! `<level>/<version>/{pass,fail}/*.yaml`, with the API's defaults filled in, and says where
//! the verdict is another than the directory's name:
//!
//! ```text
//! cargo run -p ferry-pod-security --example pod_security -- <directory>
//! ```

use ferry_pod_security::evaluate::{Subject, evaluate, render_details};
use ferry_pod_security::policy::{Level, LevelVersion, Version};
use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: pod_security <directory>")?);
    let rows = ferry_resources::all();
    let pods = rows.iter().find(|row| row.group.is_empty() && row.plural == "pods").ok_or("pods are no kind")?;
    let (mut agreed, mut differed) = (0, 0);
    for level in entries(&directory)?.into_iter().filter(|level| level.is_dir()) {
        for version in entries(&level)? {
            let policy = LevelVersion { level: Level::parse(name(&level))?, version: Version::parse(name(&version))? };
            for (verdict, expected) in [("pass", true), ("fail", false)] {
                for file in entries(&version.join(verdict))? {
                    let mut pod: Value = serde_yaml_ng::from_str(&std::fs::read_to_string(&file)?)?;
                    pods.default(&mut pod);
                    let found = evaluate(policy, Subject::new(&pod));
                    if found.is_empty() == expected {
                        agreed += 1;
                    } else {
                        differed += 1;
                        println!("{}: {}", file.display(), render_details(&found));
                    }
                }
            }
        }
    }
    println!("{agreed} verdicts agree, {differed} differ");
    if differed > 0 { Err("verdicts differ".into()) } else { Ok(()) }
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut found =
        std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    found.sort();
    Ok(found)
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}
