//! What is counted of who asks and whether they may (apiserver/pkg/endpoints/filters
//! upstream). Every request comes by here, so nothing is looked up but the few results
//! there are.

use ferry_metrics::family::{Counter, Histogram, Instrument, head};
use std::time::Duration;

/// From a millisecond to 16 seconds, each twice the one before.
static DURATIONS: [f64; 15] =
    [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384];

/// How often something had one of its results, and how long that took.
pub struct Results<const N: usize> {
    names: [&'static str; N],
    figures: [(Counter, Histogram); N],
}

impl<const N: usize> Results<N> {
    fn new(names: [&'static str; N]) -> Self {
        Self { names, figures: std::array::from_fn(|_| (Counter::default(), Histogram::new(&DURATIONS))) }
    }

    fn observe(&self, result: usize, took: Duration) {
        let (count, durations) = &self.figures[result];
        count.count();
        durations.observe_time(took);
    }

    fn render(&self, (counter, help): (&str, &str), (histogram, of_time): (&str, &str), out: &mut String) {
        let seen = || self.names.iter().zip(&self.figures).filter(|(_, (count, _))| count.get() > 0);
        head(out, counter, Counter::KIND, help);
        for (name, (count, _)) in seen() {
            count.render(counter, &format!("result=\"{name}\""), out);
        }
        head(out, histogram, Histogram::KIND, of_time);
        for (name, (_, durations)) in seen() {
            durations.render(histogram, &format!("result=\"{name}\""), out);
        }
    }
}

#[derive(Clone, Copy)]
pub enum Authenticated {
    Success,
    Failure,
}

#[derive(Clone, Copy)]
pub enum Authorized {
    Allowed,
    Denied,
    NoOpinion,
    Error,
}

/// Upstream names a few users and counts all others together, so that names do not pile up.
const USERS: [&str; 7] =
    ["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default", "email_id", "other"];

pub struct IdentityFigures {
    authentications: Results<2>,
    authorizations: Results<4>,
    users: [Counter; USERS.len()],
}

impl Default for IdentityFigures {
    fn default() -> Self {
        Self {
            authentications: Results::new(["success", "failure"]),
            authorizations: Results::new(["allowed", "denied", "no-opinion", "error"]),
            users: Default::default(),
        }
    }
}

impl IdentityFigures {
    pub fn authenticated(&self, user: Option<&str>, took: Duration) {
        let result = if user.is_some() { Authenticated::Success } else { Authenticated::Failure };
        self.authentications.observe(result as usize, took);
        if let Some(user) = user {
            self.users[place_of(user)].count();
        }
    }

    pub fn authorized(&self, result: Authorized, took: Duration) {
        self.authorizations.observe(result as usize, took);
    }

    pub fn render(&self, out: &mut String) {
        let counter = ("authentication_attempts", "Attempts to tell who asks, by result.");
        let histogram = ("authentication_duration_seconds", "How long it took to tell who asks.");
        self.authentications.render(counter, histogram, out);
        let name = "authenticated_user_requests";
        head(out, name, Counter::KIND, "Requests of known users.");
        for (user, count) in USERS.iter().zip(&self.users).filter(|(_, count)| count.get() > 0) {
            count.render(name, &format!("username=\"{user}\""), out);
        }
        let counter = ("authorization_attempts_total", "Decisions on requests, by result.");
        let histogram = ("authorization_duration_seconds", "How long a decision on a request took.");
        self.authorizations.render(counter, histogram, out);
    }
}

fn place_of(user: &str) -> usize {
    let known = USERS.iter().position(|known| *known == user).filter(|place| *place < USERS.len() - 2);
    known.unwrap_or(if user.contains('@') { USERS.len() - 2 } else { USERS.len() - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_counted_under_few_names() {
        let figures = IdentityFigures::default();
        for user in ["admin", "bob@example.com", "email_id", "system:node:a"] {
            figures.authenticated(Some(user), Duration::from_micros(5));
        }
        figures.authenticated(None, Duration::from_micros(5));
        figures.authorized(Authorized::NoOpinion, Duration::from_micros(5));
        let mut out = String::new();
        figures.render(&mut out);
        for line in [
            "authenticated_user_requests{username=\"admin\"} 1",
            "authenticated_user_requests{username=\"email_id\"} 1",
            "authenticated_user_requests{username=\"other\"} 2",
            "authentication_attempts{result=\"success\"} 4",
            "authentication_attempts{result=\"failure\"} 1",
            "authentication_duration_seconds_bucket{result=\"failure\",le=\"0.001\"} 1",
            "authorization_attempts_total{result=\"no-opinion\"} 1",
            "authorization_duration_seconds_count{result=\"no-opinion\"} 1",
        ] {
            assert!(out.contains(&format!("{line}\n")), "{line}\n{out}");
        }
        assert!(!out.contains("result=\"allowed\""));
    }
}
