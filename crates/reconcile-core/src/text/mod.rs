//! Makes untrusted text safe to show: characters that a terminal would act on or hide become visible, also in YAML and JSON, no text is
//! a command of the pipeline that prints it, and URLs lose their credentials.

mod command;
mod distinct;
mod hex;
mod json;
mod line;
mod line_index;
mod similar;
mod url;
mod visible;
mod width;
mod yaml;

pub use command::command_starts;
pub use distinct::{common_ends, distinct, escaped, look, outline, reads_alike};
pub use hex::hex;
pub use json::harmless_json;
pub use line::{io_reason, listed, one_line};
pub(crate) use line_index::{IndexedLine, LineIndex};
pub use similar::similar;
pub use url::{name_without_credentials, urls_without_credentials, without_credentials};
pub use visible::{is_hidden, visible, visible_line};
pub use width::{end_within, middle_cut, start_within, width};
#[cfg(test)]
pub(crate) use yaml::tests as any_yaml;
pub use yaml::{yaml, yaml_in_order};
