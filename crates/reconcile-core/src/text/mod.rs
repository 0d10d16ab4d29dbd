//! Makes untrusted text safe to show: characters that a terminal would act on or hide become visible, also in YAML and JSON, no text is
//! a command of the pipeline that prints it, and URLs lose their credentials.

mod distinct;
mod line;
mod line_index;
mod visible;
mod yaml;

pub use distinct::{common_ends, distinct, escaped, look, outline, reads_alike, similar};
pub use line::{
    coded, grouped, hex, io_reason, is_plain, is_word, listed, name_without_credentials, one_line,
    urls_without_credentials, without_credentials,
};
pub(crate) use line_index::{IndexedLine, LineIndex};
pub use visible::{
    command_starts, end_within, harmless_json, is_hidden, middle_cut, padded, start_within, visible, visible_line,
    width,
};
#[cfg(test)]
pub(crate) use yaml::tests as any_yaml;
pub use yaml::{yaml, yaml_by_name, yaml_in_order, yaml_with_words};
