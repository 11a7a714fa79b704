//! The actix shell of a machine: an actor whose mailbox carries the frames.
//!
//! The handler only moves a frame from the mailbox into the machine. The work is done by a future
//! that never ends, which actix polls after each time that it has emptied the mailbox, and whenever
//! the waker that the machine holds is woken: by a credit that came home, an order, a timer. So an
//! instance reads on while it is blocked, and yet holds no more than the credits of its links allow.

use crate::guard::drop_quietly;
use crate::id::InstanceId;
use crate::instance::{Cause, Failure, Machine, Report, Reports};
use crate::link::{Frame, Mailbox};
use actix::dev::ToEnvelope;
use actix::fut::ActorFuture;
use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, Recipient};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

/// Puts a message into a mailbox whatever its capacity. Data is bounded by the credits of its link,
/// control by the number of instances.
#[expect(clippy::disallowed_methods, reason = "the one place: what is sent here is bounded")]
pub(super) fn post<A, M>(to: &Addr<A>, message: M)
where
    A: Actor + Handler<M>,
    A::Context: ToEnvelope<A, M>,
    M: Message + Send,
    M::Result: Send,
{
    to.do_send(message);
}

impl Message for Frame {
    type Result = ();
}

/// Closes the machine; the reply says that it is done.
pub(super) struct Quit;

impl Message for Quit {
    type Result = ();
}

/// Another machine takes the place of the one that there is, which is closed.
pub(super) struct Replace {
    pub(super) machine: Box<dyn Machine>,
    pub(super) reports: Arc<dyn Reports>,
}

impl Message for Replace {
    type Result = ();
}

/// The actor that drives one instance.
pub(super) struct Executor {
    machine: Option<Box<dyn Machine>>,
    death: DeathNotice,
}

/// Reports the death of an actor that was not told to quit, whatever the reason.
struct DeathNotice {
    instance: InstanceId,
    reports: Option<Arc<dyn Reports>>,
}

impl Drop for DeathNotice {
    fn drop(&mut self) {
        if let Some(reports) = self.reports.take() {
            let instance = self.instance.clone();
            reports.report(Report::Lost(Failure {
                instance,
                event: None,
                step: None,
                cause: Cause::Died,
            }));
            reports.report(Report::Ended);
        }
    }
}

impl Executor {
    pub(super) fn new(
        instance: InstanceId,
        machine: Box<dyn Machine>,
        reports: Arc<dyn Reports>,
    ) -> Self {
        let machine = Some(machine);
        Self { machine, death: DeathNotice { instance, reports: Some(reports) } }
    }
}

impl Actor for Executor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.spawn(Pump);
    }
}

/// Polls the machine for ever.
struct Pump;

impl ActorFuture<Executor> for Pump {
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        executor: &mut Executor,
        _: &mut Context<Executor>,
        task: &mut task::Context<'_>,
    ) -> Poll<()> {
        if let Some(machine) = &mut executor.machine {
            machine.poll(task);
        }
        Poll::Pending
    }
}

impl Handler<Frame> for Executor {
    type Result = ();

    fn handle(&mut self, frame: Frame, _: &mut Self::Context) {
        if let Some(machine) = &mut self.machine {
            machine.accept(frame);
        }
    }
}

impl Handler<Quit> for Executor {
    type Result = ();

    fn handle(&mut self, _: Quit, ctx: &mut Self::Context) {
        use actix::ActorContext;
        self.death.reports = None;
        if let Some(mut machine) = self.machine.take() {
            machine.close();
            drop_quietly(machine);
        }
        ctx.stop();
    }
}

impl Handler<Replace> for Executor {
    type Result = ();

    fn handle(&mut self, message: Replace, _: &mut Self::Context) {
        let Replace { machine, reports } = message;
        self.death.reports = Some(reports);
        if let Some(mut old) = self.machine.replace(machine) {
            old.close();
            drop_quietly(old);
        }
    }
}

/// The way into an executor's mailbox.
pub(super) struct ExecutorMailbox(pub(super) Recipient<Frame>);

impl Mailbox for ExecutorMailbox {
    #[expect(
        clippy::disallowed_methods,
        reason = "frames carry the credits that bound the mailbox"
    )]
    fn deliver(&self, frame: Frame) {
        self.0.do_send(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Attempt, LinkIndex};
    use crate::link::{LinkLimits, LinkState};
    use std::sync::Mutex;

    /// A machine with a fault of its own, as an engine must not have.
    struct Faulty;

    impl Machine for Faulty {
        fn accept(&mut self, frame: Frame) {
            drop(frame);
            panic!("an engine's fault");
        }

        fn poll(&mut self, _: &mut task::Context<'_>) {}

        fn close(&mut self) {}
    }

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Reports for Notes {
        fn report(&self, report: Report) {
            self.0.lock().unwrap().push(format!("{report:?}"));
        }
    }

    fn frame(link: &Arc<LinkState>) -> Frame {
        let credit = link.take(0, 0);
        Frame::new::<u64>(LinkIndex(0), Attempt::FIRST, None, None, credit)
    }

    #[test]
    fn the_death_of_an_actor_is_reported_and_its_mail_gives_credits_back() {
        let notes = Arc::new(Notes::default());
        let link = LinkState::new(LinkLimits::default(), Arc::default());
        let system = actix::System::new();
        system.block_on(async {
            let reports = Arc::clone(&notes) as Arc<dyn Reports>;
            let id = InstanceId::new("victim", 0);
            let address = Executor::new(id, Box::new(Faulty), reports).start();
            let mailbox = ExecutorMailbox(address.clone().recipient());
            (0..3).for_each(|_| mailbox.deliver(frame(&link)));
            assert!(address.send(Quit).await.is_err());
            mailbox.deliver(frame(&link));
        });
        let notes = notes.0.lock().unwrap();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].starts_with("Lost") && notes[0].contains("Died"), "{notes:?}");
        assert_eq!(notes[1], "Ended");
        assert_eq!(link.in_flight(), (0, 0, 0));
    }
}
