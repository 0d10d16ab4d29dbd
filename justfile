# Everything that has to pass
default: check

check:
    .ci/run

# All tests
test *args:
    cargo test --locked --workspace {{args}}

# Tests without an API server
unit:
    cargo test --locked --workspace --lib

# One scenario against the API server, as in `just scenario waves::`
scenario filter:
    cargo test --locked --test it {{filter}}

# Accept changed snapshots, completions and embedded types
accept:
    INSTA_UPDATE=always UPDATE_COMPLETIONS=1 UPDATE_REFERENCE=1 UPDATE_TYPES=1 cargo test --locked --test it

# Side by side with kubectl, as shipped
bench:
    cargo bench --locked

# The program as it is shipped
dist:
    cargo build --locked --profile dist

# Random bytes into the YAML reader
fuzz:
    cd crates/kube-yaml && cargo +nightly fuzz run yaml_read
