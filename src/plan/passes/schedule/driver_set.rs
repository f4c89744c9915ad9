//! Sets of drivers, named by their places in an order of all that there may be.

/// A set of drivers. One word holds 64 of them, so uniting and comparing large sets is cheap.
#[derive(Clone, Default, Debug)]
pub struct DriverSet {
    words: Vec<u64>,
}

impl DriverSet {
    /// The set of one driver.
    pub fn of(place: usize) -> Self {
        let mut set = Self::default();
        set.insert(place);
        set
    }

    /// Adds a driver.
    pub fn insert(&mut self, place: usize) {
        let word = place / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (place % 64);
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Those that another set lacks.
    pub fn without(&self, other: &Self) -> Self {
        let others = other.words.iter().chain(std::iter::repeat(&0));
        Self { words: self.words.iter().zip(others).map(|(word, other)| word & !other).collect() }
    }

    /// Its first driver.
    pub fn first(&self) -> Option<usize> {
        self.first_common(self)
    }

    /// The first driver that is in both sets.
    pub fn first_common(&self, other: &Self) -> Option<usize> {
        let mut common = self.words.iter().zip(&other.words).map(|(word, other)| word & other).enumerate();
        let (index, word) = common.find(|(_, word)| *word != 0)?;
        Some(index * 64 + word.trailing_zeros() as usize)
    }

    /// Whether no driver is in both sets.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.first_common(other).is_none()
    }

    /// Its drivers in their order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let words = std::iter::successors(Some(*word).filter(|word| *word != 0), rest);
            words.map(move |word| index * 64 + word.trailing_zeros() as usize)
        })
    }
}
