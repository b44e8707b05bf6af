//! Any bytes from a client of the server of RFC 2217, and as many from a server to the client: both
//! end with their input.
#![no_main]

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use rcflash_transport::Transport;
use rcflash_transport::network::{NetworkAddress, Protocol, Rfc2217Port, Server};

/// The longest that either may take to end.
const TIMEOUT: Duration = Duration::from_secs(8);
const BAUD: u32 = 115_200;

/// A port that records its calls.
#[derive(Default)]
struct Echo(Vec<u8>);

impl Transport for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn read(&mut self, buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        let count = buffer.len().min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0.drain(..count);
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.0.extend(bytes);
        Ok(())
    }
}

/// The address of a server that runs as long as this program.
fn server() -> SocketAddr {
    static AT: OnceLock<SocketAddr> = OnceLock::new();
    *AT.get_or_init(|| {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::bind(any, Protocol::Rfc2217, BAUD).expect("a free port");
        let at = server.local_addr().expect("it listens");
        let open = || Ok::<Box<dyn Transport + Send>, io::Error>(Box::new(Echo::default()));
        std::thread::spawn(move || server.run(open, &AtomicBool::new(false), |_| {}));
        at
    })
}

/// Sends the bytes to the server and reads its replies to the end.
fn to_server(bytes: &[u8]) {
    let mut client = TcpStream::connect(server()).expect("it listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a time");
    // A server that has enough of it closes before all is written.
    let _ = client.write_all(bytes);
    let _ = client.shutdown(Shutdown::Write);
    let began = Instant::now();
    let mut received = [0; 4096];
    while let Ok(1..) = client.read(&mut received) {
        assert!(began.elapsed() < TIMEOUT, "the server does not end");
    }
}

/// Connects the client to a peer that sends the bytes and disconnects.
fn to_client(bytes: &[u8]) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = listener.local_addr().expect("it listens");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut client, _) = listener.accept().expect("our client");
            let _ = client.write_all(bytes);
            let _ = client.shutdown(Shutdown::Write);
            let _ = io::copy(&mut client, &mut io::sink());
        });
        let began = Instant::now();
        let address = NetworkAddress::parse(&format!("rfc2217://{at}")).expect("an address");
        let port = Rfc2217Port::open(&address.expect("of a server"), BAUD);
        if let Ok(mut port) = port {
            let mut received = [0; 256];
            while let Ok(1..) = port.read(&mut received, Duration::from_millis(1)) {}
        }
        assert!(began.elapsed() < 3 * TIMEOUT, "our client does not end");
    });
}

fuzz_target!(|bytes: &[u8]| {
    to_server(bytes);
    to_client(bytes);
});
