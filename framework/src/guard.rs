//! Runs user code so that a panic in it becomes a value, and stays off the terminal.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    static SILENT: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Keeps the place of a panic that will be caught, and leaves every other to the hook before. Where
/// nobody listens to the log, the caught ones are shown by the hook before as well: a failure must
/// not be invisible.
fn install_hook() {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if is_of_sled() {
                return;
            }
            let caught = CATCHING.get() > 0;
            if !caught || !(SILENT.get() || tracing::dispatcher::has_been_set()) {
                before(info);
            }
            if !caught {
                return;
            }
            let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
            PLACE.with(|slot| {
                if let Ok(mut slot) = slot.try_borrow_mut() {
                    *slot = place;
                }
            });
        }));
    });
}

/// Whether this thread belongs to sled: where its files are damaged, its own threads panic, too, and who
/// waits for them gets an error.
fn is_of_sled() -> bool {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    cfg!(feature = "sled") && (name.starts_with("sled-io-") || name == "log flusher")
}

/// A panic that was caught.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    /// As `file:line`.
    pub(crate) place: Option<String>,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("panic")?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        // On one line, as everything that is logged.
        let lines: Vec<&str> = self.message.lines().map(str::trim).collect();
        write!(f, ": {}", lines.join("; "))
    }
}

/// Lets a panic that was caught go on, to whoever catches it next.
pub(crate) fn raise(panic: Panic) -> ! {
    panic::resume_unwind(Box::new(panic))
}

struct Catching;

impl Catching {
    fn begin() -> Self {
        CATCHING.set(CATCHING.get() + 1);
        Self
    }
}

impl Drop for Catching {
    fn drop(&mut self) {
        CATCHING.set(CATCHING.get() - 1);
    }
}

/// Calls `f`; a panic comes back as its cause.
///
/// The caller sees to it that nothing half-changed is used afterwards: a component that panicked is
/// built anew.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Panic> {
    install_hook();
    let catching = Catching::begin();
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    drop(catching);
    result.map_err(|payload| {
        let payload = match payload.downcast::<Panic>() {
            Ok(raised) => return *raised,
            Err(other) => other,
        };
        let message = match payload.downcast_ref::<&str>() {
            Some(text) => (*text).to_owned(),
            None => match payload.downcast_ref::<String>() {
                Some(text) => text.clone(),
                None => "a value that is no text".to_owned(),
            },
        };
        drop_quietly(payload);
        Panic { message, place: PLACE.take() }
    })
}

/// As [`catch`], for what is expected to panic and whose panics always become errors, or come again: they
/// are never shown.
pub(crate) fn catch_silently<R>(f: impl FnOnce() -> R) -> Result<R, Panic> {
    let before = SILENT.replace(true);
    let result = catch(f);
    SILENT.set(before);
    result
}

/// As [`drop_quietly`], and never shown.
#[cfg(any(feature = "sled", feature = "redb"))]
pub(crate) fn drop_silently<T>(value: T) {
    let before = SILENT.replace(true);
    drop_quietly(value);
    SILENT.set(before);
}

/// Drops values of the user's one by one: a collection that is dropped whole aborts the process if two
/// of its elements panic.
pub(crate) fn drop_each<T>(values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(drop_quietly);
}

/// Drops something of the user's; a panic in its destructor ends there.
pub(crate) fn drop_quietly<T>(value: T) {
    let catching = Catching::begin();
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Its destructor may panic again; there is nothing left to gain from calling it.
        std::mem::forget(second);
    }
    drop(catching);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message_and_place() {
        let cause = catch(|| panic!("no {}", "car")).unwrap_err();
        let text = cause.to_string();
        assert!(text.starts_with("panic at ") && text.contains("guard.rs:"), "{text}");
        assert!(text.ends_with(": no car"), "{text}");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_survived() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        let cause = catch(|| panic::panic_any(Bomb)).unwrap_err();
        assert!(cause.to_string().contains("a value that is no text"));
        assert_eq!(catch(|| 7).unwrap(), 7);
    }
}
