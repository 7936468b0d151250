//! Recorded lists, then a naive reading of the rule as the oracle for random ones.

use std::collections::{HashMap, HashSet};

use super::{AppendMode, Branch, Entry, Growth, Kind, Reference};
use crate::event::{self, Stored};

/// Event lists, and for each the rows that `OpenClaw` 2026.9.6 itself found active and searchable.
const RECORDED: &[u8] = include_bytes!("../../tests/data/branch-vectors.jsonl.zst");

fn recorded_lists() -> Vec<serde_json::Value> {
    let json = Stored::Zstd(RECORDED).json().expect("one zstd frame");
    let lists: Vec<_> = json.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).expect("JSON")).collect();
    assert_eq!(lists.len(), 398);
    lists
}

fn events(list: &serde_json::Value) -> Vec<event::Event> {
    let events = list["events"].as_array().expect("an array");
    events.iter().map(|event| event::parse(event.to_string().as_bytes()).expect("an event")).collect()
}

fn active(entries: &[Entry]) -> Vec<i64> {
    let mut branch = Branch::new();
    for (seq, entry) in (0..).zip(entries) {
        branch.push(seq, entry.clone());
    }
    branch.active()
}

#[test]
fn recorded_lists_have_the_recorded_active_rows() {
    for list in recorded_lists() {
        let entries: Vec<_> = events(&list).into_iter().map(|event| event.entry).collect();
        let mut messages = 0..;
        let rows: Vec<_> = (0..)
            .zip(active(&entries))
            .map(|(position, seq): (i64, i64)| {
                let event = &list["events"][usize::try_from(seq).expect("not negative")];
                let message_position = event.get("message").and_then(|_| messages.next());
                let context_eligible = i32::from(event["message"]["excludeFromContext"] != true);
                serde_json::json!([position, seq, message_position, context_eligible])
            })
            .collect();
        assert_eq!(serde_json::Value::from(rows), list["sep"]["active"], "{}", list["name"]);
    }
}

#[test]
fn recorded_lists_have_the_recorded_searchable_rows() {
    for list in recorded_lists() {
        let events = events(&list);
        let entries: Vec<_> = events.iter().map(|event| event.entry.clone()).collect();
        let mut rows = Vec::new();
        for seq in active(&entries) {
            if let Some(message) = &events[usize::try_from(seq).expect("not negative")].message {
                let timestamp = message.timestamp.unwrap_or(1000 + seq); // the recording gave row `seq` this `created_at`
                rows.push(serde_json::json!([message.id, message.role.as_str(), message.text, timestamp]));
            }
        }
        assert_eq!(serde_json::Value::from(rows), list["sep"]["fts"], "{}", list["name"]);
    }
}

#[test]
fn the_oracle_agrees_with_the_recorded_lists() {
    for list in recorded_lists() {
        let entries: Vec<_> = events(&list).into_iter().map(|event| event.entry).collect();
        let expected: Vec<_> = list["sep"]["active"].as_array().expect("an array").iter().map(|row| row[1].as_i64()).collect();
        assert_eq!(naive::scan(&entries).active.into_iter().map(Some).collect::<Vec<_>>(), expected, "{}", list["name"]);
    }
}

#[test]
fn random_lists_agree_with_the_oracle_after_every_push() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut met: HashMap<&str, usize> = HashMap::new();
    for list in 0..20_000 {
        let entries = random.entries();
        let (mut branch, mut appended) = (Branch::new(), Branch::new());
        let mut before = Vec::new();
        for (seq, entry) in (0..).zip(&entries) {
            branch.push(seq, entry.clone());
            let growth = appended.append(seq, entry.clone());
            let oracle = naive::scan(&entries[..=usize::try_from(seq).expect("not negative")]);
            assert_eq!(branch.active(), oracle.active, "list {list} after row {seq}: {entries:#?}");
            assert_eq!(appended.active(), oracle.active, "list {list} after row {seq}: {entries:#?}");
            match growth {
                Growth::None => assert_eq!(oracle.active, before, "list {list} after row {seq}: {entries:#?}"),
                Growth::Row => assert_eq!(oracle.active, [before.clone(), vec![seq]].concat(), "list {list} after row {seq}: {entries:#?}"),
                Growth::Other => {}
            }
            *met.entry(["nothing grew", "a row grew", "something else"][growth as usize]).or_default() += 1;
            before.clone_from(&oracle.active);
            for case in oracle.met {
                *met.entry(case).or_default() += 1;
            }
        }
    }
    for case in naive::CASES.into_iter().chain(["nothing grew", "a row grew", "something else"]) {
        assert!(met.get(case).is_some_and(|count| *count > 10_000), "the lists are too tame: {case}, {met:?}");
    }
}

/// The rule as a sequence of plain steps over the whole list, with ids for nodes and sets for facts.
mod naive {
    use super::{AppendMode, Entry, HashMap, HashSet, Kind, Reference};

    /// The cases of the rule, counted so that a generator gone tame is noticed.
    pub(super) const CASES: [&str; 10] = [
        "cycle",
        "valid control",
        "invalid control",
        "stay",
        "duplicate id",
        "parentless row",
        "control followed",
        "parent before reset",
        "unknown parent",
        "parent at cursor",
    ];

    pub(super) struct Scan {
        pub(super) active: Vec<i64>,
        pub(super) met: Vec<&'static str>,
    }

    struct Node {
        seq: i64,
        parent: Option<String>,
        is_control: bool,
    }

    fn target(reference: &Reference) -> Option<String> {
        match reference {
            Reference::Id(id) => Some(id.clone()),
            _ => None,
        }
    }

    fn is_canonical(entry: &Entry) -> bool {
        entry.kind == Kind::Canonical || entry.kind == Kind::Reset
    }

    fn is_usable(reference: &Reference) -> bool {
        matches!(reference, Reference::Null | Reference::Id(_))
    }

    fn is_parent_linked(entry: &Entry) -> bool {
        if entry.kind == Kind::Header || entry.id.is_none() || !is_usable(&entry.parent_id) {
            return false;
        }
        if entry.kind != Kind::Leaf {
            return true;
        }
        is_usable(&entry.target_id)
            && (entry.append_parent_id == Reference::Absent || is_usable(&entry.append_parent_id))
            && (entry.append_mode == AppendMode::Absent || entry.append_mode == AppendMode::Side)
    }

    #[allow(clippy::too_many_lines)] // one step after the other, as the rule is told
    pub(super) fn scan(entries: &[Entry]) -> Scan {
        let mut met = Vec::new();
        let mut nodes: HashMap<String, Node> = HashMap::new();
        let mut leaf: Option<String> = None;
        let mut append_parent: Option<String> = None;
        let mut invalid: HashSet<String> = HashSet::new();
        let mut after_reset: Option<HashSet<String>> = None;
        let mut has_leaf_control = false;

        for (seq, entry) in (0..).zip(entries) {
            let linked = is_parent_linked(entry);
            let Some(id) = entry.id.clone() else { continue };
            if nodes.contains_key(&id) {
                met.push("duplicate id");
            }

            if linked && entry.kind == Kind::Leaf {
                let mut to = target(&entry.target_id);
                let mut append = if entry.append_parent_id == Reference::Absent { to.clone() } else { target(&entry.append_parent_id) };
                let outside = |after: &HashSet<String>| to.as_ref().is_none_or(|to| !after.contains(to));
                if leaf.is_some() && after_reset.as_ref().is_some_and(outside) {
                    met.push("stay");
                    to.clone_from(&leaf);
                    append.clone_from(&leaf);
                }
                let known = |id: &Option<String>| id.as_ref().is_none_or(|id| nodes.contains_key(id) && !invalid.contains(id));
                if !known(&to) || !known(&append) {
                    met.push("invalid control");
                    invalid.insert(id.clone());
                    nodes.insert(id, Node { seq, parent: target(&entry.parent_id), is_control: true });
                    continue;
                }
                met.push("valid control");
                has_leaf_control = true;
                if let (Some(after), Some(to)) = (&mut after_reset, &to)
                    && after.contains(to)
                {
                    after.insert(id.clone());
                }
                nodes.insert(id, Node { seq, parent: to.clone(), is_control: true });
                leaf = to;
                append_parent = append;
                continue;
            }

            let parentless = is_canonical(entry) && entry.parent_id == Reference::Absent;
            if !linked && !parentless {
                continue;
            }
            if parentless {
                met.push("parentless row");
            }
            let side = entry.append_mode == AppendMode::Side;
            let mut parent = if parentless { leaf.clone() } else { target(&entry.parent_id) };
            if is_canonical(entry) && !side {
                let outside = |after: &HashSet<String>| parent.as_ref().is_none_or(|parent| !after.contains(parent));
                if after_reset.as_ref().is_some_and(outside) {
                    met.push("parent before reset");
                    parent.clone_from(&leaf);
                } else if linked && leaf.is_some() && parent.as_ref().is_some_and(|parent| !nodes.contains_key(parent)) {
                    met.push("unknown parent");
                    parent.clone_from(&leaf);
                } else if linked && parent == append_parent && leaf != append_parent {
                    met.push("parent at cursor");
                    parent.clone_from(&leaf);
                }
            }
            if is_canonical(entry) {
                let mut seen = HashSet::new();
                while let Some(node) = parent.as_ref().and_then(|parent| nodes.get(parent)).filter(|node| node.is_control) {
                    if !seen.insert(parent.clone()) {
                        break;
                    }
                    met.push("control followed");
                    parent.clone_from(&node.parent);
                }
            }
            if entry.kind == Kind::Reset {
                after_reset = Some(HashSet::from([id.clone()]));
            } else if let (Some(after), Some(parent)) = (&mut after_reset, &parent)
                && after.contains(parent)
            {
                after.insert(id.clone());
            }
            nodes.insert(id.clone(), Node { seq, parent, is_control: false });
            append_parent = Some(id.clone());
            if is_canonical(entry) && !side {
                leaf = Some(id);
            }
        }

        let mut path = Vec::new();
        let mut seen = HashSet::new();
        let mut at = leaf;
        while let Some(id) = at {
            if !seen.insert(id.clone()) {
                met.push("cycle");
                path.clear();
                break;
            }
            let Some(node) = nodes.get(&id) else { break };
            if !node.is_control {
                path.insert(0, node.seq);
            }
            at = node.parent.clone();
        }
        if path.is_empty() && !has_leaf_control {
            path = (0..).zip(entries).filter(|(_, entry)| is_projected(entry)).map(|(seq, _)| seq).collect();
        }
        Scan { active: path, met }
    }

    fn is_projected(entry: &Entry) -> bool {
        entry.kind != Kind::Header && (is_canonical(entry) || is_parent_linked(entry) || entry.has_message)
    }
}

/// xorshift64
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A list of up to 24 rows. Some lists draw their ids from a small pool (duplicates, cycles), the others number them.
    fn entries(&mut self) -> Vec<Entry> {
        let length = 1 + self.below(24);
        let pool = if self.one_in(2) { 3 + self.below(8) } else { u64::MAX };
        let resets = self.one_in(2);
        (0..length).map(|row| self.entry(row, pool, resets)).collect()
    }

    fn entry(&mut self, row: u64, pool: u64, resets: bool) -> Entry {
        let kind = match self.below(20) {
            0 if row == 0 => Kind::Header,
            0..=3 => Kind::Leaf,
            4 | 5 => Kind::Other,
            6 if resets => Kind::Reset,
            _ => Kind::Canonical,
        };
        let id = if pool < u64::MAX { self.below(pool) } else { row };
        Entry {
            kind,
            id: (!self.one_in(40)).then(|| format!("e{id}")),
            parent_id: if self.one_in(10) { Reference::Absent } else { self.reference(row, pool) },
            target_id: if self.one_in(20) { Reference::Absent } else { self.reference(row, pool) },
            append_parent_id: if self.one_in(4) { self.reference(row, pool) } else { Reference::Absent },
            append_mode: match self.below(16) {
                0..=2 => AppendMode::Side,
                3 => AppendMode::Unusable,
                _ => AppendMode::Absent,
            },
            has_message: self.one_in(2),
        }
    }

    /// Mostly the row before, else any row near, a later one, the root or garbage.
    fn reference(&mut self, row: u64, pool: u64) -> Reference {
        match self.below(20) {
            0 => Reference::Null,
            1 => Reference::Id("unknown".to_owned()),
            2 => Reference::Unusable,
            _ if pool < u64::MAX => Reference::Id(format!("e{}", self.below(pool))),
            3..=12 => Reference::Id(format!("e{}", row.saturating_sub(1))),
            13 => Reference::Id(format!("e{}", row + self.below(3))),
            _ => Reference::Id(format!("e{}", self.below(row + 1))),
        }
    }
}

fn id(n: impl std::fmt::Display) -> Reference {
    Reference::Id(format!("e{n}"))
}

fn row(kind: Kind, n: i64, parent_id: Reference) -> Entry {
    Entry { kind, id: Some(format!("e{n}")), parent_id, ..Entry::default() }
}

fn control(n: i64, target_id: Reference) -> Entry {
    Entry { target_id, ..row(Kind::Leaf, n, Reference::Null) }
}

#[test]
fn a_rewind_leaves_the_dead_branch_out() {
    let list =
        [row(Kind::Canonical, 0, Reference::Null), row(Kind::Canonical, 1, id(0)), control(2, id(0)), row(Kind::Canonical, 3, id(2))];
    assert_eq!(active(&list[..2]), [0, 1]);
    assert_eq!(active(&list[..3]), [0]);
    assert_eq!(active(&list), [0, 3]);
}

#[test]
fn what_lies_before_a_reset_cannot_be_selected_again() {
    let list = [
        row(Kind::Canonical, 0, Reference::Null),
        row(Kind::Canonical, 1, id(0)),
        row(Kind::Reset, 2, id(1)),
        row(Kind::Canonical, 3, id(2)),
        control(4, id(0)),
        control(5, Reference::Null),
        row(Kind::Canonical, 6, id(0)),
    ];
    assert_eq!(active(&list), [0, 1, 2, 3, 6]);
}

#[test]
fn a_leaf_control_without_target_empties_the_branch() {
    let list = [row(Kind::Canonical, 0, Reference::Null), control(1, Reference::Null), row(Kind::Canonical, 2, Reference::Null)];
    assert_eq!(active(&list[..2]), [0; 0]);
    assert_eq!(active(&list), [2]);
}

#[test]
fn a_cycle_makes_every_row_active_unless_a_leaf_control_chose_it() {
    let list = [row(Kind::Other, 0, id(1)), row(Kind::Other, 1, id(0)), row(Kind::Canonical, 2, id(0)), control(3, id(2))];
    assert_eq!(active(&list[..3]), [0, 1, 2]);
    assert_eq!(active(&list), [0; 0]);
}

#[test]
fn a_chain_of_more_controls_than_are_followed_loses_nothing() {
    let mut list = vec![row(Kind::Canonical, 0, Reference::Null), row(Kind::Canonical, 1, id(0)), control(2, id(0))];
    list.extend((3..1_000).map(|n| control(n, id(n - 1))));
    list.push(row(Kind::Canonical, 1_000, id(999)));
    assert_eq!(active(&list), [0, 1_000]);
    assert_eq!(active(&list), naive::scan(&list).active);
}

#[test]
fn a_transcript_of_200_000_rows_is_one_path() {
    let mut branch = Branch::new();
    for seq in 0..200_000 {
        let kind = if seq % 1_000 == 999 { Kind::Reset } else { Kind::Canonical };
        let growth = branch.append(seq, row(kind, seq, if seq == 0 { Reference::Null } else { id(seq - 1) }));
        assert!(growth == Growth::Row || seq == 0);
    }
    assert_eq!(branch.active(), (0..200_000).collect::<Vec<_>>());
}
