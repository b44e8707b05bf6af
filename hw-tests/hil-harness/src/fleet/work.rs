//! The boards at work, each in a thread of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cli_support::exit::Failure;
use firmware_wire::Identity;
use rcflash_link::LinkStats;
use rcflash_transport::time::{Duration, Instant};

use super::join::{join, outcome};
use super::scheduler::{Changes, Next, Outcome, Scheduler, Tally};
use crate::live::{LiveBoard, Plan, SetupError};
use crate::runner::{CaseResult, Counts, Course, Earlier, Options, RunEnd, Verdict, run_from};
use sargon_corpus::Case;

/// The time between two looks at what nobody announces: Ctrl-C, and cases that take too long.
const LOOK: Duration = Duration::from_millis(50);

/// A board of a fleet.
#[derive(Debug)]
pub struct Member {
    /// Its name, which no other board of the fleet has.
    pub name: String,
    /// The plan for it, or the reason why there is none.
    pub plan: Result<Plan, Failure>,
}

/// A board that was at work.
#[derive(Debug, Clone)]
pub struct Worked {
    /// The place of the board among the members.
    pub member: usize,
    /// Its events.
    pub course: Course,
    /// The traffic of its line.
    pub stats: LinkStats,
}

/// An event of a run on many boards.
#[derive(Debug)]
pub enum Event {
    /// A board is ready: its place, its full name, what runs on it, and the routines of the user's
    /// own in that.
    Ready(usize, String, Identity, Vec<&'static str>),
    /// A board could not be made ready.
    Failed(usize, Failure),
    /// A case has its verdict.
    Settled(Box<CaseResult>),
    /// A board has no more work.
    Worked(Box<Worked>),
}

/// A run on many boards.
pub struct Fleet<'a> {
    /// The boards.
    pub members: &'a [Member],
    /// The cases.
    pub cases: &'a [Case],
    /// The number of times each case is put to a board.
    pub repeat: u32,
    /// Whether the first case that does not pass ends the run.
    pub fail_fast: bool,
    /// The earlier run, whose troubles do not end this one.
    pub baseline: Option<&'a Earlier>,
    /// Makes a board ready.
    pub prepare: &'a (dyn Fn(&Plan) -> Result<LiveBoard, SetupError> + Sync),
}

/// The end of a run on many boards.
#[derive(Debug, Clone)]
pub struct FleetEnd {
    /// The end of the run as a whole.
    pub ended: RunEnd,
    /// The ends of cases by board.
    pub counts: Vec<Counts>,
    /// Troubles of each board that another one did not have.
    pub strikes: Vec<u32>,
    /// Whether a board was set aside for them.
    pub is_set_aside: Vec<bool>,
    /// The work besides giving out each case once.
    pub tally: Tally,
}

/// The state that the boards share.
struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
    began: Instant,
    /// For each board: whether what it has under way is to be left.
    stops: Vec<Arc<AtomicBool>>,
    /// Whether the whole run is to end.
    is_over: AtomicBool,
}

struct Inner {
    scheduler: Scheduler,
    /// The place of each case by its name.
    places: HashMap<String, usize>,
    ends: Vec<Vec<(usize, CaseResult)>>,
    counts: Vec<Counts>,
}

impl Shared {
    fn new(fleet: &Fleet) -> Self {
        let (cases, boards) = (fleet.cases.len(), fleet.members.len());
        let named = fleet.cases.iter().enumerate();
        let inner = Inner {
            places: named.map(|(place, case)| (case.id.clone(), place)).collect(),
            scheduler: Scheduler::new(cases, boards),
            ends: vec![Vec::new(); cases],
            counts: vec![Counts::default(); boards],
        };
        Self {
            inner: Mutex::new(inner),
            changed: Condvar::new(),
            began: Instant::now(),
            stops: (0..boards).map(|_| Arc::default()).collect(),
            is_over: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next case for a board that has room; `None` if there is none now.
    fn take(&self, board: usize) -> Option<usize> {
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        match self.lock().scheduler.next(board, self.began.elapsed()) {
            Next::Case(case) => Some(case),
            Next::Wait | Next::Over => None,
        }
    }

    /// Waits for a case; `None` if none comes any more.
    fn wait(&self, board: usize) -> Option<usize> {
        let mut inner = self.lock();
        while !self.is_over.load(Ordering::Relaxed) {
            match inner.scheduler.next(board, self.began.elapsed()) {
                Next::Case(case) => return Some(case),
                Next::Over => return None,
                Next::Wait => {
                    let waited = self.changed.wait_timeout(inner, LOOK);
                    inner = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        None
    }

    /// Ends everything, once.
    fn end(&self) {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        self.stops.iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
        self.changed.notify_all();
    }
}

/// A board's thread.
struct Worker<'a> {
    fleet: &'a Fleet<'a>,
    shared: &'a Shared,
    board: usize,
    events: Sender<Event>,
}

impl Worker<'_> {
    /// Makes the board ready and works until there is nothing left to do.
    fn work(self) {
        let mut live = match self.prepare() {
            Ok(live) => live,
            Err(failure) => {
                self.tell(Event::Failed(self.board, failure));
                return self.leave();
            }
        };
        let course = self.put_all(&mut live);
        self.leave();
        live.note_waits();
        let worked = Worked { member: self.board, course, stats: live.stats() };
        self.tell(Event::Worked(Box::new(worked)));
    }

    fn prepare(&self) -> Result<LiveBoard, Failure> {
        let member = &self.fleet.members[self.board];
        let plan = member.plan.as_ref();
        let plan = plan.map_err(|failure| Failure::new(failure.code, &failure.message))?;
        let stop = Some(Arc::clone(&self.shared.stops[self.board]));
        let live = (self.fleet.prepare)(&Plan { stop, ..plan.clone() })?;
        let name = live.board().to_owned();
        self.tell(Event::Ready(self.board, name, live.application.clone(), live.own.clone()));
        Ok(live)
    }

    fn tell(&self, event: Event) {
        // Nobody listens only when the run has panicked.
        let _ = self.events.send(event);
    }

    fn put_all(&self, live: &mut LiveBoard) -> Course {
        let mut course = Course::default();
        let mut is_disturbed = false;
        while let Some(first) = self.shared.wait(self.board) {
            let recovered = if is_disturbed { live.recover().map(drop) } else { Ok(()) };
            let next = match recovered {
                Ok(()) => self.put_some(live, first),
                Err(error) => {
                    Course { ended: RunEnd::BoardLost(error.to_string()), ..Course::default() }
                }
            };
            course = course.then(next);
            is_disturbed = course.ended == RunEnd::Interrupted;
            if is_disturbed && !self.shared.is_over.load(Ordering::Relaxed) {
                // Others have done meanwhile what was under way here.
                course.ended = RunEnd::Complete;
                self.shared.stops[self.board].store(false, Ordering::Relaxed);
            }
            if course.ended != RunEnd::Complete {
                break;
            }
        }
        if course.ended != RunEnd::Complete && self.shared.lock().scheduler.is_done() {
            course.ended = self.at_the_end(live);
        }
        course
    }

    /// The end of a board that was at something when the last case got its verdict elsewhere: it
    /// may have been lost.
    fn at_the_end(&self, live: &mut LiveBoard) -> RunEnd {
        self.shared.stops[self.board].store(false, Ordering::Relaxed);
        match live.is_itself() {
            Ok(true) => RunEnd::Complete,
            Ok(false) => RunEnd::BoardLost("another program answers".to_owned()),
            Err(error) => RunEnd::BoardLost(error.to_string()),
        }
    }

    /// Puts cases to the board as long as there are any for it.
    fn put_some(&self, live: &mut LiveBoard, first: usize) -> Course {
        let Fleet { cases, repeat, baseline, .. } = *self.fleet;
        let stop = &self.shared.stops[self.board];
        let options = Options { repeat, fail_fast: false, baseline, interrupted: stop };
        let mut first = Some(first);
        let mut feed = std::iter::from_fn(|| {
            let case = first.take().or_else(|| self.shared.take(self.board))?;
            Some(cases[case].clone())
        });
        run_from(live, &mut feed, options, &mut |result| self.ended(result))
    }

    /// Takes the end of a case on this board in.
    fn ended(&self, result: CaseResult) {
        let now = self.shared.began.elapsed();
        let mut inner = self.shared.lock();
        let Some(&case) = inner.places.get(&result.id) else { return };
        let outcome = outcome(&result);
        if outcome != Outcome::None {
            inner.counts[self.board].add(&result);
            inner.ends[case].push((self.board, result));
        }
        let changes = inner.scheduler.ended(self.board, case, outcome, now);
        self.apply(inner, changes);
    }

    fn apply(&self, mut inner: MutexGuard<Inner>, changes: Changes) {
        for board in changes.needless {
            self.shared.stops[board].store(true, Ordering::Relaxed);
        }
        for case in changes.settled {
            let ends = std::mem::take(&mut inner.ends[case]);
            if let Some(result) = joined(self.fleet.members, ends) {
                self.tell(Event::Settled(Box::new(result)));
            }
        }
        if inner.scheduler.is_done() {
            // Boards that are not ready yet are not needed any more. Under the lock: whoever finds
            // that all is done, finds its board told to stop, and clears that.
            self.shared.end();
        }
        drop(inner);
        self.shared.changed.notify_all();
    }

    /// The board works no more: what it had goes to others.
    fn leave(&self) {
        let now = self.shared.began.elapsed();
        let mut inner = self.shared.lock();
        let changes = inner.scheduler.lost(self.board, now);
        self.apply(inner, changes);
    }
}

/// The ends of a case, with the names of the boards, as one result.
fn joined(members: &[Member], ends: Vec<(usize, CaseResult)>) -> Option<CaseResult> {
    join(ends.into_iter().map(|(board, end)| (members[board].name.clone(), end)).collect())
}

/// Puts each case to some board, and gives each event to `hear`, which says whether to go on.
pub fn put(fleet: &Fleet, stop: &AtomicBool, mut hear: impl FnMut(Event) -> bool) -> FleetEnd {
    let shared = Shared::new(fleet);
    let mut ended = RunEnd::Complete;
    std::thread::scope(|scope| {
        let (events, heard) = channel();
        for board in 0..fleet.members.len() {
            let events = events.clone();
            let worker = Worker { fleet, shared: &shared, board, events };
            scope.spawn(move || worker.work());
        }
        drop(events);
        ended = listen(fleet, &shared, &heard, stop, &mut hear);
    });
    let inner = shared.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
    conclude(fleet, inner, ended, &mut hear)
}

/// Listens until all boards have ended; why the run did before all cases had their turn.
fn listen(
    fleet: &Fleet,
    shared: &Shared,
    heard: &Receiver<Event>,
    stop: &AtomicBool,
    hear: &mut dyn FnMut(Event) -> bool,
) -> RunEnd {
    let mut ended = RunEnd::Complete;
    loop {
        let event = heard.recv_timeout(LOOK);
        if stop.load(Ordering::Relaxed) && !shared.is_over.load(Ordering::Relaxed) {
            ended = RunEnd::Interrupted;
            shared.end();
        }
        let event = match event {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return ended,
        };
        let is_last = matches!(&event, Event::Settled(result) if fleet.ends_with(result));
        let goes_on = hear(event);
        if ended == RunEnd::Complete && (is_last || !goes_on) {
            ended = if goes_on { RunEnd::FirstFailure } else { RunEnd::Interrupted };
            shared.end();
        }
    }
}

impl Fleet<'_> {
    /// Whether the run is to end with this case.
    fn ends_with(&self, result: &CaseResult) -> bool {
        use crate::runner::Compared;
        let is_known = |earlier: &Earlier| earlier.compare(result) == Compared::Known;
        self.fail_fast
            && !matches!(result.verdict, Verdict::Pass | Verdict::Skipped)
            && !self.baseline.is_some_and(is_known)
    }
}

/// Gives every case its verdict that has none yet: cases that ended on some board keep what was
/// said there, the others had no turn.
fn conclude(
    fleet: &Fleet,
    mut inner: Inner,
    ended: RunEnd,
    hear: &mut dyn FnMut(Event) -> bool,
) -> FleetEnd {
    let mut not_run = 0;
    for case in inner.scheduler.left() {
        let ends = std::mem::take(&mut inner.ends[case]);
        let result = joined(fleet.members, ends).unwrap_or_else(|| {
            not_run += 1;
            CaseResult::new(&fleet.cases[case], Verdict::NotRun)
        });
        hear(Event::Settled(Box::new(result)));
    }
    let is_short = ended == RunEnd::Complete && not_run > 0;
    let lost = || RunEnd::BoardLost("no board is left that works".to_owned());
    let boards = 0..fleet.members.len();
    let strikes = boards.clone().map(|board| inner.scheduler.strikes(board));
    FleetEnd {
        ended: if is_short { lost() } else { ended },
        counts: inner.counts,
        strikes: strikes.collect(),
        is_set_aside: boards.map(|board| inner.scheduler.is_set_aside(board)).collect(),
        tally: inner.scheduler.tally(),
    }
}
