//! A network between a host and a server: it delays what passes, and can be cut and joined again.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time between two looks at whether it is over.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The network. Dropping it cuts it.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    port: u16,
}

struct Shared {
    to: String,
    way: Duration,
    over: AtomicBool,
    is_cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts a proxy to an address, with this delay in each direction.
    pub(crate) fn new(to: &str, way: Duration) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it has one").port();
        listener.set_nonblocking(true).expect("it can");
        let shared = Arc::new(Shared {
            to: to.to_owned(),
            way,
            over: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let seen = Arc::clone(&shared);
        std::thread::spawn(move || seen.accept(&listener));
        Self { shared, port }
    }

    /// Its end, as the host names it.
    pub(crate) fn address(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Ends all connections, and closes new ones at once.
    pub(crate) fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
        for stream in self.shared.open.lock().expect("not poisoned").drain(..) {
            let _ = stream.shutdown(Shutdown::Both); // it may be gone
        }
    }

    /// Lets connections through again.
    pub(crate) fn reconnect(&self) {
        self.shared.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        self.cut();
    }
}

impl Shared {
    fn accept(&self, listener: &TcpListener) {
        while !self.over.load(Ordering::SeqCst) {
            match listener.accept() {
                Ok((host, _)) if !self.is_cut.load(Ordering::SeqCst) => self.connect(host),
                Ok(_) => {}
                Err(_) => std::thread::sleep(POLL_INTERVAL),
            }
        }
    }

    fn connect(&self, host: TcpStream) {
        let Ok(server) = TcpStream::connect(&self.to) else { return };
        for (from, to) in [(&host, &server), (&server, &host)] {
            from.set_nonblocking(false).expect("it can");
            from.set_nodelay(true).expect("it can");
            let two = |stream: &TcpStream| stream.try_clone().expect("it can");
            forward(two(from), two(to), self.way);
        }
        self.open.lock().expect("not poisoned").extend([host, server]);
    }
}

/// Forwards bytes in one direction, each chunk with the same delay.
fn forward(mut from: TcpStream, mut to: TcpStream, way: Duration) {
    let (sender, pieces) = channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        for (at, piece) in pieces {
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || take(&mut from, &sender, way));
}

fn take(from: &mut TcpStream, sender: &Sender<(Instant, Vec<u8>)>, way: Duration) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if sender.send((Instant::now() + way, buffer[..count].to_vec())).is_err() {
            return;
        }
    }
}
