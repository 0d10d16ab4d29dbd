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

# All tests with an API server, on another version of Kubernetes: 1.30, 1.33, 1.34, 1.35 or 1.36
test-on version *args:
    TEST_KUBERNETES={{version}} cargo test --locked --test it {{args}}

# Accept changed snapshots, completions, pictures, embedded types and schemas
accept:
    UPDATE_SCHEMAS=1 cargo test --locked --lib schema
    INSTA_UPDATE=always UPDATE_COMPLETIONS=1 UPDATE_PICTURES=1 UPDATE_REFERENCE=1 UPDATE_TYPES=1 cargo test --locked --test it

# Whether two builds of the program print the same, byte for byte: every format, help, manual page, completion script and exit code over testdata
freeze old new:
    tests/freeze.sh compare {{old}} {{new}}

# One table, as shipped, side by side with kubectl and with the floor; words choose rows, as in `just bench 1000 loopback in-sync`
bench *rows:
    cargo bench --locked --bench side_by_side -- {{rows}}

# The pure crates: reading YAML, proofs, predictions and field sets, readiness, the search in an audit log
bench-crates:
    cargo bench --locked -p kube-yaml -p structured-merge -p kstatus -p reconcile-core --benches

# The program as it is shipped
dist:
    packaging/build.sh

# Two builds of HEAD as shipped, in two folders, are one program, byte for byte
reproduce *args:
    packaging/reproduce.sh {{args}}

# Random bytes into everything that reads, for this many seconds each; needs nightly and `cargo install cargo-fuzz`
fuzz seconds="600":
    for target in yaml fields_v1 quantity openapi merge patterns apply_set snapshot report \
        report_merge configuration definitions cel completion secrets edits audit_log; do \
        mkdir -p fuzz/found/$target && \
        cargo +nightly fuzz run $target fuzz/found/$target fuzz/corpus/$target -- -max_total_time={{seconds}} || exit 1; \
    done

# Controllers and people write at random while `diff`, `apply`, `status`, `pull`, `resolve` and `blame` run in turn and are killed, for this many
# seconds; every verdict is checked against the API server. SOAK_SEED repeats a run
soak seconds="1800":
    SOAK_SECONDS={{seconds}} cargo test --locked --test it soak::every_verdict_is_true_in_a_long_soak -- --ignored --nocapture
