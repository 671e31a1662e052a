//! Which source names are one plain path segment.
//!
//! Owns that rule. Must not touch the file system. Invariant: an accepted name joined to a folder stays
//! directly below it on every platform. Format text: `FORMAT.md`, "manifest.json".

use crate::error::FormatError;

/// Checks that a source name can be the name of a cache directory.
///
/// # Errors
///
/// [`FormatError::SourceName`] for an empty name, `.`, `..`, `tmp` in any case, or a name with `/`, `\` or
/// NUL.
pub fn check_source_name(name: &str) -> Result<(), FormatError> {
    match name_fault(name) {
        None => Ok(()),
        Some(fault) => Err(FormatError::SourceName {
            found: name.to_owned(),
            fault,
        }),
    }
}

pub(super) fn name_fault(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("is empty"),
        "." | ".." => Some("names a folder above or itself"),
        _ if name.eq_ignore_ascii_case("tmp") => Some("is the folder of temporaries"),
        _ if name.contains(['/', '\\']) => Some("has a path separator"),
        _ if name.contains('\0') => Some("has a NUL"),
        _ => None,
    }
}
