//! Errors of the format and the kinds shared by the whole core.

mod facts;
mod format_error;
mod kind;
mod site;

pub use facts::ErrorFacts;
pub(crate) use format_error::plain_finding;
pub use format_error::{FormatError, SharedError};
pub use kind::ErrorKind;
pub use site::{Region, Site};
