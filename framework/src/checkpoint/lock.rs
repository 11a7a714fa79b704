//! Locks of files, which may be let go a moment late: by a thread that is just ending, or by a child
//! process that was just forked.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(2);

/// Locks a file; waits up to `longest` where it is locked. Whether it is locked now.
pub(super) fn lock_within(file: &File, longest: Duration) -> io::Result<bool> {
    let mut left = longest.as_millis() / PAUSE.as_millis();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if left == 0 => return Ok(false),
            Err(TryLockError::WouldBlock) => {
                left -= 1;
                thread::park_timeout(PAUSE);
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_let_go_late_is_waited_for() {
        let name = format!("streamwork-lock-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let (first, second) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        assert!(lock_within(&first, Duration::ZERO).unwrap());
        assert!(!lock_within(&second, Duration::from_millis(10)).unwrap());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_within(&second, Duration::from_secs(60)).unwrap());
            first.unlock().unwrap();
            assert!(waiting.join().unwrap());
        });
        std::fs::remove_file(path).unwrap();
    }
}
