//! The noisy line of the link's tests: it delivers given bytes whatever the requests are.

#[path = "../../../flasher/rcflash-link/tests/it/noisy_peer.rs"]
mod line;

pub(crate) use line::NoisyPeer;
