//! The supervision tree, as data and as text.

use super::status::JobStatus;
use crate::id::ComponentName;
use crate::metrics::Counts;
use std::fmt;

/// Who watches whom: the job watches components, which watch their instances.
///
/// Its `Display` is what the log shows:
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("numbers");
/// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
/// let outcome = Engine::new().run(job).unwrap();
/// let tree = outcome.tree().to_string();
/// assert!(tree.starts_with("numbers: finished\n"), "{tree}");
/// assert!(tree.contains("── for-each (sink)"), "{tree}");
/// assert_eq!((&*outcome.tree().job, outcome.tree().status), ("numbers", JobStatus::Finished));
/// assert_eq!(outcome.tree().components.len(), 2);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SupervisionTree {
    /// The job's name.
    pub job: String,
    /// The job's status.
    pub status: JobStatus,
    /// The components in the order in which they were added.
    pub components: Vec<ComponentTree>,
}

/// One component of a [`SupervisionTree`].
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("numbers");
/// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {})).parallelism(2);
/// let outcome = Engine::new().run(job).unwrap();
/// let sink = &outcome.tree().components[1];
/// assert_eq!((sink.name.as_str(), &*sink.role), ("for-each", "sink"));
/// assert_eq!(sink.instances.len(), 2);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ComponentTree {
    /// Its name.
    pub name: ComponentName,
    /// "source", "operator" or "sink".
    pub role: String,
    /// Its instances by number.
    pub instances: Vec<InstanceTree>,
}

/// One instance of a [`SupervisionTree`].
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("fragile");
/// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|n| assert!(n != 2, "no twos")));
/// let outcome = Engine::new().run(job).unwrap();
/// let instance = &outcome.tree().components[1].instances[0];
/// assert_eq!((instance.index, instance.counts.restarts), (0, 1));
/// assert!(instance.failure.as_ref().unwrap().ends_with("no twos"));
/// ```
///
/// An event that is left out for an error breaks nothing, and is remembered as well:
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("picky");
/// job.source(FromIter::new(["1", "x", "y"]))
///     .try_map(|text| Ok(text.parse::<u64>()?))
///     .sink(ForEach::new(|_| {}));
/// let outcome = Engine::new().run(job).unwrap();
/// let instance = &outcome.tree().components[0].instances[0];
/// assert_eq!((instance.counts.lost_in_steps, instance.failure.as_ref()), (2, None));
/// assert_eq!(
///     instance.first_failure.as_ref().unwrap(),
///     "from-iter[0], try_map#1 after from-iter: error: invalid digit found in string"
/// );
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InstanceTree {
    /// Its number.
    pub index: usize,
    /// What it is doing.
    pub state: InstanceState,
    /// What it has counted.
    pub counts: Counts,
    /// The last failure that it broke with.
    pub failure: Option<String>,
    /// Its first failure of any kind, with its place: what it broke with, or what an event was lost to in
    /// the component, in a closure on its edges or in a grouping.
    pub first_failure: Option<String>,
}

/// What an instance is doing.
///
/// ```
/// use streamwork::InstanceState;
/// use streamwork::prelude::*;
///
/// let job = Job::new("numbers");
/// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
/// let outcome = Engine::new().run(job).unwrap();
/// let state = outcome.tree().components[0].instances[0].state;
/// assert_eq!(state, InstanceState::Ended);
/// assert_eq!(state.to_string(), "ended");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstanceState {
    /// It is being set up.
    Starting,
    /// It processes events, or waits for some.
    Running,
    /// It broke and will be built anew.
    Restarting,
    /// It broke and will not be built anew.
    Failed,
    /// It has come to its end.
    Ended,
    /// It did not come to its end when it was told to, and was left behind.
    Abandoned,
}

impl fmt::Display for InstanceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Restarting => "restarting",
            Self::Failed => "failed",
            Self::Ended => "ended",
            Self::Abandoned => "abandoned",
        })
    }
}

impl fmt::Display for SupervisionTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.job, self.status)?;
        for (i, component) in self.components.iter().enumerate() {
            let last = i + 1 == self.components.len();
            let (branch, below) = if last { ("└──", "   ") } else { ("├──", "│  ") };
            write!(f, "\n{branch} {} ({})", component.name, component.role)?;
            for (j, instance) in component.instances.iter().enumerate() {
                let last = j + 1 == component.instances.len();
                let branch = if last { "└──" } else { "├──" };
                write!(f, "\n{below} {branch} ")?;
                instance.line(&component.role, f)?;
            }
        }
        Ok(())
    }
}

impl InstanceTree {
    /// One line. What a component of this role never counts is left out.
    fn line(&self, role: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:<10}", self.index, self.state)?;
        let c = &self.counts;
        let counts = [
            ("in", c.received, role != "source"),
            ("out", c.emitted, role != "sink"),
            ("failed", c.failed, c.failed > 0),
            ("filtered", c.filtered, c.filtered > 0),
            ("lost in steps", c.lost_in_steps, c.lost_in_steps > 0),
            ("misrouted", c.misrouted, c.misrouted > 0),
            ("unread", c.unread, c.unread > 0),
            ("dropped", c.dropped(), c.dropped() > 0),
            ("restarts", c.restarts, c.restarts > 0),
        ];
        for (name, n, _) in counts.into_iter().filter(|(_, _, shown)| *shown) {
            write!(f, "  {name} {n}")?;
        }
        match (&self.failure, &self.first_failure) {
            (Some(failure), _) => write!(f, "  last failure: {failure}")?,
            (None, Some(failure)) => write!(f, "  first failure: {failure}")?,
            (None, None) => {}
        }
        Ok(())
    }
}
