//! See ARCHITECTURE.md.
#![deny(unsafe_code)]
