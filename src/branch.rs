//! The active branch of one transcript: which of its rows the conversation currently stands on.
//!
//! A transcript is append-only, but the conversation in it is a tree: a rewind moves the leaf back and leaves a dead branch
//! behind, a reset starts over, a side append hangs off the path. [`Branch`] reads the rows in `seq` order, as `OpenClaw` 2026.9
//! does, and can say after any of them which rows are active.
//!
//! Invariant: [`Branch::active`] depends on the pushed rows alone and changes nothing; pushing goes on after it.
//! Cost: a push looks at a bounded number of nodes, `active` walks the path once.
//!
//! Tested in `branch/tests.rs`: against lists recorded from `OpenClaw` and against a second, naive implementation of the rule.

use std::collections::HashMap;

#[cfg(test)]
mod tests;

/// What an event's `type` means for navigation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `session`: the first line of a transcript, no part of the tree.
    Header,
    /// A type that moves the leaf when it is appended: `message`, `compaction`, `label`, ...
    Canonical,
    /// `reset`: canonical, and what is not below the latest one can no longer be selected.
    Reset,
    /// `leaf`: a navigation control that selects another row as the leaf.
    Leaf,
    /// Any other type, or none: linked into the tree, but it never moves the leaf.
    #[default]
    Other,
}

impl Kind {
    /// The kind of an event whose `type` is the string `name`.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "session" => Self::Header,
            "reset" => Self::Reset,
            "leaf" => Self::Leaf,
            "message"
            | "thinking_level_change"
            | "model_change"
            | "compaction"
            | "branch_summary"
            | "custom"
            | "custom_message"
            | "label"
            | "session_info" => Self::Canonical,
            _ => Self::Other,
        }
    }
}

/// A key of an event that names another row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The event does not have the key.
    #[default]
    Absent,
    /// `null`: no row, the root.
    Null,
    /// A string that is not blank, untrimmed. The row need not exist.
    Id(String),
    /// Anything else: a number, an object, a blank string.
    Unusable,
}

impl Reference {
    fn is_null_or_id(&self) -> bool {
        matches!(self, Self::Null | Self::Id(_))
    }
}

/// The key `appendMode` of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AppendMode {
    /// The event does not have the key.
    #[default]
    Absent,
    /// `"side"`: the row is kept beside the path and does not move the leaf.
    Side,
    /// Anything else. It makes a leaf control unusable and means nothing elsewhere.
    Unusable,
}

/// The navigation facts of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// From `type`.
    pub(crate) kind: Kind,
    /// `id`, if it is a string that is not blank; untrimmed.
    pub(crate) id: Option<String>,
    /// `parentId`.
    pub(crate) parent_id: Reference,
    /// `targetId`; counts in leaf controls only.
    pub(crate) target_id: Reference,
    /// `appendParentId`; counts in leaf controls only, and means `targetId` where it is absent.
    pub(crate) append_parent_id: Reference,
    /// `appendMode`.
    pub(crate) append_mode: AppendMode,
    /// The event has the key `message`, whatever its value.
    pub(crate) has_message: bool,
}

impl Entry {
    fn is_canonical(&self) -> bool {
        matches!(self.kind, Kind::Canonical | Kind::Reset)
    }

    fn is_side(&self) -> bool {
        self.append_mode == AppendMode::Side
    }

    /// The row names its place in the tree itself, and (a leaf control) says where it points.
    fn is_parent_linked(&self) -> bool {
        let placed = self.kind != Kind::Header && self.id.is_some() && self.parent_id.is_null_or_id();
        let points =
            self.target_id.is_null_or_id() && self.append_parent_id != Reference::Unusable && self.append_mode != AppendMode::Unusable;
        placed && (self.kind != Kind::Leaf || points)
    }

    /// A canonical row of an older writer, which knew no tree: it continues wherever the leaf is.
    fn is_parentless(&self) -> bool {
        self.is_canonical() && self.id.is_some() && self.parent_id == Reference::Absent
    }

    /// The row may be listed as active at all.
    fn is_projected(&self) -> bool {
        self.kind != Kind::Header && (self.is_canonical() || self.is_parent_linked() || self.has_message)
    }
}

/// The scan over the rows of one transcript.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// Every id met so far, as a row or only as a reference, with its place in `nodes`.
    places: HashMap<String, Place>,
    nodes: Vec<Node>,
    /// The row that the conversation stands on.
    leaf: Option<Place>,
    /// The row that the next append would name as its parent; not the leaf after a side append or an opaque row.
    append_parent: Option<Place>,
    /// How many resets there were; the number of the latest one.
    resets: u64,
    has_leaf_control: bool,
    /// All rows that may be active, in file order.
    projected: Vec<i64>,
    /// Whether a path leads from the leaf to a root; `None` if only walking it can tell.
    has_path: Option<bool>,
}

/// What one more row has done to the active rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Nothing.
    None,
    /// It is active itself, after all that were before.
    Row,
    /// Perhaps something else: [`Branch::active`] tells.
    Other,
}

/// Index into [`Branch::nodes`].
type Place = usize;

/// What is known of one id.
#[derive(Debug, Default)]
struct Node {
    /// The latest row with this id; none while the id is only named by others.
    row: Option<Row>,
    /// Some row with this id was a leaf control that pointed at nothing known.
    is_invalid_control: bool,
    /// The number of the last reset that this node is or is below; 0 for none.
    reset: u64,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    seq: i64,
    parent: Option<Place>,
    is_control: bool,
}

/// How many leaf controls in a row are followed to the row they stand for, so that no push costs more than this. The path walk
/// skips controls anyway: a longer chain loses nothing, and a cycle of them stays one.
const FOLLOWED_CONTROLS: usize = 64;

impl Branch {
    /// The scan before the first row.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// How many ids it has met.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Reads the next row. Rows come in `seq` order; a later row with an id that was there before replaces it in the tree.
    pub(crate) fn push(&mut self, seq: i64, entry: Entry) {
        self.link_in(seq, entry);
        self.has_path = None;
    }

    /// The same, and says what it did. What it cannot see at the end of the path is [`Growth::Other`].
    pub(crate) fn append(&mut self, seq: i64, entry: Entry) -> Growth {
        let had_path = self.has_path();
        let (met, listed, had_control, leaf) = (self.nodes.len(), self.projected.len(), self.has_leaf_control, self.leaf);
        let place = self.link_in(seq, entry);
        let is_new = place.is_none_or(|place| place >= met); // an id that was met before can be anywhere on the path
        if is_new && self.leaf == leaf && self.has_leaf_control == had_control {
            // The path is as it was. Without one, all rows are active unless a control chose that.
            let is_listed = !had_path && !had_control && self.projected.len() > listed;
            return if is_listed { Growth::Row } else { Growth::None };
        }
        let parent = place.and_then(|place| self.nodes[place].row).and_then(|row| row.parent);
        let continues = had_path && (parent == leaf || parent == self.past_controls(leaf));
        if is_new && self.leaf == place && continues {
            return Growth::Row;
        }
        self.has_path = None;
        Growth::Other
    }

    /// Puts a row into the tree, if it has a place there, and returns that.
    fn link_in(&mut self, seq: i64, mut entry: Entry) -> Option<Place> {
        if entry.is_projected() {
            self.projected.push(seq);
        }
        if !entry.is_parent_linked() && !entry.is_parentless() {
            return None;
        }
        let place = self.place(entry.id.take()?);
        if entry.kind == Kind::Leaf {
            self.push_control(place, seq, entry);
        } else {
            self.push_row(place, seq, entry);
        }
        Some(place)
    }

    /// Walks the path only after something else than an append at its end.
    fn has_path(&mut self) -> bool {
        let has_path = self.has_path.unwrap_or_else(|| !self.path().is_empty());
        self.has_path = Some(has_path);
        has_path
    }

    /// The `seq` of every active row, from the root of the path to the leaf.
    ///
    /// A cycle makes the path empty. An empty path means that nothing is active if a leaf control chose it, and that all rows
    /// are, in file order, if none did.
    pub(crate) fn active(&self) -> Vec<i64> {
        let path = self.path();
        if path.is_empty() && !self.has_leaf_control { self.projected.clone() } else { path }
    }

    /// The rows on the path to the leaf; none if it is a cycle.
    fn path(&self) -> Vec<i64> {
        let mut path = Vec::new();
        let mut at = self.leaf;
        let mut steps = 0;
        while let Some(place) = at {
            let Some(row) = self.nodes[place].row else { break };
            if steps == self.nodes.len() {
                path.clear(); // more steps than nodes: a cycle
                break;
            }
            steps += 1;
            if !row.is_control {
                path.push(row.seq);
            }
            at = row.parent;
        }
        path.reverse();
        path
    }

    fn push_control(&mut self, place: Place, seq: i64, entry: Entry) {
        let mut target = self.referenced(entry.target_id);
        let mut append_parent = if entry.append_parent_id == Reference::Absent { target } else { self.referenced(entry.append_parent_id) };
        // What lies before the latest reset cannot be selected again: the control then means "stay".
        if self.resets > 0 && self.leaf.is_some() && !self.is_after_reset(target) {
            target = self.leaf;
            append_parent = self.leaf;
        }
        if !self.is_selectable(target) || !self.is_selectable(append_parent) {
            let parent = self.referenced(entry.parent_id);
            let node = &mut self.nodes[place];
            node.row = Some(Row { seq, parent, is_control: true });
            node.is_invalid_control = true;
            return;
        }
        self.link(place, Row { seq, parent: target, is_control: true });
        self.leaf = target;
        self.append_parent = append_parent;
        self.has_leaf_control = true;
    }

    fn push_row(&mut self, place: Place, seq: i64, entry: Entry) {
        let is_canonical = entry.is_canonical();
        let moves_leaf = is_canonical && !entry.is_side();
        let mut parent = if entry.parent_id == Reference::Absent { self.leaf } else { self.referenced(entry.parent_id) };
        if moves_leaf && self.continues_at_leaf(parent) {
            parent = self.leaf;
        }
        if is_canonical {
            parent = self.past_controls(parent);
        }
        self.link(place, Row { seq, parent, is_control: false });
        if entry.kind == Kind::Reset {
            self.resets += 1;
            self.nodes[place].reset = self.resets;
        }
        self.append_parent = Some(place);
        if moves_leaf {
            self.leaf = Some(place);
        }
    }

    /// Whether a canonical row that names `parent` really continues the conversation where it stands: its parent lies before
    /// the latest reset, is not known, or is only where the last side or opaque row went.
    fn continues_at_leaf(&self, parent: Option<Place>) -> bool {
        let before_reset = self.resets > 0 && !self.is_after_reset(parent);
        let unknown = self.leaf.is_some() && parent.is_some_and(|place| self.nodes[place].row.is_none());
        let at_cursor = parent == self.append_parent;
        before_reset || unknown || at_cursor
    }

    /// The row that `parent` stands for if it is a leaf control.
    fn past_controls(&self, parent: Option<Place>) -> Option<Place> {
        let mut at = parent?;
        for _ in 0..FOLLOWED_CONTROLS {
            let Some(Row { parent, is_control: true, .. }) = self.nodes[at].row else { break };
            at = parent?;
        }
        Some(at)
    }

    /// Puts a row into the tree; below a row after the latest reset it is after that reset too.
    fn link(&mut self, place: Place, row: Row) {
        if self.is_after_reset(row.parent) {
            self.nodes[place].reset = self.resets;
        }
        self.nodes[place].row = Some(row);
    }

    fn is_after_reset(&self, place: Option<Place>) -> bool {
        self.resets > 0 && place.is_some_and(|place| self.nodes[place].reset == self.resets)
    }

    /// A leaf control may point at the root or at a known row, but not at a control that itself pointed at nothing.
    fn is_selectable(&self, place: Option<Place>) -> bool {
        place.is_none_or(|place| self.nodes[place].row.is_some() && !self.nodes[place].is_invalid_control)
    }

    fn referenced(&mut self, reference: Reference) -> Option<Place> {
        match reference {
            Reference::Id(id) => Some(self.place(id)),
            Reference::Absent | Reference::Null | Reference::Unusable => None,
        }
    }

    /// The place of an id, a new one if it was never met.
    fn place(&mut self, id: String) -> Place {
        *self.places.entry(id).or_insert_with(|| {
            self.nodes.push(Node::default());
            self.nodes.len() - 1
        })
    }
}
