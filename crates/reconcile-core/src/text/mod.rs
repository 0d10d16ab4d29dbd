//! Texts of others, made fit to be shown: what a terminal would act on or hide is made visible, and URLs lose what logs in.

mod line;
mod similar;
mod url;
mod visible;
mod width;

pub use line::{io_reason, listed, one_line};
pub use similar::similar;
pub use url::{name_without_credentials, urls_without_credentials, without_credentials};
pub use visible::{is_hidden, visible};
pub use width::{end_within, middle_cut, start_within, width};
