//! The YAML reader, held against kubectl.

mod bounds;
mod mutations;
mod positions;
mod round_trip;
mod table;
