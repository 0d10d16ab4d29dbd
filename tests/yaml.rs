//! The tests of the YAML reader.

#[path = "it/yaml_bounds.rs"]
mod yaml_bounds;
#[path = "it/yaml_mutations.rs"]
mod yaml_mutations;
#[path = "it/yaml_positions.rs"]
mod yaml_positions;
#[path = "it/yaml_round_trip.rs"]
mod yaml_round_trip;
#[path = "it/yaml_table.rs"]
mod yaml_table;
