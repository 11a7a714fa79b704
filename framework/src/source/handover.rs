//! From a thread that may block to a task that must not.
//!
//! ```text
//!   thread ── give ──▶ queue ── take ──▶ task        the whole queue at once
//!      ▲  blocks while it is full   │ wakes when there is something
//!      └────────────────────────────┘
//! ```
//! Every event is in the queue when `give` returns, so none waits for a batch to fill; and the one lock per
//! event is hardly ever contended, because the task takes everything by exchanging two queues.

use crate::component::Result;
use crate::emitter::Emitter;
use crate::guard::{Panic, drop_each};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The engine takes no more events of a [`ThreadEmitter`](super::ThreadEmitter): the job has ended, or the source was built anew.
/// The closure is to return; whether with this error or with anything else, nobody hears of it.
///
/// ```
/// assert_eq!(streamwork::Closed.to_string(), "the job takes no more events");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the job takes no more events")]
pub struct Closed;

/// How the thread ended.
pub(super) type Outcome = Result<Result<()>, Panic>;

/// What both sides share.
pub(super) struct Handover<T> {
    shared: Mutex<Shared<T>>,
    /// There is room, or it is closed.
    room: Condvar,
}

struct Shared<T> {
    queue: VecDeque<T>,
    /// The giver waits for room.
    blocked: bool,
    /// The taker waits for an event.
    waker: Option<Waker>,
    closed: bool,
    /// How the thread ends is not listened to.
    deaf: bool,
    outcome: Option<Outcome>,
}

impl<T> Handover<T> {
    /// How many events may wait.
    pub(super) const ROOM: usize = 1_024;

    pub(super) fn pair() -> (Giver<T>, Taker<T>) {
        let shared = Shared {
            queue: VecDeque::with_capacity(Self::ROOM),
            blocked: false,
            waker: None,
            closed: false,
            deaf: false,
            outcome: None,
        };
        let handover = Arc::new(Self { shared: Mutex::new(shared), room: Condvar::new() });
        (Giver { handover: Arc::clone(&handover) }, Taker { handover, taken: VecDeque::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Shared<T>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end in the thread.
pub(super) struct Giver<T> {
    handover: Arc<Handover<T>>,
}

impl<T> Giver<T> {
    /// Hands over one event; blocks while there is no room.
    #[inline]
    pub(super) fn give(&self, event: T) -> Result<(), Closed> {
        let mut shared = self.handover.lock();
        while shared.queue.len() >= Handover::<T>::ROOM && !shared.closed {
            shared.blocked = true;
            shared = self.handover.room.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        if shared.closed {
            // The event's destructor is the user's: not under the lock.
            drop(shared);
            return Err(Closed);
        }
        shared.queue.push_back(event);
        let waker = shared.waker.take();
        drop(shared);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.handover.lock().closed
    }

    /// Says how the thread ended, after all events.
    pub(super) fn end(self, outcome: Outcome) {
        let mut shared = self.handover.lock();
        shared.outcome = Some(outcome);
        let waker = shared.waker.take();
        drop(shared);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// What was taken.
pub(super) enum Taken {
    /// At least one event.
    Events,
    /// All events are taken. Said once.
    End(Outcome),
}

/// The end in the task.
pub(super) struct Taker<T> {
    handover: Arc<Handover<T>>,
    /// Taken out of the queue and not emitted yet.
    taken: VecDeque<T>,
}

impl<T> Taker<T> {
    /// Emits what there is, up to a full emitter; waits while there is nothing.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(super) async fn take(
        &mut self,
        out: &mut Emitter<T>,
        is_draining: impl Fn() -> bool,
    ) -> Taken {
        poll_fn(|cx| {
            if is_draining() {
                self.close();
            }
            self.poll_take(cx, out)
        })
        .await
    }

    /// Takes no more: what was given is still to be taken.
    fn close(&mut self) {
        let mut shared = self.handover.lock();
        if !shared.closed {
            shared.closed = true;
            // However a thread ends that was told to, nothing comes of it any more.
            shared.deaf = shared.outcome.is_none();
        }
        drop(shared);
        self.handover.room.notify_one();
    }

    fn poll_take(&mut self, cx: &mut Context<'_>, out: &mut Emitter<T>) -> Poll<Taken> {
        if self.taken.is_empty() {
            let mut shared = self.handover.lock();
            if shared.queue.is_empty() {
                if shared.deaf {
                    return Poll::Ready(Taken::End(Ok(Ok(()))));
                }
                if let Some(outcome) = shared.outcome.take() {
                    return Poll::Ready(Taken::End(outcome));
                }
                let before = shared.waker.replace(cx.waker().clone());
                drop(shared);
                drop(before);
                return Poll::Pending;
            }
            mem::swap(&mut self.taken, &mut shared.queue);
            let blocked = mem::take(&mut shared.blocked);
            drop(shared);
            if blocked {
                self.handover.room.notify_one();
            }
        }
        let room = out.room().clamp(1, self.taken.len());
        out.extend(self.taken.drain(..room));
        Poll::Ready(Taken::Events)
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        let mut shared = self.handover.lock();
        shared.closed = true;
        let left = mem::take(&mut shared.queue);
        drop(shared);
        self.handover.room.notify_one();
        // Perhaps a panic unwinds already.
        drop_each(left);
        drop_each(mem::take(&mut self.taken));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Clock, Moment, SystemClock};
    use futures::executor::block_on;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    /// How long a test waits for what must come.
    const DEADLINE: Duration = Duration::from_secs(60);

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn one_event_wakes_the_task_once() {
        let (giver, mut taker) = Handover::pair();
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut cx = Context::from_waker(&waker);
        let mut out = Emitter::new();
        assert!(taker.poll_take(&mut cx, &mut out).is_pending());
        giver.give(1).unwrap();
        giver.give(2).unwrap();
        assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
        assert!(taker.poll_take(&mut cx, &mut out).is_ready());
        assert_eq!(out.as_slice(), [1, 2]);
        assert!(taker.poll_take(&mut cx, &mut out).is_pending());
        giver.end(Ok(Ok(())));
        assert_eq!(wakes.0.load(Ordering::SeqCst), 2);
        let end = taker.poll_take(&mut cx, &mut out);
        assert!(matches!(end, Poll::Ready(Taken::End(Ok(Ok(()))))));
    }

    fn wait_until_blocked(taker: &Taker<()>) {
        let clock = SystemClock::new();
        while !taker.handover.lock().blocked {
            assert!(clock.now() < Moment::START + DEADLINE, "the thread does not block");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_full_queue_blocks_until_it_is_taken_or_closed() {
        let (giver, mut taker) = Handover::pair();
        let given = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&given);
        let thread = std::thread::spawn(move || {
            while giver.give(()).is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
            assert!(giver.is_closed());
        });
        let room = Handover::<()>::ROOM;
        for round in 1..4 {
            wait_until_blocked(&taker);
            assert_eq!(given.load(Ordering::SeqCst), round * room);
            let mut out = Emitter::with_room(room);
            block_on(taker.take(&mut out, || false));
            assert_eq!(out.len(), room);
        }
        wait_until_blocked(&taker);
        drop(taker);
        thread.join().unwrap();
        assert_eq!(given.load(Ordering::SeqCst), 4 * room);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Give(usize),
        Take(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step =
            prop_oneof![(0..700_usize).prop_map(Step::Give), (1..900_usize).prop_map(Step::Take)];
        proptest::collection::vec(step, 0..40)
    }

    proptest! {
        #[test]
        fn it_is_a_queue(steps in steps()) {
            let (giver, mut taker) = Handover::pair();
            let mut model = VecDeque::new();
            let mut cx = Context::from_waker(Waker::noop());
            let mut n = 0_u64;
            for step in steps {
                match step {
                    Step::Give(count) => {
                        // More would block this thread.
                        let free = Handover::<u64>::ROOM - taker.handover.lock().queue.len();
                        for _ in 0..count.min(free) {
                            giver.give(n).unwrap();
                            model.push_back(n);
                            n += 1;
                        }
                    }
                    Step::Take(room) => {
                        let mut out = Emitter::with_room(room);
                        let ready = taker.poll_take(&mut cx, &mut out).is_ready();
                        prop_assert_eq!(ready, !model.is_empty());
                        prop_assert!(out.len() <= room);
                        prop_assert_eq!(out.is_empty(), model.is_empty());
                        for event in out.as_slice() {
                            prop_assert_eq!(Some(*event), model.pop_front());
                        }
                    }
                }
            }
        }

        #[test]
        fn what_a_thread_gives_arrives_in_order(
            count in 0..5_000_u64,
            rooms in proptest::collection::vec(1..2_000_usize, 1..5),
        ) {
            let (giver, mut taker) = Handover::pair();
            let thread = std::thread::spawn(move || {
                (0..count).for_each(|n| giver.give(n).unwrap());
                giver.end(Ok(Ok(())));
            });
            let mut got = Vec::new();
            for room in rooms.iter().cycle() {
                let mut out = Emitter::with_room(*room);
                if let Taken::End(outcome) = block_on(taker.take(&mut out, || false)) {
                    prop_assert!(matches!(outcome, Ok(Ok(()))));
                    break;
                }
                got.extend_from_slice(out.as_slice());
            }
            thread.join().unwrap();
            prop_assert!(got.into_iter().eq(0..count));
        }
    }
}
