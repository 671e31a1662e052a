//! Paths and URLs that a user gives as arguments.
//!
//! Owns which of them are taken where. Must not open anything. Invariant: a URL is never taken for the name of a local file.

use std::path::PathBuf;

use dataset_rt_reader::{Place, is_object_url};

use crate::error::CoreError;

/// What tells a URL from a path.
const SCHEME_END: &str = "://";

/// A path of this machine, made absolute.
///
/// # Errors
/// `InvalidConfigError` for a URL.
pub(crate) fn local_path(argument: &str, path: PathBuf) -> Result<PathBuf, CoreError> {
    match path.to_str() {
        Some(text) if text.contains(SCHEME_END) => Err(CoreError::option(
            argument,
            text,
            "a path of this machine: a finished cache is sent to a URL by drt.upload, and read there by cached_dataset",
        )),
        _ => Ok(std::path::absolute(path)?),
    }
}

/// Where a path or URL leads; paths become absolute.
///
/// # Errors
/// `InvalidConfigError` for a URL of another kind than those of object storage.
pub(crate) fn place_of(path: PathBuf) -> Result<Place, CoreError> {
    match path.to_str() {
        Some(text) if is_object_url(text) => Ok(Place::Url(text.to_owned())),
        Some(text) if text.contains(SCHEME_END) => Err(CoreError::option(
            "cache_paths",
            text,
            "directories, and URLs that begin with s3://, gs://, az:// or file://",
        )),
        _ => Ok(Place::Directory(std::path::absolute(path)?)),
    }
}
