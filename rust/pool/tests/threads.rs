//! How many threads a pool has and what they are called.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Barrier};

use dataset_rt_pool::{CancelToken, OrderedWindow, PoolError, WorkerPool};

#[test]
fn pool_of_zero_is_refused() {
    assert_eq!(WorkerPool::new(0).unwrap_err(), PoolError::NoWorkers);
}

#[test]
fn pool_has_exactly_the_asked_number_of_named_threads() {
    for workers in [1usize, 2, 5] {
        let pool = WorkerPool::new(workers).unwrap();
        assert_eq!(pool.num_workers(), workers);
        let capacity = NonZeroUsize::new(workers).unwrap();
        let mut window = OrderedWindow::new(&pool, capacity, &CancelToken::new());
        // All jobs meet at the barrier, so each needs a thread of its own.
        let barrier = Arc::new(Barrier::new(workers));
        for _ in 0..workers {
            let barrier = Arc::clone(&barrier);
            window
                .submit(move || {
                    barrier.wait();
                    std::thread::current().name().map(str::to_owned)
                })
                .unwrap();
        }
        let names: BTreeSet<String> = std::iter::from_fn(|| window.take())
            .map(|name| name.unwrap().unwrap())
            .collect();
        let expected: BTreeSet<String> = (0..workers)
            .map(|index| format!("dataset-rt-{index}"))
            .collect();
        assert_eq!(names, expected);
    }
}
