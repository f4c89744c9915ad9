//! Which groups go to disk.

/// The rows that a spill takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// All of them.
    All,
    /// The largest groups, whole.
    Largest(Largest),
    /// The oldest rows of a group that is too large to stay.
    Oldest(u32),
}

/// The groups of the largest sizes. Sizes that agree in their first four bits are one class; of the smallest class
/// that is taken it is the first groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Largest {
    class: usize,
    /// The last group that is taken of this class.
    last: u32,
}

/// Bits of a size that count, behind the first one.
const BITS: u32 = 3;
const CLASSES: usize = (u64::BITS as usize) << BITS;

impl Choice {
    /// What has to go so that `wanted` bytes are free, of `held` bytes in groups of these sizes: the largest, whole; only a
    /// part of one that is more than both that and `giant`.
    pub fn new(sizes: impl Iterator<Item = u64> + Clone, held: u64, wanted: u64, giant: u64) -> Self {
        if wanted >= held {
            return Choice::All;
        }
        // The first of several.
        let largest = (0..).zip(sizes.clone()).max_by_key(|(group, size)| (*size, std::cmp::Reverse(*group)));
        match largest {
            Some((group, size)) if size > giant.max(wanted) => Choice::Oldest(group),
            _ => Choice::Largest(Largest::new(sizes, wanted)),
        }
    }

    /// Whether a row of a group of this size is taken.
    pub fn takes(&self, group: u32, size: u64) -> bool {
        match self {
            Choice::All => true,
            Choice::Largest(largest) => largest.takes(group, size),
            Choice::Oldest(chosen) => group == *chosen,
        }
    }
}

impl Largest {
    fn new(sizes: impl Iterator<Item = u64> + Clone, wanted: u64) -> Self {
        let mut bytes = [0_u64; CLASSES];
        sizes.clone().for_each(|size| bytes[class(size)] += size);
        let (mut chosen, mut freed) = (CLASSES - 1, 0);
        while chosen > 0 && freed + bytes[chosen] < wanted {
            freed += bytes[chosen];
            chosen -= 1;
        }
        let mut last = 0;
        for (group, size) in (0..).zip(sizes).filter(|(_, size)| class(*size) == chosen) {
            (last, freed) = (group, freed + size);
            if freed >= wanted {
                break;
            }
        }
        Self { class: chosen, last }
    }

    fn takes(&self, group: u32, size: u64) -> bool {
        let class = class(size);
        class > self.class || class == self.class && group <= self.last
    }
}

/// A number that grows with the size, a step for each change of its first bits.
fn class(size: u64) -> usize {
    let size = size.max(1 << BITS);
    let first = size.ilog2();
    ((first as usize) << BITS) + (size >> (first - BITS)) as usize % (1 << BITS)
}
