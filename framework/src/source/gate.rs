//! How many inputs are open at once.

use crate::component::{BoxError, Context};
use crate::id::InstanceId;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many files one instance reads at once.
const AT_ONCE: usize = 16;

/// Lets one of a few in, for as long as it is kept.
pub(super) type Permit = OwnedSemaphorePermit;

/// The gate of one instance: the splits that it reads go through it, first come, first served.
///
/// Who is in leaves at the end of its input, or with its source, and waits for no other on the way: so
/// everybody's turn comes.
#[derive(Clone, Debug)]
pub(super) struct Gate(Arc<Semaphore>);

impl Gate {
    /// Waits until there is room.
    ///
    /// # Cancel safety
    /// Dropping the future gives its place in the row up.
    pub(super) async fn enter(&self) -> Result<Permit, BoxError> {
        Ok(Arc::clone(&self.0).acquire_owned().await?)
    }
}

/// The job and the instance.
type GateId = (String, InstanceId);

/// The gates of all instances, shared by the clones of a source.
#[derive(Clone, Default)]
pub(super) struct Gates {
    /// Those that nobody has any more are gone with the next that is made.
    gates: Arc<Mutex<HashMap<GateId, Weak<Semaphore>>>>,
}

impl Gates {
    /// The gate of the instance that `ctx` is of.
    pub(super) fn of(&self, ctx: &Context) -> Gate {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let id = (ctx.job().to_owned(), ctx.instance().clone());
        if let Some(gate) = gates.get(&id).and_then(Weak::upgrade) {
            return Gate(gate);
        }
        gates.retain(|_, gate| gate.strong_count() > 0);
        let gate = Arc::new(Semaphore::new(AT_ONCE));
        gates.insert(id, Arc::downgrade(&gate));
        Gate(gate)
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gates")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::context;
    use super::*;
    use futures::FutureExt;

    #[test]
    fn a_place_is_free_when_somebody_leaves_and_goes_to_who_came_first() {
        let gates = Gates::default();
        let gate = gates.of(&context(0, 1));
        let mut inside: Vec<_> =
            (0..AT_ONCE).map(|_| gate.enter().now_or_never().unwrap().unwrap()).collect();
        let same = gates.of(&context(1, 1));
        let (mut first, mut second) = (Box::pin(gate.enter()), Box::pin(same.enter()));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        inside.pop();
        assert!(second.as_mut().now_or_never().is_none());
        // Who gives up is passed over.
        drop(first);
        assert!(second.now_or_never().is_some());
    }

    #[test]
    fn each_instance_has_a_gate_as_long_as_it_needs_one() {
        let gates = Gates::default();
        let ctx = context(0, 1);
        let other = Context { instance: InstanceId::new("source", 1), ..ctx.clone() };
        let gate = gates.of(&ctx);
        let inside: Vec<_> = (0..AT_ONCE).map(|_| gate.enter().now_or_never().unwrap()).collect();
        assert!(gates.of(&ctx).enter().now_or_never().is_none());
        assert!(gates.of(&other).enter().now_or_never().is_some());
        assert!(
            gates
                .of(&Context { job: "job2".into(), ..ctx.clone() })
                .enter()
                .now_or_never()
                .is_some()
        );
        drop((gate, inside));
        gates.of(&other);
        assert_eq!(gates.gates.lock().unwrap().len(), 1);
    }
}
