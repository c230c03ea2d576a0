//! The program inside the test image: everything a test needs a container to do, in one
//! static binary without dependencies.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["pause"] => forever(),
        ["say", text @ ..] => println!("{}", text.join(" ")),
        ["complain", text @ ..] => eprintln!("{}", text.join(" ")),
        // Says something, waits, and ends with the code.
        ["end", code, text @ ..] => {
            println!("{}", text.join(" "));
            std::process::exit(code.parse().unwrap_or(1));
        }
        ["cat", path] => match std::fs::read_to_string(path) {
            Ok(text) => print!("{text}"),
            Err(error) => {
                eprintln!("{path}: {error}");
                std::process::exit(1);
            }
        },
        ["write", path, text] => std::fs::write(path, text).unwrap_or_else(|error| panic!("{path}: {error}")),
        ["exists", path] => std::process::exit(i32::from(!std::path::Path::new(path).exists())),
        ["env"] => std::env::vars().for_each(|(key, value)| println!("{key}={value}")),
        ["echo-stdin"] => {
            let mut text = String::new();
            let _ = std::io::stdin().read_to_string(&mut text);
            print!("{text}");
        }
        // For callers that cannot close their input.
        ["first-line"] => {
            let mut line = String::new();
            let _ = std::io::stdin().read_line(&mut line);
            print!("{line}");
        }
        ["sleep", seconds] => std::thread::sleep(Duration::from_secs(seconds.parse().unwrap_or(1))),
        // Takes so many megabytes of memory, and keeps them.
        ["hold", megabytes] => {
            let kept = vec![1u8; megabytes.parse::<usize>().unwrap_or(1) << 20];
            println!("holding {}", kept.iter().step_by(4096).map(|byte| usize::from(*byte)).sum::<usize>());
            forever();
        }
        ["threads", count] => {
            for _ in 0..count.parse().unwrap_or(1) {
                std::thread::spawn(|| std::thread::sleep(Duration::from_secs(3600)));
            }
            forever();
        }
        // A file of so many megabytes.
        ["fill", path, megabytes] => {
            let megabyte = vec![1u8; 1 << 20];
            let mut file = std::fs::File::create(path).expect("a file");
            for _ in 0..megabytes.parse().unwrap_or(1) {
                file.write_all(&megabyte).expect("room");
            }
            forever();
        }
        ["files", directory, count] => {
            for number in 0..count.parse().unwrap_or(1) {
                std::fs::write(format!("{directory}/{number}"), "").expect("room");
            }
            forever();
        }
        // So many kilobytes of log each second, for ever.
        ["shout", kilobytes] => loop {
            for _ in 0..kilobytes.parse().unwrap_or(1) {
                println!("{}", "x".repeat(1000));
            }
            std::thread::sleep(Duration::from_secs(1));
        },
        // An HTTP server that is healthy while the file exists.
        ["serve", port, healthy] => serve(port, healthy),
        other => {
            eprintln!("unknown command {other:?}");
            std::process::exit(64);
        }
    }
}

fn forever() -> ! {
    println!("ready");
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn serve(port: &str, healthy: &str) {
    let listener = TcpListener::bind(format!("0.0.0.0:{port}")).expect("the port is free");
    println!("serving");
    for stream in listener.incoming().flatten() {
        let mut stream = stream;
        let mut buffer = [0; 1024];
        let _ = stream.read(&mut buffer);
        let status = if std::path::Path::new(healthy).exists() { "200 OK" } else { "503 Service Unavailable" };
        let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    }
}
