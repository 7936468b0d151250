//! What is tokenized: real English and code, real or spliced Chinese, Japanese and Korean.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

const MESSAGE_BYTES: usize = 1_300;

pub(crate) struct Corpus {
    pub(crate) name: &'static str,
    pub(crate) messages: Vec<String>,
    pub(crate) bytes: usize,
}

impl Corpus {
    /// Lines that are mostly words, of Markdown and of comments.
    pub(crate) fn english(bytes: usize) -> Self {
        let given = given("SESSION_SEARCH_BENCH_ENGLISH");
        let text = given.unwrap_or_else(|| english_lines(&sources(&["md", "rs", "c"]), bytes));
        Self::of("English", &text, bytes)
    }

    /// Rust first, then C, as they are.
    pub(crate) fn code(bytes: usize) -> Self {
        Self::of("code", &(sources(&["rs"]) + &sources(&["c"])), bytes)
    }

    pub(crate) fn cjk(bytes: usize) -> Self {
        let sentences: Vec<String> = match given("SESSION_SEARCH_BENCH_CJK") {
            Some(text) => text.lines().map(str::to_owned).collect(),
            None => declaration(),
        };
        Self::of("Chinese, Japanese, Korean", &spliced(&sentences, bytes), bytes)
    }

    fn of(name: &'static str, text: &str, bytes: usize) -> Self {
        let mut messages = Vec::new();
        let mut rest = &text[..text.floor_char_boundary(bytes)];
        while !rest.is_empty() {
            let (message, behind) = rest.split_at(rest.floor_char_boundary(MESSAGE_BYTES));
            messages.push(message.to_owned());
            rest = behind;
        }
        let bytes = messages.iter().map(String::len).sum();
        assert!(bytes > 0, "no text for {name}");
        Self { name, messages, bytes }
    }

    /// Phrases of so many characters in a row, from all over the text.
    pub(crate) fn phrases(&self, length: usize, count: usize) -> Vec<String> {
        let mut random = Random(7);
        let mut phrases = Vec::new();
        while phrases.len() < count {
            let characters: Vec<char> = self.messages[random.below(self.messages.len())].chars().collect();
            let start = random.below(characters.len().saturating_sub(length).max(1));
            let phrase: String = characters.iter().skip(start).take(length).collect();
            if phrase.chars().all(|c| matches!(c, '\u{3041}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')) {
                phrases.push(phrase);
            }
        }
        phrases
    }
}

fn given(variable: &str) -> Option<String> {
    std::env::var_os(variable).map(|path| fs::read_to_string(path).expect("readable UTF-8 text"))
}

/// Comments and documentation, without what is mostly code.
fn english_lines(text: &str, bytes: usize) -> String {
    let is_prose = |line: &&str| line.split(' ').filter(|word| word.len() > 1 && word.bytes().all(|b| b.is_ascii_alphabetic())).count() > 5;
    let mut prose = String::new();
    for line in text.lines().filter(is_prose) {
        prose.push_str(line.trim_start().trim_start_matches(['/', '*', '!', '#']));
        prose.push('\n');
        if prose.len() > bytes {
            break;
        }
    }
    prose
}

/// The files with these endings in cargo's registry, in order of their paths.
fn sources(endings: &[&str]) -> String {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))).expect("CARGO_HOME or HOME");
    let mut files = Vec::new();
    let mut folders = vec![home.join("registry/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| endings.contains(&e)) {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

/// The sentences of the three languages in the committed sample.
fn declaration() -> Vec<String> {
    let packed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/languages.txt.zst")).expect("the sample");
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(packed.as_slice()).expect("zstd").read_to_string(&mut text).expect("UTF-8");
    let wanted = |part: &&str| ["cmn_hans\n", "cmn_hant\n", "jpn\n", "kor\n"].iter().any(|language| part.starts_with(language));
    text.split("# ").filter(wanted).flat_map(|part| part.lines().skip(1)).map(str::to_owned).collect()
}

/// Text made of the beginning of one sentence and the end of another, again and again; now and then a rare character.
fn spliced(sentences: &[String], bytes: usize) -> String {
    let sentences: Vec<Vec<char>> =
        sentences.iter().map(|sentence| sentence.chars().collect()).filter(|s: &Vec<char>| s.len() > 3).collect();
    let mut random = Random(42);
    let mut text = String::with_capacity(bytes + MESSAGE_BYTES);
    while text.len() < bytes {
        let (first, second) = (&sentences[random.below(sentences.len())], &sentences[random.below(sentences.len())]);
        let (head, tail) = (random.below(first.len()), random.below(second.len()));
        for &character in first[..head].iter().chain(&second[tail..]) {
            let rare = random.below(20) == 0 && ('\u{4E00}'..='\u{9FFF}').contains(&character);
            let limit = 1 + random.below(3000); // the lower, the more often
            let code = 0x4E00 + u32::try_from(random.below(limit)).unwrap_or(0);
            text.push(if rare { char::from_u32(code).unwrap_or(character) } else { character });
        }
        text.push('\n');
    }
    text
}

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}
