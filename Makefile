# session-search: `make demo` shows it, `make test` proves it.

.PHONY: help demo test test-long loadable lint test-rust test-loadable bench bench-tokenizer bench-redact fuzz clean
help: ## these lines
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

LIBRARY := dist/session_search.so
PYTHON := /usr/bin/python3

demo: setup-demo loadable ## build, and show both ways of living with a database
	@scripts/demo.sh

test: setup-test lint test-rust test-loadable ## everything

test-long: setup-long loadable bench ## what takes long: benchmarks, many random histories, another SQLite, the newest rusqlite that is allowed
	SESSION_SEARCH_HISTORIES=600 cargo test --release --locked --features bundled --test histories
	SESSION_SEARCH_KILLS=200 SESSION_SEARCH_CROWD=30 $(PYTHON) -m unittest discover --start-directory tests/loadable --pattern test_crowd.py
	SESSION_SEARCH_QUERIES=200000 cargo test --release --locked --features bundled --test queries
	SESSION_SEARCH_MUTATIONS=200000 SESSION_SEARCH_ALL_WINDOWS=1 cargo test --release --locked --features bundled --lib -- redact::tests::mut no_window
	cargo test --locked --target-dir target/system # on the SQLite of the machine
	scripts/newest_rusqlite.sh

.PHONY: test-openclaw
test-openclaw: setup-openclaw loadable ## the real OpenClaw (npm, some 650 MB) beside the index: takes five minutes and npm's registry
	$(PYTHON) -m unittest discover --start-directory tests/openclaw

loadable: ## the loadable extension: dist/session_search.so
	cargo rustc --quiet --release --locked --lib --features loadable --crate-type cdylib
	@mkdir -p dist && install -m 644 target/release/libsession_search.so $(LIBRARY)

lint: ## formatting and clippy, both builds
	cargo fmt --check
	cargo clippy --quiet --locked --all-targets --features bundled -- -D warnings
	cargo clippy --quiet --locked --lib --features loadable -- -D warnings

test-rust: ## the Rust suites
	cargo test --locked --features bundled

test-loadable: loadable ## the built extension in the sqlite3 shell, Python and Node
	$(PYTHON) -m unittest discover --start-directory tests/loadable --pattern 'test_*.py'
	target/hosts/node --test 'tests/loadable/*.test.mjs'

bench: loadable ## a large database: indexing and searching, beside plain FTS5; storing a message, beside a trigger that writes FTS5
	@echo "this takes a minute or two"
	cargo bench --quiet --locked --features bundled --bench beside
	$(PYTHON) benches/append.py debian
	$(PYTHON) benches/append.py apsw target/hosts/apsw-new

bench-tokenizer: ## the tokenizer beside SQLite's own and a plain one: speed, index size, phrases
	@echo "this takes some minutes"
	cargo bench --quiet --locked --features bundled --bench tokenizer

bench-redact: ## redaction: speed, hostile texts, memory, clean text that it changes
	cargo bench --quiet --locked --features bundled --bench redact

fuzz: ## a minute of random texts and queries: nothing panics, leaks, or fails in FTS5
	SESSION_SEARCH_MUTATIONS=4000000 cargo test --release --locked --features bundled --lib -- redact::tests::mut
	SESSION_SEARCH_QUERIES=1000000 cargo test --release --locked --features bundled --test queries

clean: ## remove everything that was built
	rm -rf target dist

.PHONY: setup-demo setup-test setup-long setup-openclaw
setup-demo:
	@scripts/setup.sh demo
setup-test:
	@scripts/setup.sh test
setup-long:
	@scripts/setup.sh long
setup-openclaw:
	@scripts/setup.sh openclaw
