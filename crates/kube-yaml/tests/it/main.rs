//! The YAML reader, held against kubectl.

mod agreement;
mod bounds;
mod mutations;
mod parts;
mod positions;
mod round_trip;
mod table;
