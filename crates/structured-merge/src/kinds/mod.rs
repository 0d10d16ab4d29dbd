//! Rules of the API server for single kinds, beyond what their types say: fields that it counts up or copies itself, node ports that it
//! chooses, and `stringData` of Secrets.

mod bookkeeping;
mod node_ports;
mod string_data;

pub use bookkeeping::leave_out_bookkeeping;
pub use node_ports::with_node_ports;
pub(crate) use node_ports::{is_filled_from_port, is_node_port, keeps_node_ports};
pub(crate) use string_data::encoded;
pub use string_data::{with_string_data, with_string_data_folded};
