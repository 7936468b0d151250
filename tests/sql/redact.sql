-- redact(text), redact_excerpt(text [, query [, max_chars]])
-- Credentials are put together here, so that no file holds one in one piece.
.load ./session_search
.mode list
.echo on
SELECT redact('nothing to hide');
SELECT redact('use gh' || 'p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 now');
SELECT redact('postgres://app:s3cr3tPassw0rd' || '@db/app');
SELECT redact(redact('password = "hunter2hunter2"'));
SELECT redact('') = '', redact(NULL) IS NULL;
SELECT redact(x'6162');
SELECT redact_excerpt('nothing to hide');
SELECT redact_excerpt('one two three four five six seven', 'four', 16);
SELECT redact_excerpt('one two three four five six seven', 'absent', 16);
SELECT redact_excerpt('one two three four five six seven', '...', 16);
SELECT redact_excerpt('one two three four five six seven', NULL, 16);
SELECT redact_excerpt('the password=hunter2hunter2 is in the middle of it', 'middle', 40);
SELECT length(redact_excerpt(hex(zeroblob(500)))), length(redact_excerpt(hex(zeroblob(500)), NULL, 7));
SELECT redact_excerpt(NULL, 'a', 5) IS NULL;
SELECT redact_excerpt('a', 'b', 0);
SELECT redact_excerpt('a', 'b', -1);
SELECT redact_excerpt('a', 'b', 'c');
