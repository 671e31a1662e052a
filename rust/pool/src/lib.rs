//! A fixed pool of named worker threads and a bounded window that returns results in submission order.
//!
//! Owns: the threads (exactly as many as asked for), the order and the bound of what is in flight, cancellation,
//! and what happens to all of it in a forked child.
//! Must not: know caches, bytes formats or Python, or choose a number of threads by itself.
//! Invariant: a result is handed out in the order its job was submitted, at most once, and a panic in a job is an
//! error value for whoever waits for that job and for nobody else.
//! Format text: none; nothing here touches files.
#![forbid(unsafe_code)]

mod cancel;
mod error;
pub mod fork;
mod pool;
mod window;

pub use cancel::CancelToken;
pub use error::PoolError;
pub use pool::WorkerPool;
pub use window::OrderedWindow;
