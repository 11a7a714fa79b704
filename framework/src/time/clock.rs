//! The clocks. Only this file reads the system's; everything else is handed a [`Clock`], so that a
//! test can turn it by hand.

use super::EventTime;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll, Waker};
use std::time::Duration;

/// A point on a clock that never steps back: nanoseconds since the clock was made.
///
/// ```
/// use std::time::Duration;
/// use streamwork::Moment;
///
/// let later = Moment::START + Duration::from_millis(3);
/// assert_eq!(later.as_nanos(), 3_000_000);
/// assert_eq!(later.since(Moment::START), Duration::from_millis(3));
/// assert_eq!(Moment::START.since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Moment(u64);

impl Moment {
    /// The moment the clock was made.
    pub const START: Self = Self(0);

    /// Nanoseconds since the clock was made.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this moment; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        let nanos = u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

/// Where time comes from. An instance has it from its [`Context`](crate::Context), so that a test can
/// give it another.
///
/// ```
/// use std::time::Duration;
/// use streamwork::{Clock, ManualClock, Moment};
///
/// fn is_over(clock: &dyn Clock, since: Moment) -> bool {
///     clock.now().since(since) >= Duration::from_secs(60)
/// }
///
/// let clock = ManualClock::new();
/// let begin = clock.now();
/// assert!(!is_over(&clock, begin));
/// clock.advance(Duration::from_secs(60));
/// assert!(is_over(&clock, begin));
/// ```
pub trait Clock: Send + Sync + fmt::Debug {
    /// Now, on a scale that never steps back.
    fn now(&self) -> Moment;

    /// The time of day, in milliseconds since the epoch. It may be set back.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::{Clock, EventTime, ManualClock};
    ///
    /// let clock = ManualClock::new();
    /// clock.advance(Duration::from_millis(20));
    /// assert_eq!(clock.time_of_day(), EventTime::from_millis(20));
    /// ```
    fn time_of_day(&self) -> EventTime {
        EventTime::from_millis(i64::try_from(self.now().as_nanos() / 1_000_000).unwrap_or(i64::MAX))
    }

    /// Completes at `moment` or soon after; at once if it has passed.
    ///
    /// # Cancel safety
    /// Dropping the future does nothing else.
    fn sleep_until(&self, moment: Moment) -> BoxFuture<'static, ()>;

    /// Completes when `duration` has passed since this call, whenever it is first polled, or soon after.
    ///
    /// ```
    /// use std::task::{Context, Waker};
    /// use std::time::Duration;
    /// use streamwork::{Clock, ManualClock};
    ///
    /// let clock = ManualClock::new();
    /// clock.advance(Duration::from_secs(60));
    /// let mut sleep = clock.sleep(Duration::from_secs(5));
    /// let mut cx = Context::from_waker(Waker::noop());
    /// clock.advance(Duration::from_secs(4));
    /// assert!(sleep.as_mut().poll(&mut cx).is_pending());
    /// clock.advance(Duration::from_secs(1));
    /// assert!(sleep.as_mut().poll(&mut cx).is_ready());
    /// ```
    ///
    /// # Cancel safety
    /// Dropping the future does nothing else.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.sleep_until(self.now() + duration)
    }
}

/// The system's monotonic clock. Its timers need a tokio runtime, which every arbiter has.
///
/// ```
/// use streamwork::{Clock, Moment, SystemClock};
///
/// let clock = SystemClock::new();
/// let first = clock.now();
/// assert!(Moment::START <= first && first <= clock.now());
/// ```
///
/// # Panics
/// Its [`sleep_until`](Clock::sleep_until) and [`sleep`](Clock::sleep) panic outside of a tokio runtime.
#[derive(Clone, Debug)]
pub struct SystemClock {
    start: std::time::Instant,
}

impl SystemClock {
    /// A clock that starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system's clock")]
    pub fn new() -> Self {
        Self { start: std::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        Moment::START + self.start.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system's clock")]
    fn time_of_day(&self) -> EventTime {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        EventTime::from_millis(0) + since.unwrap_or_default()
    }

    fn sleep_until(&self, moment: Moment) -> BoxFuture<'static, ()> {
        let deadline = self.start + moment.since(Moment::START);
        Box::pin(async move { tokio::time::sleep_until(deadline.into()).await })
    }
}

/// A clock that stands still until it is told to move.
///
/// ```
/// use std::time::Duration;
/// use streamwork::{Clock, ManualClock};
///
/// let clock = ManualClock::new();
/// clock.advance(Duration::from_secs(3));
/// assert_eq!(clock.now().as_nanos(), 3_000_000_000);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    state: Arc<Mutex<ManualState>>,
}

#[derive(Debug, Default)]
struct ManualState {
    now: Moment,
    /// With a number that tells those apart that sleep until the same moment.
    sleepers: BTreeMap<(Moment, u64), Waker>,
    numbered: u64,
}

impl ManualClock {
    /// A clock that stands at its start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on by `d` and wakes whoever slept until then.
    ///
    /// ```
    /// use std::task::{Context, Waker};
    /// use std::time::Duration;
    /// use streamwork::{Clock, ManualClock, Moment};
    ///
    /// let clock = ManualClock::new();
    /// let mut sleep = clock.sleep_until(Moment::START + Duration::from_secs(5));
    /// let mut cx = Context::from_waker(Waker::noop());
    /// assert!(sleep.as_mut().poll(&mut cx).is_pending());
    /// clock.advance(Duration::from_secs(5));
    /// assert!(sleep.as_mut().poll(&mut cx).is_ready());
    /// ```
    pub fn advance(&self, d: Duration) {
        let due: Vec<Waker> = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.now = state.now + d;
            let now = state.now;
            let later = state.sleepers.split_off(&(now, u64::MAX));
            std::mem::replace(&mut state.sleepers, later).into_values().collect()
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// The earliest moment that somebody sleeps until.
    ///
    /// ```
    /// use std::task::{Context, Waker};
    /// use std::time::Duration;
    /// use streamwork::{Clock, ManualClock, Moment};
    ///
    /// let clock = ManualClock::new();
    /// let at = |seconds| Moment::START + Duration::from_secs(seconds);
    /// let mut cx = Context::from_waker(Waker::noop());
    /// assert_eq!(clock.next_alarm(), None);
    /// let mut sleeps = [clock.sleep_until(at(9)), clock.sleep_until(at(5))];
    /// assert!(sleeps.iter_mut().all(|sleep| sleep.as_mut().poll(&mut cx).is_pending()));
    /// assert_eq!(clock.next_alarm(), Some(at(5)));
    /// drop(sleeps);
    /// assert_eq!(clock.next_alarm(), None);
    /// ```
    ///
    /// A sleep that was dropped is counted no more.
    #[must_use]
    pub fn next_alarm(&self) -> Option<Moment> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sleepers.first_key_value().map(|((at, _), _)| *at)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).now
    }

    fn sleep_until(&self, moment: Moment) -> BoxFuture<'static, ()> {
        Box::pin(ManualSleep { state: Arc::clone(&self.state), moment, number: None })
    }
}

/// Sleeps until a manual clock is moved to a moment.
struct ManualSleep {
    state: Arc<Mutex<ManualState>>,
    moment: Moment,
    /// `None` until it is first polled.
    number: Option<u64>,
}

impl Future for ManualSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.now >= this.moment {
            return Poll::Ready(());
        }
        let number = *this.number.get_or_insert_with(|| {
            state.numbered += 1;
            state.numbered
        });
        state.sleepers.insert((this.moment, number), cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for ManualSleep {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let waker = state.sleepers.remove(&(self.moment, number));
            drop(state);
            // Perhaps with the last handle of what it would have woken.
            drop(waker);
        }
    }
}
