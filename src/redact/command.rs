//! Passwords on a command line: `curl -u bob:x`, `mysql -px`, `sshpass -p x`, `htpasswd -b file bob x`, `sqlplus bob/x@host`.
//!
//! A command is read once, from its program to its end: a bar, a semicolon, the end of the line.

use std::ops::Range;

use super::find::Evidence;
use super::rules::{Command, Strength};
use super::scan::Scan;
use super::value::{self, JUDGED, Value};

/// Most arguments that are looked at, and how long one may be.
const MAX_ARGUMENTS: usize = 24;
const MAX_ARGUMENT: usize = 512;

/// Notes the password that the program at `hit` is given.
pub(super) fn password(scan: &mut Scan<'_>, kind: &'static str, command: Command, hit: Range<usize>) {
    if hit.start < scan.command_end || !scan.border(hit.start) || matches!(scan.before(hit.start, 1), b'-' | b'.') {
        return;
    }
    let version = scan.rest(hit.end).iter().take(4).take_while(|b| b.is_ascii_digit()).count();
    let mut line = Line { at: hit.end + version, plain: 0 };
    if !matches!(scan.byte(line.at), b' ' | b'\t') && !matches!(scan.before(line.at, 1), b' ' | b':') {
        return;
    }
    for _ in 0..MAX_ARGUMENTS {
        let Some(argument) = line.next(scan) else { break };
        let Some(found) = line.value(scan, command, &argument) else { continue };
        if is_password(scan, &found, command) {
            scan.found(found, kind, Evidence::Context);
        }
        if !matches!(command, Command::Login(_)) {
            break;
        }
    }
    scan.command_end = line.at;
}

/// A command while its arguments are read.
struct Line {
    /// Behind the last argument.
    at: usize,
    /// How many arguments were no flags.
    plain: usize,
}

impl Line {
    /// The next argument, without its quotes.
    fn next(&mut self, scan: &mut Scan<'_>) -> Option<Range<usize>> {
        let blanks = scan.rest(self.at).iter().take(MAX_ARGUMENT).take_while(|b| matches!(b, b' ' | b'\t')).count();
        let mut start = self.at + blanks;
        // A line that goes on.
        if scan.rest(start).starts_with(b"\\\n") {
            start += 2;
            start += scan.rest(start).iter().take(MAX_ARGUMENT).take_while(|b| matches!(b, b' ' | b'\t')).count();
        }
        let escape = usize::from(scan.byte(start) == b'\\' && matches!(scan.byte(start + 1), b'"' | b'\''));
        let quote = scan.byte(start + escape);
        let quoted = matches!(quote, b'"' | b'\'');
        let start = if quoted { start + escape + 1 } else { start };
        let len = (0..MAX_ARGUMENT).take_while(|i| !ends_argument(scan, start + i, quoted.then_some(quote))).count();
        scan.tick(blanks + len);
        // An empty argument or a quote that nothing closes ends the command.
        if (len == 0 && !quoted) || len == MAX_ARGUMENT || !scan.text.is_char_boundary(start + len) {
            return None;
        }
        let end = start + len;
        let closed = quoted && scan.byte(end) == quote;
        self.at = end + usize::from(closed);
        // The quote of JSON around the command: what it closes is the command itself.
        Some(start..if escape > 0 && closed && scan.before(end, 1) == b'\\' { end - 1 } else { end })
    }

    /// The password in `argument` or in the one behind it.
    fn value(&mut self, scan: &mut Scan<'_>, command: Command, argument: &Range<usize>) -> Option<Range<usize>> {
        let text = scan.slice(argument.clone());
        match command {
            Command::Flags(flags) => {
                // `-passin pass:x`: flag and beginning of the value have a blank between.
                if let Some(flag) = flags.iter().find(|flag| flag.contains(' ') && scan.rest(argument.start).starts_with(flag.as_bytes())) {
                    let glued = self.next(scan)?;
                    return Some(argument.start + flag.len()..glued.end);
                }
                if flags.iter().any(|flag| flag.as_bytes() == text) { self.next(scan) } else { None }
            }
            Command::Login(flags) => {
                let flag = flags.iter().find(|flag| text.starts_with(flag.as_bytes()))?;
                let login = match text.len() - flag.len() {
                    0 => self.next(scan)?,
                    _ => argument.start + flag.len()..argument.end,
                };
                let colon = scan.slice(login.clone()).iter().position(|b| *b == b':')?;
                Some(login.start + colon + 1..login.end)
            }
            Command::Glued(flag) => text.strip_prefix(flag.as_bytes()).map(|rest| argument.end - rest.len()..argument.end),
            Command::Argument(which) => {
                self.plain += usize::from(text.first() != Some(&b'-'));
                (self.plain == which).then(|| argument.clone())
            }
            Command::Slash => {
                let user = text.iter().position(|b| *b == b'/').filter(|user| *user > 0)?;
                let password = text.get(user + 1..)?;
                let at = password.iter().position(|b| *b == b'@').unwrap_or(password.len());
                Some(argument.start + user + 1..argument.start + user + 1 + at)
            }
        }
    }
}

/// Whether an argument ends before the byte at `at`: at its quote, or where a word of a shell ends.
fn ends_argument(scan: &Scan<'_>, at: usize, quote: Option<u8>) -> bool {
    match (quote, scan.byte(at)) {
        (Some(quote), b) => b == quote || matches!(b, b'\n' | 0),
        // The end of the string that holds the command; other backslashes are of a path.
        (None, b'\\') => matches!(scan.byte(at + 1), b'"' | b'\'' | b'n' | b'\n'),
        (None, b) => b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b';' | b'|' | b'&' | b'<' | b'>' | b')' | 0),
    }
}

/// Whether what stands in the place of a password is one.
fn is_password(scan: &mut Scan<'_>, range: &Range<usize>, command: Command) -> bool {
    let bytes = scan.slice(range.start..range.end.min(range.start + JUDGED));
    scan.tick(bytes.len());
    let stands_out = !matches!(command, Command::Argument(_) | Command::Glued(_)) || value::stands_out(bytes);
    stands_out && value::is_secret(Value { bytes, quoted: true, prose: false, query: false }, Strength::Password)
}
