//! A pool and a window in what they are told is a forked child.
//!
//! The fork is noted, not made: the "parent's" threads stay alive here, which lets the test see that they are left
//! alone. One test per process, because the generation is the process's.
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails the test by panicking"
)]

use std::num::NonZeroUsize;
use std::sync::{Arc, mpsc};
use std::thread::ThreadId;

use dataset_rt_pool::{CancelToken, OrderedWindow, PoolError, WorkerPool, fork};

fn worker_id(pool: &Arc<WorkerPool>) -> ThreadId {
    let mut window = OrderedWindow::new(pool, NonZeroUsize::MIN, &CancelToken::new());
    window.submit(|| std::thread::current().id()).unwrap();
    window.take().unwrap().unwrap()
}

#[test]
fn pool_in_a_forked_child_makes_fresh_threads_and_leaves_the_inherited_ones_alone() {
    let pool = WorkerPool::new(1).unwrap();
    let inherited = worker_id(&pool);
    assert_eq!(worker_id(&pool), inherited);

    let mut window = OrderedWindow::new(&pool, NonZeroUsize::MIN, &CancelToken::new());
    let (open, opened) = mpsc::channel::<()>();
    let (ended_sender, ended) = mpsc::channel();
    window
        .submit(move || {
            opened.recv().unwrap();
            ended_sender.send(std::thread::current().id()).unwrap();
        })
        .unwrap();

    fork::note_forked_child();

    assert_eq!(window.take(), Some(Err(PoolError::LostInFork)));
    assert_eq!(window.submit(|| ()), Err(PoolError::LostInFork));
    // The only inherited thread is busy: a pool that still used it would hang here.
    let fresh = worker_id(&pool);
    assert_ne!(fresh, inherited);
    assert_eq!(worker_id(&pool), fresh);
    drop(window);
    drop(pool);
    // The inherited thread was neither ended nor joined by the two drops.
    open.send(()).unwrap();
    assert_eq!(ended.recv().unwrap(), inherited);

    let deep = WorkerPool::new(1).unwrap();
    for _ in 0..32 {
        fork::note_forked_child();
    }
    let mut window = OrderedWindow::new(&deep, NonZeroUsize::MIN, &CancelToken::new());
    assert_eq!(
        window.submit(|| ()),
        Err(PoolError::TooManyForks { limit: 32 })
    );
}
