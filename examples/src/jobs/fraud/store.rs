//! [`ScoreStore`]: scores that somebody outside of the job can read.

use super::Score;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// The scores of the last transactions. Its clones are one store: one component puts scores in, and
/// whoever else has a clone gets them.
///
/// ```
/// use examples::jobs::fraud::{Score, ScoreStore};
/// use uuid::Uuid;
///
/// let store = ScoreStore::keeping(2);
/// let (reader, ids) = (store.clone(), [1, 2, 3].map(Uuid::from_u128));
/// ids.map(|id| store.put(id, Score::of(0.5)));
/// assert_eq!(reader.get(ids[2], Score::ZERO), Score::of(0.5));
/// // The oldest had to go.
/// assert_eq!(reader.get(ids[0], Score::ZERO), Score::ZERO);
/// ```
#[derive(Clone)]
pub struct ScoreStore {
    kept: Arc<Mutex<Kept>>,
    most: usize,
}

#[derive(Default)]
struct Kept {
    scores: HashMap<Uuid, Score>,
    /// The oldest is first.
    order: VecDeque<Uuid>,
}

impl ScoreStore {
    /// Keeps the scores of `most` transactions; those that were put in first go first.
    #[must_use]
    pub fn keeping(most: usize) -> Self {
        Self { kept: Arc::default(), most }
    }

    /// Sets the score of a transaction.
    pub fn put(&self, transaction: Uuid, score: Score) {
        let mut kept = self.lock();
        if kept.scores.insert(transaction, score).is_none() {
            kept.order.push_back(transaction);
        }
        while kept.order.len() > self.most
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.scores.remove(&oldest);
        }
    }

    /// The score of a transaction; `default` if it is not known.
    #[must_use]
    pub fn get(&self, transaction: Uuid, default: Score) -> Score {
        self.lock().scores.get(&transaction).copied().unwrap_or(default)
    }

    /// How many transactions it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().scores.len()
    }

    /// Whether it knows none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ScoreStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScoreStore").field("most", &self.most).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_no_second_entry() {
        let store = ScoreStore::keeping(2);
        let ids = [1, 2, 3].map(Uuid::from_u128);
        for _ in 0..5 {
            store.put(ids[0], Score::of(0.1));
        }
        store.put(ids[1], Score::ONE);
        assert_eq!((store.len(), store.get(ids[0], Score::ONE)), (2, Score::of(0.1)));
        store.put(ids[2], Score::ONE);
        assert_eq!((store.len(), store.get(ids[0], Score::ZERO)), (2, Score::ZERO));
        assert_eq!(store.lock().order.len(), 2);
    }
}
