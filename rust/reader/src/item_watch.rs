//! What reads by identity know from those before them.
//!
//! Owns how long samples that follow one another closely are taken to be in memory without a look. Must not read. Invariant: of samples that were in memory in a row, at
//! least every sixteenth is looked at, and the first one after a pause.

use std::time::Duration;

use crate::clock;
use crate::lengths::LengthWatch;
use crate::plan::PlannedDraw;
use crate::schedule::{Lane, judge};
use crate::snapshot::Snapshot;

/// Remembers looks at files and pages.
#[derive(Debug, Default)]
pub(crate) struct ItemWatch {
    /// Lengths of files.
    pub(crate) lengths: LengthWatch,
    warmth: Warmth,
}

impl ItemWatch {
    /// Where samples are to be read.
    pub(crate) fn lane(&mut self, snapshot: &Snapshot, samples: &[PlannedDraw]) -> Lane {
        let caches = snapshot.caches();
        if !snapshot.options().is_mapped {
            return Lane::Cold;
        }
        // Files that were cut are not touched, not even to judge.
        if !self.lengths.are_intact(caches, samples) {
            return Lane::Inline;
        }
        let now = clock::now();
        if samples.len() == 1 && !caches.may_hold_compressed() && self.warmth.is_sure(now) {
            return Lane::Inline;
        }
        let lane = judge(snapshot, samples, 0);
        self.warmth.looked(now, lane == Lane::Inline);
        lane
    }
}

/// Whether samples are likely to be in memory, by those before.
#[derive(Debug, Default)]
struct Warmth {
    /// Looks in a row that found samples in memory.
    warm_looks: u32,
    /// Samples since the last look.
    unseen: u32,
    looked_at: Duration,
}

impl Warmth {
    /// Looks in a row after which not each sample needs one.
    const SURE_LOOKS: u32 = 64;

    /// Samples that one look is good for, itself included.
    const SAMPLES_PER_LOOK: u32 = 16;

    /// Age at which a look is good for nothing.
    const PAUSE: Duration = Duration::from_millis(10);

    /// Says whether the next sample needs no look; it is taken to be read then.
    fn is_sure(&mut self, now: Duration) -> bool {
        self.unseen += 1;
        self.warm_looks >= Self::SURE_LOOKS
            && self.unseen < Self::SAMPLES_PER_LOOK
            && now.saturating_sub(self.looked_at) < Self::PAUSE
    }

    fn looked(&mut self, now: Duration, is_warm: bool) {
        self.warm_looks = match is_warm {
            true => self.warm_looks.saturating_add(1),
            false => 0,
        };
        self.unseen = 0;
        self.looked_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(warmth: &mut Warmth, samples: u32, now: Duration) -> u32 {
        let needs_look = |_: &u32| {
            let is_sure = warmth.is_sure(now);
            if !is_sure {
                warmth.looked(now, true);
            }
            !is_sure
        };
        u32::try_from((0..samples).filter(needs_look).count()).unwrap()
    }

    #[test]
    fn samples_in_a_row_one_look_in_sixteen() {
        let mut warmth = Warmth::default();
        let now = Duration::from_secs(5);
        assert_eq!(
            looks(&mut warmth, Warmth::SURE_LOOKS, now),
            Warmth::SURE_LOOKS
        );
        assert_eq!(looks(&mut warmth, 1600, now), 100);
    }

    #[test]
    fn a_cold_sample_every_one_is_looked_at_again() {
        let mut warmth = Warmth::default();
        let now = Duration::from_secs(5);
        looks(&mut warmth, 1000, now);
        warmth.looked(now, false);
        assert_eq!(
            looks(&mut warmth, Warmth::SURE_LOOKS, now),
            Warmth::SURE_LOOKS
        );
    }

    #[test]
    fn a_pause_the_next_sample_is_looked_at() {
        let mut warmth = Warmth::default();
        looks(&mut warmth, 1000, Duration::from_secs(5));
        let later = Duration::from_secs(5) + Warmth::PAUSE;
        assert!(!warmth.is_sure(later));
    }
}
