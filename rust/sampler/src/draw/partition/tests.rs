use proptest::prelude::*;

use super::*;

fn positions(progress: &WindowProgress) -> Vec<u64> {
    let mut positions = Vec::new();
    while let Some(run) = progress.run_at(positions.len() as u64, 3) {
        positions.extend((0..run.draws).map(|step| run.start + run.stride * step));
    }
    positions
}

fn parts(window: Window, count: u64, tail: Tail) -> Vec<WindowProgress> {
    (0..count)
        .map(|index| WindowProgress::new(window, Partition::new(index, count, tail).unwrap()))
        .collect()
}

#[test]
fn ten_draws_on_four_ranks_are_split_three_three_two_two() {
    let window = Window::new(100, 10).unwrap();
    let shares: Vec<_> = parts(window, 4, Tail::Uneven)
        .iter()
        .map(positions)
        .collect();
    assert_eq!(shares[0], [100, 104, 108]);
    assert_eq!(shares[1], [101, 105, 109]);
    assert_eq!(shares[2], [102, 106]);
    assert_eq!(shares[3], [103, 107]);
}

#[test]
fn dropped_draws_are_passed_over_with_the_last_local_draw() {
    let window = Window::new(0, 10).unwrap();
    for mut part in parts(window, 4, Tail::Drop) {
        assert_eq!(positions(&part).len(), 2);
        part.advance(1);
        assert_eq!(part.position(), 4);
        part.advance(1);
        assert_eq!(part.position(), 10);
    }
}

#[test]
fn padding_repeats_the_first_draws_of_the_window() {
    let window = Window::new(50, 10).unwrap();
    let shares: Vec<_> = parts(window, 4, Tail::Pad).iter().map(positions).collect();
    assert_eq!(shares[1], [51, 55, 59]);
    assert_eq!(shares[2], [52, 56, 50]);
    assert_eq!(shares[3], [53, 57, 51]);
    let tiny = Window::new(50, 2).unwrap();
    let shares: Vec<_> = parts(tiny, 5, Tail::Pad).iter().map(positions).collect();
    assert_eq!(shares, [[50], [51], [50], [51], [50]]);
}

#[test]
fn padding_after_resume_repeats_what_it_would_have_repeated() {
    let whole = Window::new(50, 10).unwrap();
    let rest = Window::rest(54, 60, 10, 0);
    for index in 0..4 {
        let partition = Partition::new(index, 4, Tail::Pad).unwrap();
        let reference = positions(&WindowProgress::new(whole, partition));
        assert_eq!(
            positions(&WindowProgress::new(rest, partition)),
            reference[1..]
        );
    }
}

#[test]
fn part_that_does_not_exist_is_refused() {
    for (index, count) in [(0, 0), (3, 3), (7, 2)] {
        let refused = Partition::new(index, count, Tail::Uneven);
        assert_eq!(refused, Err(SamplerError::Partition { index, count }));
    }
    assert_eq!(
        Tail::of_switches(true, true),
        Err(SamplerError::PartitionTail)
    );
    let many = Partition::new(0, u64::MAX, Tail::Uneven).unwrap();
    assert!(many.part(1, 2, Tail::Uneven).is_err());
}

#[test]
fn skip_of_a_part_stops_at_the_end_of_its_window() {
    let window = Window::new(0, 10).unwrap();
    let mut part = parts(window, 4, Tail::Uneven).remove(1);
    part.skip(1);
    assert_eq!(
        (part.position(), part.skipped(), part.remaining()),
        (4, 4, 2)
    );
    part.skip(1000);
    assert_eq!(
        (part.position(), part.skipped(), part.remaining()),
        (10, 10, 0)
    );
    assert_eq!(part.run_at(3, 8), None);
}

#[test]
fn finished_parts_are_all_at_the_end() {
    let window = Window::new(0, 10).unwrap();
    for mut part in parts(window, 4, Tail::Uneven) {
        part.advance(part.draws());
        part.finish();
        assert_eq!(part.position(), 10);
    }
}

proptest! {
    #[test]
    fn parts_of_any_number_are_the_window(start in 0_u64..1000, draws in 1_u64..200, count in 1_u64..20) {
        let window = Window::new(start, draws).unwrap();
        let shares = parts(window, count, Tail::Uneven);
        let mut all: Vec<_> = shares.iter().flat_map(positions).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (start..start + draws).collect::<Vec<_>>());
        let lens: Vec<_> = shares.iter().map(WindowProgress::draws).collect();
        prop_assert!(lens.iter().max().unwrap() - lens.iter().min().unwrap() <= 1);
    }

    #[test]
    fn part_of_a_part_is_every_so_many_draws_of_it(
        draws in 1_u64..300, outer in 1_u64..6, inner in 1_u64..6, a in 0_u64..6, b in 0_u64..6,
    ) {
        let window = Window::new(7, draws).unwrap();
        let part = Partition::new(a % outer, outer, Tail::Uneven).unwrap();
        let nested = part.part(b % inner, inner, Tail::Uneven).unwrap();
        let of_part = positions(&WindowProgress::new(window, part));
        let step = usize::try_from(inner).unwrap();
        let skip = usize::try_from(b % inner).unwrap();
        let wanted: Vec<_> = of_part.into_iter().skip(skip).step_by(step).collect();
        prop_assert_eq!(positions(&WindowProgress::new(window, nested)), wanted);
    }

    #[test]
    fn ranks_that_resume_as_another_number_of_ranks_draw_the_rest(
        draws in 1_u64..200, count in 1_u64..9, again in 1_u64..9, k in 0_u64..40,
    ) {
        let window = Window::new(0, draws).unwrap();
        let k = k.min(draws / count);
        let taken = usize::try_from(k).unwrap();
        let mut ranks = parts(window, count, Tail::Uneven);
        ranks.iter_mut().for_each(|rank| rank.advance(k));
        let position = ranks[0].position();
        for rank in &ranks {
            prop_assert_eq!(rank.position(), position);
        }
        let seen = ranks.iter().flat_map(|rank| positions(rank).into_iter().take(taken));
        let rest = Window::rest(position, draws, draws, 0);
        let rest = parts(rest, again, Tail::Uneven);
        let mut all: Vec<_> = seen.chain(rest.iter().flat_map(positions)).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..draws).collect::<Vec<_>>());
    }
}
