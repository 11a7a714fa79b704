//! What a test's process logs.

use std::fmt::{self, Write as _};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata, Subscriber, span};

/// How long a test waits for what must come.
const DEADLINE: Duration = Duration::from_secs(60);

/// Keeps what is logged.
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    more: Condvar,
}

impl Log {
    pub(crate) fn get() -> &'static Self {
        static LOG: OnceLock<Log> = OnceLock::new();
        LOG.get_or_init(|| {
            tracing::subscriber::set_global_default(IntoLog).unwrap();
            Self { lines: Mutex::default(), more: Condvar::new() }
        })
    }

    /// The first line that has all these parts.
    #[track_caller]
    pub(crate) fn wait_for(&self, parts: &[&str]) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |lines: &[String]| {
            lines.iter().find(|line| parts.iter().all(|part| line.contains(part))).cloned()
        };
        let absent = |lines: &mut Vec<String>| find(lines).is_none();
        let (lines, _) = self.more.wait_timeout_while(lines, DEADLINE, absent).unwrap();
        find(&lines).unwrap_or_else(|| panic!("nothing logged with {parts:?}: {lines:#?}"))
    }
}

struct IntoLog;

impl Subscriber for IntoLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                write!(self.0, "{}={value:?} ", field.name()).unwrap();
            }
        }
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        let log = Log::get();
        log.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.0);
        log.more.notify_all();
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
