//! A thread that reads an input, because reading a file blocks.

use std::io::{self, ErrorKind, Read};
use tokio::sync::{mpsc, oneshot};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// How many chunks may wait.
const AHEAD: usize = 3;

/// What is read: chunk by chunk, and an empty one at the end.
pub(super) type Chunks = mpsc::Receiver<io::Result<Vec<u8>>>;

/// Starts a thread that opens an input and reads it, and returns when it is open, with what `open`
/// says about it.
///
/// The thread ends with the input, with a failure to read, or when it has something and the receiver
/// is gone. It keeps no process from ending: a thread that reads a terminal may wait for ever.
pub(super) async fn start<R, I, E>(
    open: impl FnOnce() -> Result<(R, I), E> + Send + 'static,
) -> io::Result<Result<(Chunks, I), E>>
where
    R: Read,
    I: Send + 'static,
    E: Send + 'static,
{
    let (chunks, received) = mpsc::channel(AHEAD);
    let (tell, opened) = oneshot::channel();
    std::thread::Builder::new().name("streamwork input".into()).spawn(move || match open() {
        Ok((input, info)) => {
            if tell.send(Ok(info)).is_ok() {
                read(input, &chunks);
            }
        }
        // Nobody waits for it any more: then nobody asks why.
        Err(error) => drop(tell.send(Err(error))),
    })?;
    match opened.await {
        Ok(info) => Ok(info.map(|info| (received, info))),
        Err(_) => Err(io::Error::other("the thread that was to open it died")),
    }
}

fn read(mut input: impl Read, chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match input.read(&mut chunk) {
            Ok(length) => {
                chunk.truncate(length);
                Ok(chunk)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = read.as_ref().map_or(true, Vec::is_empty);
        if chunks.blocking_send(read).is_err() || last {
            return;
        }
    }
}
