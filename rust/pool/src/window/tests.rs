//! The window under any job durations: durations are made by gates that the test opens in an order of its choice.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use proptest::prelude::*;

use super::OrderedWindow;
use crate::{CancelToken, PoolError, WorkerPool};

fn window<T: Send + 'static>(workers: usize, capacity: usize) -> OrderedWindow<T> {
    let pool = WorkerPool::new(workers).unwrap();
    OrderedWindow::new(
        &pool,
        NonZeroUsize::new(capacity).unwrap(),
        &CancelToken::new(),
    )
}

fn gate() -> (Sender<()>, Receiver<()>) {
    bounded(1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Jobs finish in the order `finish`, results still come in the order of submission.
    #[test]
    fn results_whatever_the_finishing_order_come_in_submission_order(
        finish in (1usize..9).prop_flat_map(|count| Just((0..count).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let count = finish.len();
        let mut window = window(count, count);
        let (done_sender, done) = bounded(count);
        let mut gates = Vec::new();
        for index in 0..count {
            let (open, opened) = gate();
            let done_sender = done_sender.clone();
            gates.push(open);
            window.submit(move || {
                opened.recv().unwrap();
                done_sender.send(index).unwrap();
                index
            }).unwrap();
        }
        for index in &finish {
            gates[*index].send(()).unwrap();
            prop_assert_eq!(done.recv().unwrap(), *index);
        }
        let taken: Vec<usize> = std::iter::from_fn(|| window.take()).map(Result::unwrap).collect();
        prop_assert_eq!(taken, (0..count).collect::<Vec<_>>());
    }

    /// Any mix of workers, bound and panics: every result in place, never more in flight than the bound.
    #[test]
    fn push_for_any_workers_and_capacity_keeps_order_and_bound(
        workers in 1usize..5,
        capacity in 1usize..9,
        panics in proptest::collection::vec(prop::bool::weighted(0.2), 0..60),
    ) {
        let mut window = window(workers, capacity);
        let in_flight = Arc::new(AtomicUsize::new(0));
        let mut taken = Vec::new();
        for (index, panicking) in panics.iter().copied().enumerate() {
            if window.is_full() {
                taken.push(window.take().unwrap());
                in_flight.fetch_sub(1, Ordering::SeqCst);
            }
            in_flight.fetch_add(1, Ordering::SeqCst);
            prop_assert!(in_flight.load(Ordering::SeqCst) <= capacity);
            window.submit(move || {
                assert!(!panicking, "job {index} was told to panic");
                index
            }).unwrap();
        }
        taken.extend(std::iter::from_fn(|| window.take()));
        prop_assert_eq!(taken.len(), panics.len());
        for (index, (result, panicked)) in taken.iter().zip(&panics).enumerate() {
            match result {
                Ok(value) => prop_assert!(!panicked && *value == index),
                Err(PoolError::WorkerPanicked { message }) => {
                    prop_assert!(*panicked);
                    let expected = format!("job {index} ");
                    prop_assert!(message.contains(&expected));
                }
                Err(other) => prop_assert!(false, "unexpected {:?}", other),
            }
        }
    }
}

#[test]
fn push_into_a_full_window_returns_the_oldest_result() {
    let mut window = window(2, 2);
    assert_eq!(window.push(|| 'a').unwrap(), None);
    assert_eq!(window.push(|| 'b').unwrap(), None);
    assert_eq!(window.push(|| 'c').unwrap(), Some('a'));
    assert_eq!(window.len(), 2);
}

#[test]
fn take_timeout_on_a_running_job_leaves_it_in_flight() {
    let mut window = window(1, 1);
    let (open, opened) = gate();
    window.submit(move || opened.recv().unwrap()).unwrap();
    assert!(window.take_timeout(Duration::ZERO).is_none());
    assert_eq!(window.len(), 1);
    open.send(()).unwrap();
    window.take().unwrap().unwrap();
    assert!(window.take().is_none());
}

#[test]
fn waiting_take_after_cancel_returns_while_the_job_still_runs() {
    let pool = WorkerPool::new(1).unwrap();
    let token = CancelToken::new();
    let mut window = OrderedWindow::new(&pool, NonZeroUsize::MIN, &token);
    let (open, opened) = gate();
    let (started_sender, started) = gate();
    window
        .submit(move || {
            started_sender.send(()).unwrap();
            opened.recv().unwrap();
        })
        .unwrap();
    started.recv().unwrap();
    let canceller = std::thread::spawn(move || token.cancel());
    assert_eq!(window.take(), Some(Err(PoolError::Cancelled)));
    canceller.join().unwrap();
    assert_eq!(window.submit(|| ()), Err(PoolError::Cancelled));
    open.send(()).unwrap();
}

#[test]
fn drop_with_a_long_queue_waits_for_nothing_and_starts_nothing_more() {
    let pool = WorkerPool::new(1).unwrap();
    let mut window =
        OrderedWindow::new(&pool, NonZeroUsize::new(1000).unwrap(), &CancelToken::new());
    let started = Arc::new(AtomicUsize::new(0));
    let (open, opened) = bounded::<()>(0);
    for _ in 0..1000 {
        let (started, opened) = (Arc::clone(&started), opened.clone());
        window
            .submit(move || {
                started.fetch_add(1, Ordering::SeqCst);
                opened.recv().unwrap_err();
            })
            .unwrap();
    }
    // With a drop that waits, this line would never be passed: the running job waits for `open`.
    drop(window);
    drop(open);
    // The pool is first in, first out, so this job runs after all that were queued.
    let mut last = OrderedWindow::new(&pool, NonZeroUsize::MIN, &CancelToken::new());
    last.submit(|| ()).unwrap();
    last.take().unwrap().unwrap();
    assert!(started.load(Ordering::SeqCst) <= 1);
}

#[test]
fn dropped_window_releases_what_its_queued_jobs_held() {
    let pool = WorkerPool::new(1).unwrap();
    let mut window = OrderedWindow::new(&pool, NonZeroUsize::new(8).unwrap(), &CancelToken::new());
    let held = Arc::new(());
    for _ in 0..8 {
        let held = Arc::clone(&held);
        window.submit(move || drop(held)).unwrap();
    }
    drop(window);
    let mut last = OrderedWindow::new(&pool, NonZeroUsize::MIN, &CancelToken::new());
    last.submit(|| ()).unwrap();
    last.take().unwrap().unwrap();
    assert_eq!(Arc::strong_count(&held), 1);
}
