//! [`Checker`]: an operator that passes everything on and looks whether something holds.

use crate::component::{Component, Context, Result};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::operator::Operator;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Passes every event on as it is, and notes where an invariant is broken. It goes between any two
/// stages; its clones share what was found, so keep one to [ask](Self::assert_clean) in the end.
///
/// A violation is no failure: the event goes on, no instance is restarted, and the job ends as it would
/// have without the checker.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::{self, Checker};
///
/// testing::every_seed(0..10, |scheduler| {
///     let in_order = Checker::in_order(|n: &u64| (n % 2, *n));
///     let once = Checker::once(|n: &u64| *n);
///     let job = Job::new("checked");
///     job.source(FromIter::new(0..100_u64))
///         .parallelism(2)
///         .apply(in_order.clone())
///         .parallelism(3)
///         .apply(once.clone())
///         .sink(Collect::new());
///     scheduler.run(job).unwrap();
///     in_order.assert_clean();
///     once.assert_clean();
/// });
/// ```
///
/// It has the name of what it checks (`in-order`, `once`, `holds`); a second one of the same kind needs
/// `.named(..)`.
pub struct Checker<T> {
    name: &'static str,
    make: Arc<dyn Fn() -> Check<T> + Send + Sync>,
    /// Of this instance.
    check: Option<Check<T>>,
    instance: usize,
    events: u64,
    found: Arc<Mutex<Found>>,
}

/// Says what is wrong with an event.
type Check<T> = Box<dyn FnMut(&T) -> Result<(), String> + Send>;

#[derive(Default)]
struct Found {
    seen: u64,
    violations: u64,
    /// The first ones, in words.
    first: Vec<String>,
}

impl<T: Event> Checker<T> {
    /// So many violations are kept in words; the others are counted.
    const KEPT: usize = 10;

    /// What arrives at an instance from one sender, or for one key, is in order: `place` gives who it
    /// is and the number of the event, which must not step back. Equal numbers may follow one another.
    /// Each instance is checked for itself, since between two of them there is no order.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{self, Checker};
    ///
    /// let checker = Checker::in_order(|(sensor, sequence): &(&str, u64)| (*sensor, *sequence));
    /// let readings = [("a", 1), ("b", 7), ("a", 2), ("b", 5)];
    /// testing::collect(|job| job.source(FromIter::new(readings)).apply(checker.clone()));
    /// assert_eq!(checker.violations(), [r#"instance 0, event 4: 5 after 7 of "b""#]);
    /// ```
    pub fn in_order<K, N>(place: impl Fn(&T) -> (K, N) + Send + Sync + 'static) -> Self
    where
        K: Ord + Debug + Send + 'static,
        N: Ord + Debug + Send + 'static,
    {
        let place = Arc::new(place);
        Self::new("in-order", move || {
            let place = Arc::clone(&place);
            let mut last = BTreeMap::new();
            Box::new(move |event| {
                let (who, number) = place(event);
                let verdict = match last.get(&who) {
                    Some(before) if number < *before => {
                        Err(format!("{number:?} after {before:?} of {who:?}"))
                    }
                    _ => Ok(()),
                };
                last.insert(who, number);
                verdict
            })
        })
    }

    /// No event arrives twice, at whichever instance: `id` gives what an event is known by.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{self, Checker};
    ///
    /// let checker = Checker::once(|n: &u64| *n);
    /// testing::collect(|job| {
    ///     job.source(FromIter::new([1, 2, 1])).apply(checker.clone()).parallelism(3)
    /// });
    /// assert!(checker.violations()[0].ends_with(": 1 has come before"));
    /// ```
    pub fn once<K>(id: impl Fn(&T) -> K + Send + Sync + 'static) -> Self
    where
        K: Ord + Debug + Send + 'static,
    {
        let id = Arc::new(id);
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        Self::new("once", move || {
            let (id, seen) = (Arc::clone(&id), Arc::clone(&seen));
            Box::new(move |event| {
                let id = id(event);
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                if seen.contains(&id) {
                    return Err(format!("{id:?} has come before"));
                }
                seen.insert(id);
                Ok(())
            })
        })
    }

    /// A predicate holds for every event; `claim` says it in words.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{self, Checker};
    ///
    /// let checker = Checker::holds("none is too heavy", |weight: &u64| *weight < 40);
    /// testing::collect(|job| job.source(FromIter::new([12, 44])).apply(checker.clone()));
    /// assert_eq!(checker.violations(), ["instance 0, event 2: not so: none is too heavy"]);
    /// ```
    pub fn holds(claim: &str, predicate: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        let (what, predicate) = (format!("not so: {claim}"), Arc::new(predicate));
        Self::new("holds", move || {
            let (what, predicate) = (what.clone(), Arc::clone(&predicate));
            Box::new(move |event| if predicate(event) { Ok(()) } else { Err(what.clone()) })
        })
    }

    fn new(name: &'static str, make: impl Fn() -> Check<T> + Send + Sync + 'static) -> Self {
        Self {
            name,
            make: Arc::new(make),
            check: None,
            instance: 0,
            events: 0,
            found: Arc::default(),
        }
    }
}

impl<T> Checker<T> {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many events all instances have seen.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{self, Checker};
    ///
    /// let checker = Checker::once(|n: &u64| *n);
    /// let job = Job::new("seen");
    /// job.source(FromIter::new(0..5_u64)).apply(checker.clone()).parallelism(2);
    /// testing::run(job).unwrap();
    /// assert_eq!(checker.seen(), 5);
    /// ```
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.found().seen
    }

    /// The first violations, in words: ten at most. [`in_order`](Self::in_order) has an example.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.found().first.clone()
    }

    /// Asserts that events came by and that nothing was wrong with any.
    ///
    /// ```should_panic
    /// use streamwork::testing::Checker;
    ///
    /// // nothing was checked, and that is no pass
    /// Checker::once(|n: &u64| *n).assert_clean();
    /// ```
    ///
    /// # Panics
    /// With the number of violations and the first ones; or if no event was seen at all.
    #[track_caller]
    pub fn assert_clean(&self) {
        let Found { seen, violations, first } = &*self.found();
        let name = self.name;
        assert!(*seen > 0, "the checker {name:?} has seen no event: it has checked nothing");
        let first = first.join("\n  ");
        assert!(*violations == 0, "{name}: {violations} of {seen} events are wrong:\n  {first}");
    }
}

impl<T> Clone for Checker<T> {
    /// Another one that shares what is found, and has seen nothing itself.
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            make: Arc::clone(&self.make),
            check: None,
            instance: self.instance,
            events: 0,
            found: Arc::clone(&self.found),
        }
    }
}

impl<T: 'static> Component for Checker<T> {
    type Saved = ();

    fn name(&self) -> &str {
        self.name
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T: Event> Operator for Checker<T> {
    type In = T;
    type Out = T;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn apply(&mut self, event: T, out: &mut Emitter<T>) -> Result<()> {
        self.events += 1;
        let check = self.check.get_or_insert_with(|| (self.make)());
        // Outside of the lock: it runs code of the test.
        let verdict = check(&event);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.seen += 1;
        if let Err(what) = verdict {
            found.violations += 1;
            if found.first.len() < Self::KEPT {
                let (instance, event) = (self.instance, self.events);
                found.first.push(format!("instance {instance}, event {event}: {what}"));
            }
        }
        drop(found);
        out.emit(event);
        Ok(())
    }
}

impl<T> Debug for Checker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { seen, violations, .. } = &*self.found();
        f.debug_struct("Checker")
            .field("name", &self.name)
            .field("seen", seen)
            .field("violations", violations)
            .finish_non_exhaustive()
    }
}
