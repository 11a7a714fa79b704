//! Lines from a TCP peer.

use super::address::{Address, AddressError};
use super::backoff::Backoff;
use super::cutter::{BadLine, Cutter};
use super::not_set_up::NotSetUp;
use super::{Progress, Source};
use crate::component::{Component, Context, Fatal, Result};
use crate::emitter::Emitter;
use crate::time::Moment;
use futures::future::{Either, select};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Connects to a TCP peer and emits the lines that it sends, as `String`s. Split i connects to the
/// given port + i; each instance has one split.
///
/// A line ends with `\n`, the last one also with the connection; a `\r` before the end is no part of
/// the line. Everything else stays as it is, empty lines included.
///
/// ```
/// use std::io::Write;
/// use std::net::TcpListener;
/// use streamwork::prelude::*;
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let address = listener.local_addr()?.to_string();
/// let peer = std::thread::spawn(move || {
///     let (mut stream, _) = listener.accept()?;
///     stream.write_all(b"car\nvan\n")
/// });
///
/// let got = Collect::new();
/// let job = Job::new("vehicles");
/// job.source(TcpLines::connect(address)).sink(got.clone());
/// Engine::new().run(job)?;
/// assert_eq!(got.take(), ["car", "van"]);
/// # peer.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// When the peer closes the connection, the split ends. When the connection breaks, that is logged,
/// the line that had begun is dropped, and the source connects again. A peer has no position to go
/// back to, so what it sent and the connection lost is lost. A source that is built anew goes on with
/// the connection that it had.
///
/// # Errors
/// A line that is not UTF-8 is skipped, counted as failed and logged, unless
/// [`on_error`](crate::SourceStage::on_error) says otherwise. The error names the peer, and the line by its
/// number among those that this split received.
///
/// The job fails at its start if the address is not `host:port`, if the host is unknown, and if the
/// peer could not be connected to within 10 s ([`give_up_after`](Self::give_up_after)). It fails later
/// if a lost connection is not back within that time, and after the line before if a line is too long
/// ([`max_line_bytes`](Self::max_line_bytes)).
///
/// # Cancel safety
/// Dropping the future of `setup` gives up connecting. Dropping that of `next` loses nothing: it emits
/// only when it is about to return.
pub struct TcpLines {
    address: String,
    give_up_after: Duration,
    max_line_bytes: usize,
    session: Option<Session>,
    left: SharedSessions,
}

/// Sessions whose source panicked, until it is built anew.
type SharedSessions = Arc<Mutex<HashMap<SessionId, Session>>>;
/// The job, the instance and the split.
type SessionId = (String, String, usize);

impl TcpLines {
    const GIVE_UP_AFTER: Duration = Duration::from_secs(10);
    const MAX_LINE_BYTES: usize = 1024 * 1024;

    /// A source of the lines from `address`, which is `host:port`. It is looked at when the job
    /// starts.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("vehicles");
    /// job.source(TcpLines::connect("localhost")).sink(Collect::new());
    /// let error = Engine::new().run(job).unwrap_err().to_string();
    /// assert!(error.contains(r#"address "localhost" has no port"#), "{error}");
    /// ```
    #[must_use]
    pub fn connect(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            give_up_after: Self::GIVE_UP_AFTER,
            max_line_bytes: Self::MAX_LINE_BYTES,
            session: None,
            left: SharedSessions::default(),
        }
    }

    /// Sets for how long connecting is tried, at the start and after a loss; 10 s if it is not set.
    /// The pause between two tries is 50 ms at first and doubles up to a second.
    ///
    /// ```
    /// use std::net::TcpListener;
    /// use std::time::Duration;
    /// use streamwork::prelude::*;
    ///
    /// // A port where nobody listens any more.
    /// let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    /// let job = Job::new("vehicles");
    /// job.source(TcpLines::connect(address).give_up_after(Duration::ZERO)).sink(Collect::new());
    /// let error = Engine::new().run(job).unwrap_err().to_string();
    /// assert!(error.contains("cannot connect to 127.0.0.1:"), "{error}");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn give_up_after(mut self, time: Duration) -> Self {
        self.give_up_after = time;
        self
    }

    /// Sets how long a line may be, without its end; 1 MiB if it is not set. A longer one is an
    /// error, found before more than this is in memory.
    ///
    /// ```
    /// use std::io::Write;
    /// use std::net::TcpListener;
    /// use streamwork::prelude::*;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let address = listener.local_addr()?.to_string();
    /// let peer = std::thread::spawn(move || listener.accept()?.0.write_all(b"motorcycle\n"));
    ///
    /// let job = Job::new("vehicles");
    /// job.source(TcpLines::connect(address).max_line_bytes(5)).sink(Collect::new());
    /// let error = Engine::new().run(job).unwrap_err().to_string();
    /// assert!(error.contains("is longer than 5 bytes"), "{error}");
    /// # peer.join().unwrap()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.max_line_bytes = bytes;
        self
    }

    fn left(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, thiserror::Error)]
enum TcpError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("host {host:?} is unknown")]
    UnknownHost { host: String, source: io::Error },
    #[error("cannot connect to {address} within {time:?}")]
    Refused { address: Address, time: Duration, source: io::Error },
    #[error("the connection to {address} was lost and is not back within {time:?}")]
    Lost { address: Address, time: Duration, source: io::Error },
}

/// Why one try to connect failed.
enum Failed {
    Lookup(io::Error),
    Connect(io::Error),
}

/// What one split has of its peer.
struct Session {
    ctx: Context,
    address: Address,
    give_up_after: Duration,
    stream: Option<TcpStream>,
    /// When the stream was connected.
    connected: Moment,
    /// When to connect, if there is no stream.
    next_try: Moment,
    backoff: Backoff,
    chunk: Box<[u8]>,
    cutter: Cutter,
}

impl Session {
    fn new(ctx: &Context, address: Address, give_up_after: Duration, limit: usize) -> Self {
        let cutter = Cutter::new(address.to_string(), limit);
        let now = ctx.clock().now();
        Self {
            ctx: ctx.clone(),
            address,
            give_up_after,
            stream: None,
            connected: now,
            next_try: now,
            backoff: Backoff::new(give_up_after),
            chunk: vec![0; CHUNK].into(),
            cutter,
        }
    }

    fn id(ctx: &Context) -> SessionId {
        (ctx.job().to_owned(), ctx.instance().to_string(), ctx.split().index)
    }

    /// Connects for the first time. A host that is unknown now is not tried again.
    async fn open(&mut self) -> Result<(), TcpError> {
        self.backoff.begin(self.ctx.clock().now());
        let mut told = false;
        loop {
            let source = match self.try_to_connect().await {
                Ok(()) => return Ok(()),
                Err(Failed::Lookup(source)) => {
                    return Err(TcpError::UnknownHost { host: self.address.host.clone(), source });
                }
                Err(Failed::Connect(source)) => source,
            };
            if !self.try_again() {
                let (address, time) = (self.address.clone(), self.give_up_after);
                return Err(TcpError::Refused { address, time, source });
            }
            if !told {
                told = true;
                self.warn(format_args!(
                    "cannot connect to {} yet: {source}; trying for {:?}",
                    self.address, self.give_up_after,
                ));
            }
        }
    }

    /// Waits for bytes, or for the end, and gets a lost connection back meanwhile.
    async fn read(&mut self) -> Result<(), TcpError> {
        let Some(stream) = &mut self.stream else {
            return match self.try_to_connect().await {
                Ok(()) => Ok(()),
                Err(Failed::Lookup(source) | Failed::Connect(source)) => self.still_lost(source),
            };
        };
        match stream.read(&mut self.chunk).await {
            Ok(0) => self.cutter.finish(),
            Ok(length) => {
                self.backoff.reset();
                self.cutter.feed(&self.chunk[..length]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return self.lost(error),
        }
        Ok(())
    }

    /// The connection broke.
    fn lost(&mut self, source: io::Error) -> Result<(), TcpError> {
        self.stream = None;
        let dropped = self.cutter.drop_partial();
        self.warn(format_args!(
            "lost the connection to {}: {source}; dropped {dropped} bytes of a line that had begun; \
             connecting again",
            self.address,
        ));
        // It has worked, even if the peer was silent. One that breaks at once has not.
        if self.ctx.clock().now().since(self.connected) > Backoff::LONGEST_PAUSE {
            self.backoff.reset();
        }
        self.still_lost(source)
    }

    fn still_lost(&mut self, source: io::Error) -> Result<(), TcpError> {
        if self.try_again() {
            return Ok(());
        }
        let (address, time) = (self.address.clone(), self.give_up_after);
        Err(TcpError::Lost { address, time, source })
    }

    /// Sets the time of the next try, if there is to be one.
    fn try_again(&mut self) -> bool {
        match self.backoff.failed(self.ctx.clock().now()) {
            Some(moment) => {
                self.next_try = moment;
                true
            }
            None => false,
        }
    }

    /// Waits until it is time to, and tries once.
    async fn try_to_connect(&mut self) -> Result<(), Failed> {
        let clock = Arc::clone(self.ctx.clock());
        if clock.now() < self.next_try {
            clock.sleep_until(self.next_try).await;
        }
        let now = clock.now();
        // Also the last try gets a little time.
        let until = self.backoff.begin(now).max(now + Backoff::FIRST_PAUSE);
        let Address { host, port } = &self.address;
        let attempt = pin!(async {
            let addresses = look_up(host, *port).await.map_err(Failed::Lookup)?;
            TcpStream::connect(&*addresses).await.map_err(Failed::Connect)
        });
        match select(attempt, clock.sleep_until(until)).await {
            Either::Left((stream, _)) => self.stream = Some(stream?),
            Either::Right(_) => {
                return Err(Failed::Connect(io::Error::new(ErrorKind::TimedOut, "no answer")));
            }
        }
        self.connected = clock.now();
        Ok(())
    }

    fn warn(&self, what: fmt::Arguments<'_>) {
        let id = self.ctx.instance();
        tracing::warn!(
            job = self.ctx.job(),
            component = %id.component,
            instance = id.index,
            "{what}",
        );
    }
}

/// The addresses of a host. Asking for them blocks, so a thread does it; one of the runtime's would
/// keep the runtime from ending.
async fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let (tell, told) = oneshot::channel();
    let host = host.to_owned();
    std::thread::Builder::new().name("streamwork dns".into()).spawn(move || {
        let addresses = (host.as_str(), port).to_socket_addrs().map(Vec::from_iter);
        // Nobody waits for it any more: then nobody connects.
        drop(tell.send(addresses));
    })?;
    told.await.unwrap_or_else(|_| Err(io::Error::other("the thread that looked it up died")))
}

impl Component for TcpLines {
    type Saved = ();

    fn name(&self) -> &str {
        "tcp-lines"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl Source for TcpLines {
    type Out = String;

    /// The connection is kept, and what was taken back is emitted again.
    const RESUMES: bool = true;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        let left = self.left().remove(&Session::id(ctx));
        if let Some(session) = left {
            self.session = Some(session);
            return Ok(());
        }
        let address = Address::parse(&self.address).and_then(|a| a.of_split(ctx.split().index));
        let address = address.map_err(Fatal::new)?;
        let mut session = Session::new(ctx, address, self.give_up_after, self.max_line_bytes);
        session.open().await.map_err(Fatal::new)?;
        self.session = Some(session);
        Ok(())
    }

    /// # Cancel safety
    /// Nothing is lost when the future is dropped: what was emitted stays emitted, and the next call
    /// goes on after it.
    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        let Some(session) = &mut self.session else {
            return Err(Fatal::new(NotSetUp).into());
        };
        session.cutter.settle();
        let before = out.len();
        loop {
            session.cutter.emit_lines(out).map_err(BadLine::mark)?;
            if session.cutter.is_done() {
                return Ok(Progress::End);
            }
            if out.len() > before || out.is_full() {
                return Ok(Progress::More);
            }
            session.read().await.map_err(Fatal::new)?;
        }
    }
}

impl Drop for TcpLines {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        // The source will be built anew; the peer is not to notice. The engine takes back what the
        // call emitted that panics.
        if let Some(mut session) = self.session.take() {
            session.cutter.rewind();
            self.left().insert(Session::id(&session.ctx), session);
        }
    }
}

/// A clone has the same address and settings, and is not connected.
impl Clone for TcpLines {
    fn clone(&self) -> Self {
        Self {
            address: self.address.clone(),
            give_up_after: self.give_up_after,
            max_line_bytes: self.max_line_bytes,
            session: None,
            left: Arc::clone(&self.left),
        }
    }
}

impl fmt::Debug for TcpLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpLines")
            .field("address", &self.address)
            .field("give_up_after", &self.give_up_after)
            .field("max_line_bytes", &self.max_line_bytes)
            .field("connected", &self.session.as_ref().is_some_and(|s| s.stream.is_some()))
            .finish_non_exhaustive()
    }
}
