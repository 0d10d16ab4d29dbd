//! The YAML reader, compared with kubectl.

mod agreement;
mod bounds;
mod chunks;
mod mutations;
mod positions;
mod round_trip;
mod table;
