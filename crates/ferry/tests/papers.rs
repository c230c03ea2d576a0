//! What the papers say is so: files that ARCHITECTURE.md names are there, and commands
//! that README.md shows do what they should.

mod cluster;

use cluster::{TestCluster, text};
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A room is named `crate/file.rs` or `crate/room/`; the source folder goes without saying.
fn exists(room: &str) -> bool {
    let Some((name, rest)) = room.split_once('/') else { return false };
    Path::new(ROOT).join("crates").join(name).join("src").join(rest).exists() || Path::new(ROOT).join(room).exists()
}

#[test]
fn every_room_that_the_architecture_names_is_there() {
    let text = read("ARCHITECTURE.md");
    let named: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.contains('/') && !word.contains(' ') && (word.ends_with(".rs") || word.ends_with('/')))
        .collect();
    assert!(named.len() > 30, "the walk names its rooms, found {}", named.len());
    let gone: Vec<&&str> = named.iter().filter(|room| !exists(room)).collect();
    assert!(gone.is_empty(), "named but not there: {gone:?}");
}

#[test]
fn links_between_the_papers_lead_somewhere() {
    for paper in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for link in read(paper).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !link.contains("://") && !link.starts_with('#') {
                assert!(Path::new(ROOT).join(link).exists(), "{paper} links to {link}");
            }
        }
    }
}

#[test]
fn every_command_in_the_readme_works() {
    let readme = read("README.md");
    let commands: Vec<&str> =
        readme.split("```sh\n").skip(1).filter_map(|block| block.split("```").next()).flat_map(str::lines).collect();
    assert!(commands.len() > 10, "the README shows commands");
    // Building and the tests themselves are what runs this; what `make` would run is checked by name.
    let (make, rest): (Vec<&str>, Vec<&str>) = commands.into_iter().partition(|line| line.starts_with("make "));
    for line in make {
        let output = std::process::Command::new("make")
            .arg("-n")
            .args(line.split_whitespace().skip(1))
            .current_dir(ROOT)
            .output();
        let output = output.expect("make is installed");
        assert!(output.status.success(), "{line}: {}", text(&output));
    }
    let cluster = TestCluster::up();
    for line in rest {
        let (program, args) = line.split_once(' ').unwrap_or((line, ""));
        let program = if program == "ferry" { env!("CARGO_BIN_EXE_ferry") } else { program };
        // The second cluster of the example lives in this test's own place.
        let args = args.replace("/var/lib/other", &cluster.path("other-data").display().to_string());
        let args = args.replace("/run/other", &cluster.path("other-run").display().to_string());
        let output =
            cluster.command(program).args(args.split_whitespace()).current_dir(ROOT).output().expect("it starts");
        assert!(output.status.success(), "{line}\n{}\n{}", text(&output), cluster.log());
        if line == "kubectl logs client" {
            let said = text(&output);
            assert_eq!(said.lines().filter(|l| l.contains(" x web-")).count(), 3, "{said}");
        }
    }
}
