//! The rows of the table, as Markdown.

use std::time::Duration;

/// A row: one program with one task.
pub struct Row<'a> {
    /// Number of objects.
    pub objects: &'a str,
    /// The network between client and server.
    pub network: &'a str,
    /// The task.
    pub what: &'a str,
    /// The program.
    pub by: &'a str,
    /// The figures; `None` if it did not run.
    pub figures: Option<Figures>,
}

/// The figures of a row.
pub struct Figures {
    /// From the start of the program to its end.
    pub time: Duration,
    /// Time as a multiple of that of our program, if both ran.
    pub ratio: Option<f64>,
    /// The processor time of the client.
    pub client: Duration,
    /// The processor time of the API server and etcd.
    pub server: Duration,
    /// Number of requests that the API server answered.
    pub requests: u64,
    /// Bytes on the wire, in both directions.
    pub bytes: u64,
    /// Peak memory of the client.
    pub memory: u64,
}

/// Prints the first lines.
#[expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]
pub fn begin() {
    println!(
        "| objects | network | what | by | time | times ours | client CPU | server CPU | requests | bytes | memory |"
    );
    println!("| ---: | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
}

/// Prints a row.
#[expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]
pub fn print(row: &Row<'_>) {
    let Row { objects, network, what, by, figures } = row;
    let cells = figures.as_ref().map_or_else(|| vec!["–".to_owned(); 7], cells);
    println!("| {objects} | {network} | {what} | {by} | {} |", cells.join(" | "));
}

fn cells(figures: &Figures) -> Vec<String> {
    let Figures { time, ratio, client, server, requests, bytes, memory } = figures;
    let ratio = ratio.map_or_else(|| "–".to_owned(), three_digits);
    vec![seconds(*time), ratio, seconds(*client), seconds(*server), thousands(*requests), size(*bytes), size(*memory)]
}

fn seconds(time: Duration) -> String {
    format!("{} s", three_digits(time.as_secs_f64()))
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    if bytes < 1e6 { format!("{} kB", three_digits(bytes / 1e3)) } else { format!("{} MB", three_digits(bytes / 1e6)) }
}

/// A number with at most three significant digits, and at most three decimals.
fn three_digits(number: f64) -> String {
    match number {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        1.0.. => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// With commas.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}
