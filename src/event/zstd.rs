//! One event out of one zstd frame.
//!
//! `OpenClaw` stores an event of 1 KiB to 4 MiB as a single frame that states its size and carries a checksum.
//! Invariant: what comes back is the whole, verified content of exactly one frame, or an error. Tested in `event/tests.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::Unreadable;

/// The most that a frame may hold, in bytes: the host's own limit.
///
/// It is checked after every block. What one malformed block may expand to is up to the decoder, which sets no limit of its own.
const MAX_CONTENT: usize = 4 << 20;

/// Decodes `frame`, all of it.
pub(super) fn decode(frame: &[u8]) -> Result<Vec<u8>, Unreadable> {
    // The decoder asserts some of its own rules, so a malformed frame can make it panic.
    catch_unwind(AssertUnwindSafe(|| decode_frame(frame))).unwrap_or(Err(Unreadable::Zstd))
}

fn decode_frame(mut frame: &[u8]) -> Result<Vec<u8>, Unreadable> {
    if needs_large_window(frame) {
        return Err(Unreadable::TooLarge);
    }
    let mut decoder = FrameDecoder::new();
    decoder.init(&mut frame).map_err(|_| Unreadable::Zstd)?;
    let stated_size = decoder.content_size(); // 0 if the frame does not state it
    if stated_size > MAX_CONTENT as u64 {
        return Err(Unreadable::TooLarge);
    }
    let mut content = Vec::new();
    while !decoder.is_finished() {
        decoder.decode_blocks(&mut frame, BlockDecodingStrategy::UptoBlocks(1)).map_err(|_| Unreadable::Zstd)?;
        decoder.collect_to_writer(&mut content).map_err(|_| Unreadable::Zstd)?;
        if content.len() > MAX_CONTENT {
            return Err(Unreadable::TooLarge);
        }
    }
    let has_stated_size = stated_size == 0 || stated_size == content.len() as u64;
    let has_stated_checksum = decoder.get_checksum_from_data().is_none_or(|stated| decoder.get_calculated_checksum() == Some(stated));
    if has_stated_size && has_stated_checksum && frame.is_empty() { Ok(content) } else { Err(Unreadable::Zstd) }
}

/// Whether the frame asks for a window of 16 MiB or more (RFC 8878, 3.1.1.1.2). The decoder holds a whole window back before the
/// content can be counted, and no compressor needs that much for 4 MiB.
fn needs_large_window(frame: &[u8]) -> bool {
    let (Some(descriptor), Some(window)) = (frame.get(4), frame.get(5)) else { return false };
    let is_single_segment = descriptor & 0b0010_0000 != 0; // the window is the content, whose size is stated
    !is_single_segment && 10 + (window >> 3) >= 24
}
