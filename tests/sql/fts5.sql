-- The tokenizer and session_search_excerpt(table, text, max_chars) on a table of one's own.
.load ./session_search
.mode list
.echo on
CREATE VIRTUAL TABLE notes USING fts5(title, body, tokenize = 'session_search');
INSERT INTO notes VALUES
  ('Zürich', 'The café opens at nine; the door code is in the usual place and nobody has changed it since.'),
  ('东京塔', '东京塔的门票多少钱？我们星期天去。'),
  ('login', 'Use password=hunter2hunter2 for the test account.');
SELECT title FROM notes('zurich') ORDER BY title;
SELECT title FROM notes('CAFE') ORDER BY title;
SELECT title FROM notes('"门票"') ORDER BY title;
SELECT highlight(notes, 1, '[', ']') FROM notes('cafe OR "门票" OR account') ORDER BY rowid;
SELECT session_search_excerpt(notes, body, 40) FROM notes('changed') ORDER BY rowid;
SELECT session_search_excerpt(notes, body, 60) FROM notes('hunter2hunter2') ORDER BY rowid;
SELECT redact_excerpt(title), redact_excerpt(body, 'account', 30) FROM notes('login') ORDER BY rowid;
CREATE VIRTUAL TABLE notes_words USING fts5vocab(notes, row);
SELECT term FROM notes_words WHERE term > 'z' ORDER BY term;
INSERT INTO notes(notes) VALUES('integrity-check');
-- An option: accents that count.
CREATE VIRTUAL TABLE exact USING fts5(x, tokenize = 'session_search remove_diacritics 0');
INSERT INTO exact VALUES('Zürich');
SELECT count(*) FROM exact('zurich') ORDER BY 1;
SELECT count(*) FROM exact('zürich') ORDER BY 1;
-- What is not understood is an error.
CREATE VIRTUAL TABLE wrong USING fts5(x, tokenize = 'session_search mode letters');
CREATE VIRTUAL TABLE wrong USING fts5(x, tokenize = 'session_search separators x');
SELECT session_search_excerpt(notes, body) FROM notes('nine') ORDER BY rowid;
SELECT session_search_excerpt(notes, body, 0) FROM notes('nine') ORDER BY rowid;
SELECT session_search_excerpt(notes, 1, 10) FROM notes('nine') ORDER BY rowid;
