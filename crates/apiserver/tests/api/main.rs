//! Drives the API server as its clients do: through `handle` in this process and over
//! real TLS sockets, against a SQLite store in a directory of its own.

mod access_probe;
mod aggregation;
mod audit;
mod authentication;
mod authorization;
mod backend;
mod bad_input;
mod concurrency;
mod conversion;
mod custom_resources;
mod delete;
mod discovery;
mod encryption;
mod flows;
mod hook_server;
mod kinds;
mod kms_plugin;
mod lists;
mod loopback;
mod network;
mod patches;
mod plugins;
mod pod_security;
mod policies;
mod proxy;
mod quota;
mod restart;
mod server;
mod services;
mod shapes;
mod streams;
mod subresources;
mod verbs;
mod watches;
mod webhooks;
