//! Random histories of a host, with rewinds, edits, deletes and resets: after every step a search finds what a naive scan finds.

mod support;

use std::collections::BTreeSet;

use support::world::{LAYOUTS, Layout, World};
use support::{ids, message, reconcile, search};

/// A small random number generator (xorshift64*), so that a failure can be repeated by its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % n
    }
}

/// What can be found, by a naive scan of the host: the messages on the active branch of every transcript that is not superseded.
fn scan(world: &World, superseded: &BTreeSet<String>) -> Vec<String> {
    session_search::register(&world.app).unwrap();
    let event = if world.layout == Layout::September { "coalesce(event_json, event_zstd)" } else { "event_json" };
    let sql = format!(
        "SELECT e.session_id, transcript_message_id({event}) FROM transcript_events e
         JOIN (SELECT session_id, transcript_branch(seq, {event}) AS active FROM transcript_events GROUP BY session_id) b USING(session_id)
         WHERE e.seq IN (SELECT value FROM json_each(b.active)) AND transcript_text({event}) LIKE '%common%'"
    );
    let mut rows = world.app.prepare(&sql).unwrap();
    let rows = rows.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    let mut all: Vec<String> = rows.map(Result::unwrap).filter(|(s, _)| !superseded.contains(s)).map(|(_, id)| id).collect();
    all.sort();
    all
}

fn history(layout: Layout, seed: u64, steps: usize) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut world = World::new(layout);
    let index = world.host.index();
    let mut sessions: Vec<(String, String, Vec<String>)> = Vec::new(); // session id, key, event ids
    let mut superseded = BTreeSet::new();
    for step in 0..steps {
        let what = random.below(12);
        if sessions.is_empty() || what == 0 && sessions.len() < 4 {
            let (id, key) = (format!("s{step}"), format!("agent:main:dashboard:{step}"));
            world.session(&id, &key, None);
            sessions.push((id, key, Vec::new()));
            continue;
        }
        let s = random.below(sessions.len());
        let (id, key, events) = sessions[s].clone();
        let any = |random: &mut Random| events.get(random.below(events.len().max(1))).cloned();
        match what {
            1 if events.len() > 2 => {
                let (from, to) = (events.last().cloned().unwrap(), any(&mut random).unwrap());
                let control = format!("l{step}");
                world.rewind(&id, &control, &from, &to);
                sessions[s].2.push(control);
            }
            2 if !events.is_empty() => {
                let seq = random.below(events.len());
                world.edit(&id, i64::try_from(seq).unwrap(), &message(&format!("e{step}"), any(&mut random).as_deref(), "common edited"));
            }
            3 if !events.is_empty() => world.delete_event(&id, i64::try_from(random.below(events.len())).unwrap()),
            4 => {
                world.delete_session(&id);
                superseded.remove(&id);
                sessions.remove(s);
            }
            5 if layout == Layout::September && !events.is_empty() && !superseded.contains(&id) => {
                let copy = format!("w{step}");
                world.session(&copy, &key, Some((&id, Some("rewind"))));
                let sql = "SELECT event_json FROM transcript_events WHERE session_id = ?1 ORDER BY seq";
                let stored: Vec<String> =
                    world.app.prepare(sql).unwrap().query_map([&id], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
                for event in &stored {
                    world.append(&copy, event);
                }
                superseded.insert(id);
                sessions.push((copy, key, events));
            }
            6 if !events.is_empty() => {
                let reset = format!("r{step}");
                world.append(&id, &format!(r#"{{"type":"reset","id":"{reset}","parentId":"{}"}}"#, events.last().unwrap()));
                sessions[s].2.push(reset);
            }
            _ => {
                let parent = if random.below(6) == 0 { any(&mut random) } else { events.last().cloned() };
                let m = format!("m{step}");
                world.say(&id, &m, parent.as_deref(), &format!("common word w{step}"));
                sessions[s].2.push(m);
            }
        }
        // A replaced window counts again when what replaced it is gone.
        superseded.retain(|old| {
            let sql = "SELECT count(*) FROM session_windows WHERE previous_session_id = ?1";
            layout == Layout::September && world.app.query_row(sql, [old], |row| row.get::<_, i64>(0)).unwrap() > 0
        });
        if random.below(3) > 0 {
            let expected: BTreeSet<String> = scan(&world, &superseded).into_iter().collect();
            let mut answer = search(&index, "common");
            while answer["indexing"] == true {
                assert!(ids(&answer).iter().all(|id| expected.contains(id)), "{layout:?} seed {seed} step {step}: wrong while behind");
                answer = search(&index, "common");
            }
            let got: BTreeSet<String> = ids(&answer).into_iter().collect();
            if expected.len() <= 25 {
                assert_eq!(got, expected, "{layout:?} seed {seed} step {step}");
            } else {
                assert!(got.is_subset(&expected) && got.len() == 25, "{layout:?} seed {seed} step {step}");
            }
        }
    }
    reconcile(&index);
    let sql = "SELECT count(*) FROM session_search_fts('common')";
    let rows: i64 = index.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(rows, i64::try_from(scan(&world, &superseded).len()).unwrap(), "{layout:?} seed {seed}: rows of the index itself");
}

#[test]
fn random_histories_find_what_a_naive_scan_finds() {
    // `make test-long` runs more of them.
    let seeds = std::env::var("SESSION_SEARCH_HISTORIES").map_or(20, |seeds| seeds.parse().unwrap());
    for seed in 1..=seeds {
        for layout in LAYOUTS {
            history(layout, seed, 40);
        }
    }
}
