//! Several machines on this one (`scripts/lab`): a server here and nodes in network namespaces
//! of their own, each with its own containerd. Links are cut, lossy or small as a test likes.
//! Everything is ended and taken away when the test ends.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use super::{TestCluster, text};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub struct Lab {
    /// The server, with its kubectl.
    pub server: TestCluster,
    net: u8,
}

/// A machine of the lab that may become a node.
#[derive(Clone, Copy)]
pub struct Machine<'l> {
    lab: &'l Lab,
    number: u8,
}

impl Lab {
    /// Machines on one link, with nothing started.
    pub fn new(nodes: u8) -> Self {
        // Tests take turns (`TestCluster::new`), so that one number is enough.
        let lab = Self { server: TestCluster::new(), net: 97 };
        let made = lab.script(&["make", &lab.dir(), "97", &nodes.to_string()]);
        assert!(made.status.success(), "{}", text(&made));
        lab
    }

    /// A server that runs, and machines that have not joined.
    pub fn with_server(nodes: u8, flags: &[&str]) -> Self {
        let lab = Self::new(nodes);
        lab.start_server(flags);
        lab
    }

    /// The same with every machine joined.
    pub fn joined(nodes: u8, flags: &[&str]) -> Self {
        let lab = Self::with_server(nodes, flags);
        let token = lab.token();
        for machine in lab.machines(nodes) {
            machine.join(&token);
        }
        lab
    }

    pub fn start_server(&self, flags: &[&str]) {
        let ip = self.ip();
        let usual = ["server", "-d", "--node-name", "server", "--node-ip", &ip];
        let output = self.server.ferry(&[&usual, flags].concat());
        assert!(output.status.success(), "ferry server failed\n{}\n{}", text(&output), self.server.log());
    }

    pub fn machines(&self, nodes: u8) -> Vec<Machine<'_>> {
        (1..=nodes).map(|number| self.machine(number)).collect()
    }

    pub fn machine(&self, number: u8) -> Machine<'_> {
        Machine { lab: self, number }
    }

    /// The server's address on the link.
    pub fn ip(&self) -> String {
        format!("10.{}.0.1", self.net)
    }

    /// What `ferry token create` prints, as the words behind `ferry join`.
    pub fn token(&self) -> Vec<String> {
        let output = self.server.ferry(&["token", "create"]);
        assert!(output.status.success(), "{}", text(&output));
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        line.trim().strip_prefix("ferry join ").expect("a command").split(' ').map(str::to_owned).collect()
    }

    /// A packet of `percent` in a hundred is lost between any two machines.
    pub fn lose(&self, percent: u8) {
        let rule = format!("numgen random mod 100 < {percent} counter drop");
        self.filter(&rule);
    }

    /// Packets above a size are lost without a word, as behind a tunnel that nobody knows of.
    pub fn lose_larger_than(&self, bytes: u16) {
        self.filter(&format!("meta length > {bytes} counter drop"));
    }

    pub fn heal(&self) {
        self.on_switch(&["nft", "delete", "table", "bridge", "lab"]);
    }

    fn filter(&self, rule: &str) {
        let rules = format!("table bridge lab {{ chain forward {{ type filter hook forward priority 0; {rule}; }} }}");
        self.on_switch(&["nft", &rules]);
    }

    fn on_switch(&self, command: &[&str]) {
        let dir = self.dir();
        let output = self.script(&[&["run", &dir, "switch"], command].concat());
        assert!(output.status.success(), "{command:?}\n{}", text(&output));
    }

    fn dir(&self) -> String {
        self.server.path("lab").to_string_lossy().into_owned()
    }

    fn script(&self, args: &[&str]) -> Output {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/lab");
        let mut command = Command::new(script);
        command.args(args).env("FERRY", env!("CARGO_BIN_EXE_ferry")).stdin(Stdio::null());
        command.output().expect("scripts/lab runs")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let removed = self.script(&["remove", &self.dir()]);
        if !removed.status.success() && !std::thread::panicking() {
            panic!("scripts/lab remove failed\n{}", text(&removed));
        }
    }
}

impl Machine<'_> {
    pub fn name(&self) -> String {
        format!("n{}", self.number)
    }

    pub fn ip(&self) -> String {
        format!("10.{}.0.{}", self.lab.net, 10 + self.number)
    }

    pub fn data_dir(&self) -> PathBuf {
        self.lab.server.path("lab").join(self.name()).join("data")
    }

    /// Runs ferry on this machine.
    pub fn ferry(&self, args: &[&str]) -> Output {
        self.ferry_with(&[], args)
    }

    /// The same behind another program, which fakes a clock.
    pub fn ferry_with(&self, before: &[&str], args: &[&str]) -> Output {
        let dir = self.lab.server.path("lab").join(self.name());
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}/net/{}", self.lab.dir(), self.name())).arg("--").args(before);
        command.arg(env!("CARGO_BIN_EXE_ferry")).args(args);
        command
            .env("HOME", self.lab.server.path(""))
            .env("FERRY_DATA_DIR", dir.join("data"))
            .env("FERRY_RUN_DIR", dir.join("run"))
            .stdin(Stdio::null());
        command.output().expect("nsenter runs")
    }

    /// Becomes a node, and is Ready.
    pub fn join(&self, token: &[String]) {
        let output = self.try_join(token, &[]);
        assert!(output.status.success(), "{} cannot join\n{}\n{}", self.name(), text(&output), self.log());
    }

    pub fn try_join(&self, token: &[String], flags: &[&str]) -> Output {
        let name = self.name();
        let token: Vec<&str> = token.iter().map(String::as_str).collect();
        self.ferry(&[&["join", "-d", "--node-name", &name][..], &token, flags].concat())
    }

    /// Starts again as the node that it is.
    pub fn start(&self) {
        let output = self.ferry(&["join", "-d"]);
        assert!(output.status.success(), "{} cannot start\n{}\n{}", self.name(), text(&output), self.log());
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.data_dir().join("logs/ferry.log")).unwrap_or_default()
    }

    /// Runs a program on this machine.
    pub fn run(&self, command: &[&str]) -> String {
        let (dir, name) = (self.lab.dir(), self.name());
        let output = self.lab.script(&[&["run", dir.as_str(), name.as_str()][..], command].concat());
        assert!(output.status.success(), "{command:?} on {name}\n{}", text(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Nothing of it runs any more, and nobody was told.
    pub fn cut_power(&self) {
        let output = self.lab.script(&["power-off", &self.lab.dir(), &self.name()]);
        assert!(output.status.success(), "{}", text(&output));
    }

    pub fn plug_in(&self) {
        let output = self.lab.script(&["power-on", &self.lab.dir(), &self.name()]);
        assert!(output.status.success(), "{}", text(&output));
    }

    /// Its cable is out, and it does not know why nobody answers.
    pub fn unplug(&self) {
        self.lab.on_switch(&["ip", "link", "set", &self.name(), "down"]);
    }
}
