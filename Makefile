# session-search: `make demo` shows it, `make test` proves it.

.PHONY: help demo test test-long loadable lint test-rust test-loadable bench clean
help: ## these lines
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

LIBRARY := dist/session_search.so
PYTHON := /usr/bin/python3

demo: setup-demo loadable ## build, open an OpenClaw database, search it
	@scripts/demo.sh

test: setup-test lint test-rust test-loadable ## everything

test-long: setup-test bench ## what takes long: a large database, many random histories, the newest rusqlite that is allowed
	SESSION_SEARCH_HISTORIES=500 cargo test --release --locked --features bundled --test histories
	scripts/newest_rusqlite.sh

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

bench: ## a large database: indexing and searching, beside plain FTS5
	@echo "this takes a minute or two"
	cargo bench --quiet --locked --features bundled --bench beside

clean: ## remove everything that was built
	rm -rf target dist

.PHONY: setup-demo setup-test
setup-demo:
	@scripts/setup.sh demo
setup-test:
	@scripts/setup.sh test
