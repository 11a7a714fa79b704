//! Same key, same instance.

use super::{Grouping, Target, Targets};
use crate::key::{Key, KeyBy, KeyGroup, KeyGroups, KeyOn, KeySelector, key_hash};
use std::fmt;

/// Makes groupings by key: equal keys go to the same instance, in every run.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("by-kind");
/// job.source(FromIter::new(["car", "van", "car", "bus", "car"]))
///     .group(Fields::by(|kind: &&'static str| *kind))
///     .sink(got.clone())
///     .parallelism(3);
/// Engine::new().run(job).unwrap();
/// let with_cars = (0..3).filter(|&i| got.of_instance(i).contains(&"car")).count();
/// assert_eq!(with_cars, 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Fields {}

impl Fields {
    /// By a part of the event. Nothing is copied: this is the form to use for a key that is a field.
    ///
    /// ```
    /// use serde::{Deserialize, Serialize};
    /// use streamwork::prelude::*;
    ///
    /// #[derive(Event, Clone, Serialize, Deserialize)]
    /// struct Vehicle {
    ///     kind: String,
    ///     axles: u32,
    /// }
    ///
    /// let of = |kind: &str, axles| Vehicle { kind: kind.into(), axles };
    /// let got = Collect::new();
    /// let job = Job::new("on-kind");
    /// job.source(FromIter::new([of("car", 2), of("van", 2), of("car", 3)]))
    ///     .group(Fields::on(|v: &Vehicle| &v.kind))
    ///     .sink(got.clone())
    ///     .parallelism(3);
    /// Engine::new().run(job).unwrap();
    /// let cars = |i| got.of_instance(i).iter().filter(|v| v.kind == "car").count();
    /// assert!((0..3).any(|i| cars(i) == 2), "all cars are in one place");
    /// ```
    ///
    /// The closure's argument needs its type written, as here: the compiler can't infer it.
    ///
    /// # Panics
    /// A panic of the closure is caught. The event is misrouted: it is lost, counted (see
    /// [`Outcome::failed`](crate::Outcome::failed)) and logged. Nothing is restarted. Where the next
    /// component has one instance, the closure is not called at all.
    pub fn on<T, K, F>(key: F) -> FieldsBy<KeyOn<K, F>>
    where
        F: for<'a> Fn(&'a T) -> &'a K + Clone + Send + 'static,
        K: Key + ?Sized + 'static,
    {
        FieldsBy::new(KeyOn::new(key))
    }

    /// By a key that is made from the event. For one that is a part of it, [`on`](Self::on) copies
    /// nothing. The closure's argument needs its type written here too.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("by-rest");
    /// job.source(FromIter::new(0..9_u64))
    ///     .group(Fields::by(|n: &u64| n % 3))
    ///     .sink(got.clone())
    ///     .parallelism(2);
    /// Engine::new().run(job).unwrap();
    /// let threes = |i| got.of_instance(i).iter().filter(|n| **n % 3 == 0).count();
    /// assert!(threes(0) == 3 || threes(1) == 3);
    /// ```
    ///
    /// # Panics
    /// As [`on`](Self::on): the event is lost, counted and logged.
    pub fn by<T, K, F>(key: F) -> FieldsBy<KeyBy<K, F>>
    where
        F: Fn(&T) -> K + Clone + Send + 'static,
        K: Key + 'static,
    {
        FieldsBy::new(KeyBy::new(key))
    }

    /// By the whole event.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("whole");
    /// job.source(FromIter::new([1_u64, 2, 1])).group(Fields::whole()).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [1, 2, 1]);
    /// ```
    #[must_use]
    pub fn whole<T: Key + 'static>() -> FieldsBy<Whole<T>> {
        FieldsBy::new(KeyOn::new(|event| event))
    }
}

/// The whole event as its key; a grouping of this kind can be stored:
///
/// ```
/// use streamwork::grouping::{FieldsBy, Whole};
/// use streamwork::prelude::*;
///
/// let grouping: FieldsBy<Whole<u64>> = Fields::whole();
/// let got = Collect::new();
/// let job = Job::new("whole");
/// job.source(FromIter::new([7_u64, 7])).group(grouping).sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert!(got.of_instance(0).len() == 2 || got.of_instance(1).len() == 2);
/// ```
pub type Whole<T> = KeyOn<T, fn(&T) -> &T>;

/// A grouping by key; made by [`Fields`], which has examples.
pub struct FieldsBy<S> {
    key: S,
    table: Table,
}

impl<S> FieldsBy<S> {
    pub(crate) fn new(key: S) -> Self {
        Self { key, table: Table::default() }
    }
}

impl<T, S: KeySelector<T>> Grouping<T> for FieldsBy<S> {
    #[inline]
    fn target(&mut self, event: &T, targets: Targets) -> Target {
        let hash = self.key.with_key(event, key_hash);
        Target::Instance(self.table.instance(hash, targets))
    }

    fn sole_target(&self, targets: Targets) -> Option<usize> {
        (targets.instances() == 1).then_some(0)
    }

    fn by_key(&self) -> bool {
        true
    }
}

impl<S: Clone> Clone for FieldsBy<S> {
    fn clone(&self) -> Self {
        Self::new(self.key.clone())
    }
}

impl<S: fmt::Debug> fmt::Debug for FieldsBy<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FieldsBy").field(&self.key).finish()
    }
}

/// [`KeyGroups::instance`] for every group, worked out at the first event: a division less for each.
#[derive(Default)]
struct Table {
    instance_of: Vec<u16>,
}

impl Table {
    #[inline]
    fn instance(&mut self, hash: u64, targets: Targets) -> usize {
        let group = targets.key_groups().of_hash(hash);
        match self.instance_of.get(usize::from(group.0)) {
            Some(&instance) => usize::from(instance),
            None => self.fill(group, targets.key_groups(), targets.instances()),
        }
    }

    #[cold]
    fn fill(&mut self, group: KeyGroup, groups: KeyGroups, instances: usize) -> usize {
        let all = 0..u16::try_from(groups.count()).unwrap_or(u16::MAX);
        self.instance_of = all.map(|g| groups.instance(KeyGroup(g), instances) as u16).collect();
        groups.instance(group, instances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Every sender and every new copy of the grouping send a key to the same place, and it is
        /// the place where state would be looked for.
        #[test]
        fn equal_keys_meet(keys in prop::collection::vec(any::<i64>(), 1..200), instances in 1_usize..=128) {
            let first = Fields::whole::<i64>();
            let mut seen = HashMap::new();
            for sender in 0..3 {
                let targets = Targets { sender, instances, key_groups: KeyGroups::DEFAULT };
                let mut grouping = first.clone();
                for key in &keys {
                    let target = grouping.target(key, targets);
                    let expected = KeyGroups::DEFAULT.instance(KeyGroups::DEFAULT.of_key(key), instances);
                    prop_assert_eq!(target, Target::Instance(expected));
                    prop_assert!(expected < instances);
                    prop_assert_eq!(*seen.entry(*key).or_insert(target), target);
                }
            }
        }
    }
}
