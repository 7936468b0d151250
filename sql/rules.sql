-- The rules of redaction that hold in this database beside those of the library. Kept when the index is made anew.
CREATE TABLE IF NOT EXISTS main.session_search_rule(
  kind TEXT NOT NULL CHECK(kind IN ('prefix', 'name', 'personal')),
  value TEXT NOT NULL,
  PRIMARY KEY(kind, value)
) WITHOUT ROWID;
