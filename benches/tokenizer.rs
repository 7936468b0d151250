//! The tokenizer beside unicode61, trigram and a plain one made of crates, in one run: speed, index size, phrases, time against length.
//!
//! `make bench-tokenizer` reads English and code from the sources of the crates that this one is built from (Rust, C, Markdown in cargo's
//! registry) and makes Chinese, Japanese and Korean text by splicing sentences of `tests/data/languages.txt.zst`;
//! `SESSION_SEARCH_BENCH_ENGLISH` and `SESSION_SEARCH_BENCH_CJK` name files to read instead. Texts are cut into messages of about 1,300
//! bytes. `SESSION_SEARCH_BENCH_QUICK=1` measures speed only. Speed is the best of nine rounds in which the tokenizers take turns; every tokenizer is also checked to find something.

#[path = "tokenizer/corpus.rs"]
mod corpus;
#[path = "tokenizer/peers.rs"]
#[allow(unsafe_code)] // FTS5's tokenizers can only be run through its C interface
mod peers;

use std::time::{Duration, Instant};

use corpus::Corpus;
use peers::Peer;
use rusqlite::Connection;

const MEGABYTE: usize = 1_000_000;
const ROUNDS: usize = 9;
/// Name for the table, arguments of `tokenize`.
const TOKENIZERS: [&str; 4] = ["unicode61 remove_diacritics 2", "session_search", "trigram", "session_search mode trigram"];

fn main() {
    let quick = std::env::var_os("SESSION_SEARCH_BENCH_QUICK").is_some();
    println!("SQLite {}", rusqlite::version());
    for corpus in [Corpus::english(20 * MEGABYTE), Corpus::code(20 * MEGABYTE), Corpus::cjk(20 * MEGABYTE)] {
        println!("\n{}: {} MB in {} messages", corpus.name, corpus.bytes / MEGABYTE, corpus.messages.len());
        speed(&corpus);
        if !quick {
            sizes(&corpus);
        }
    }
    if quick {
        return;
    }
    phrases(&Corpus::cjk(55 * MEGABYTE));
    lengths();
}

fn connection() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    session_search::register(&conn).unwrap();
    conn
}

/// Tokenizing alone: FTS5's interface with a callback that counts.
fn speed(corpus: &Corpus) {
    let conn = connection();
    let mut peers: Vec<Peer> = TOKENIZERS.iter().map(|arguments| Peer::fts5(&conn, arguments)).collect();
    peers.push(Peer::plain());
    let mut best = vec![Duration::MAX; peers.len()];
    let mut counts = vec![0; peers.len()];
    for _ in 0..ROUNDS {
        for (at, peer) in peers.iter().enumerate() {
            let start = Instant::now();
            counts[at] = corpus.messages.iter().map(|message| peer.count(message)).sum();
            best[at] = best[at].min(start.elapsed());
        }
    }
    println!("  tokenizing{:>38} {:>12}", "MB/s", "tokens");
    for (at, peer) in peers.iter().enumerate() {
        assert!(counts[at] > 1000, "{}", peer.name);
        println!(
            "    {:<36} {:>7.0} {:>12}   {:.2}x unicode61",
            peer.name,
            speed_of(corpus, best[at]),
            counts[at],
            ratio(best[0], best[at])
        );
    }
    println!("    words mode is {:.2}x the plain tokenizer", ratio(best[4], best[1]));
}

#[expect(clippy::cast_precision_loss, reason = "a size")]
fn speed_of(corpus: &Corpus, time: Duration) -> f64 {
    corpus.bytes as f64 / time.as_secs_f64() / 1e6
}

fn ratio(other: Duration, this: Duration) -> f64 {
    other.as_secs_f64() / this.as_secs_f64()
}

/// A contentless FTS5 table of the messages, 100 a transaction, then optimized.
fn indexed(corpus: &Corpus, arguments: &str) -> Connection {
    let conn = connection();
    conn.execute_batch(&format!("CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='{arguments}')")).unwrap();
    for messages in corpus.messages.chunks(100) {
        conn.execute_batch("BEGIN").unwrap();
        let mut insert = conn.prepare_cached("INSERT INTO t(text) VALUES(?1)").unwrap();
        for message in messages {
            insert.execute([message]).unwrap();
        }
        conn.execute_batch("COMMIT").unwrap();
    }
    conn.execute_batch("INSERT INTO t(t) VALUES('optimize')").unwrap();
    conn
}

#[expect(clippy::cast_precision_loss, reason = "sizes")]
fn sizes(corpus: &Corpus) {
    println!("  index{:>43} {:>12}", "bytes/text", "insert MB/s");
    for arguments in TOKENIZERS {
        let start = Instant::now();
        let conn = indexed(corpus, arguments);
        let time = start.elapsed();
        let size: i64 = conn.query_row("SELECT sum(length(block)) FROM t_data", [], |row| row.get(0)).unwrap();
        println!("    {arguments:<36} {:>7.3} {:>12.1}", size as f64 / corpus.bytes as f64, speed_of(corpus, time));
    }
}

/// Phrases of two and four characters that stand in the text: all their rows counted.
fn phrases(corpus: &Corpus) {
    println!("\n{}: {} MB in {} messages", corpus.name, corpus.bytes / MEGABYTE, corpus.messages.len());
    for (arguments, star) in [("session_search", ""), ("session_search mode trigram", "*")] {
        let conn = indexed(corpus, arguments);
        let mut count = conn.prepare("SELECT count(*) FROM t(?1)").unwrap();
        for length in [2, 4] {
            let mut times = Vec::new();
            let mut rows = 0;
            for phrase in corpus.phrases(length, 200) {
                let query = format!("\"{phrase}\"{}", if length < 3 { star } else { "" });
                let start = Instant::now();
                let found: i64 = count.query_row([&query], |row| row.get(0)).unwrap();
                times.push(start.elapsed());
                assert!(found > 0, "{phrase}");
                rows += found;
            }
            times.sort_unstable();
            let (median, p95) = (times[times.len() / 2], times[times.len() * 95 / 100]);
            let mean = rows / i64::try_from(times.len()).unwrap();
            println!("  {arguments}: {length} characters, {mean} rows on average: p50 {median:.2?}, p95 {p95:.2?}");
        }
    }
}

/// Ten times the text takes ten times the time, whatever it is made of.
fn lengths() {
    println!("\n10 MB against 1 MB of one thing (10 is linear)");
    let conn = connection();
    let units = [
        "a",
        "Fox. ",
        "fooBar ",
        "fooBar",
        "e\u{301}",
        "漢a",
        "漢,",
        "น้ำ",
        "к'",
        "\u{200D}",
        "\u{94D}\u{3099}\u{93C}",
        "\u{9BE}",
        "C++",
        "\0",
    ];
    for arguments in ["session_search", "session_search mode trigram"] {
        let peer = Peer::fts5(&conn, arguments);
        let mut worst = (0.0, "");
        for unit in units {
            let best = |bytes: usize| {
                let text = unit.repeat(bytes / unit.len());
                let time = |_| {
                    let start = Instant::now();
                    std::hint::black_box(peer.count(&text));
                    start.elapsed()
                };
                (0..5).map(time).min().unwrap_or_default()
            };
            let growth = ratio(best(10 * MEGABYTE), best(MEGABYTE));
            if growth > worst.0 {
                worst = (growth, unit);
            }
        }
        println!("  {arguments}: at most {:.1}x, {:?}", worst.0, worst.1);
        assert!(worst.0 < 30.0, "not linear");
    }
}
