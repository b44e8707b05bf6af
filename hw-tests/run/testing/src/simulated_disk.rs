//! A simulated disk in memory, with injected faults and power cuts that lose unsynced writes.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use hil_harness::file_system::{AppendFile, FileSystem, PathKind};

/// A fault of the simulated disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskFault {
    /// The disk is full; a write stores only a part of its bytes.
    Full,
    /// The device fails (EIO).
    Broken,
}

/// A disk in memory. Clones share one disk.
#[derive(Clone)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

struct State {
    files: BTreeMap<PathBuf, Content>,
    /// Files that are open, and so locked.
    open_paths: Vec<PathBuf>,
    random: ChaCha8Rng,
    /// The number of accesses so far.
    accesses: u64,
    /// The number of the first access that fails, how many fail, and how.
    fault: Option<(u64, u64, DiskFault)>,
    /// The number of accesses that failed.
    faults: u64,
}

#[derive(Clone, Default)]
struct Content {
    bytes: Vec<u8>,
    /// The synced content; `None` if not even the name is synced.
    synced: Option<Vec<u8>>,
}

impl SimulatedDisk {
    /// Creates an empty disk. The seed decides which unsynced writes survive a power cut.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            files: BTreeMap::new(),
            open_paths: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
            accesses: 0,
            fault: None,
            faults: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes `count` accesses fail, from access number `first` on, counted from 0.
    pub fn inject_fault(&self, first: u64, count: u64, fault: DiskFault) {
        self.lock().fault = Some((first, count, fault));
    }

    /// Clears the injected fault.
    pub fn clear_fault(&self) {
        self.lock().fault = None;
    }

    /// Returns the number of accesses.
    pub fn accesses(&self) -> u64 {
        self.lock().accesses
    }

    /// Returns the number of accesses that failed by a fault.
    pub fn faults(&self) -> u64 {
        self.lock().faults
    }

    /// Cuts the power. Each file keeps an arbitrary part of its unsynced writes, with zeros in
    /// place of some; a name that was not synced may be lost. All files are closed.
    pub fn cut_power(&self) {
        let mut state = self.lock();
        let State { files, random, .. } = &mut *state;
        files.retain(|_, content| {
            let is_named = content.synced.is_some() || random.next_u64().is_multiple_of(2);
            let safe = content.synced.clone().unwrap_or_default();
            content.bytes = after_power_cut(&safe, &content.bytes, random);
            content.synced = Some(content.bytes.clone());
            is_named
        });
        state.open_paths.clear();
        state.fault = None;
    }

    /// Returns the content of a file, if it is there.
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        self.lock().files.get(path).map(|content| content.bytes.clone())
    }

    /// Inserts a file whose content is synced.
    pub fn insert_synced(&self, path: &Path, bytes: &[u8]) {
        let content = Content { bytes: bytes.to_vec(), synced: Some(bytes.to_vec()) };
        self.lock().files.insert(path.to_owned(), content);
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.lock().files.keys().cloned().collect()
    }
}

/// Returns the content of a file after a power cut; `safe` was synced.
fn after_power_cut(safe: &[u8], bytes: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let Some(added) = bytes.strip_prefix(safe) else {
        // It was truncated or replaced and not synced: either state may survive.
        let whole = if random.next_u64().is_multiple_of(2) { bytes } else { safe };
        return whole.to_vec();
    };
    let kept = random.next_u64() as usize % (added.len() + 1);
    let mut left = bytes[..safe.len() + kept].to_vec();
    // File systems that write a file's length before its data leave zeros there.
    if kept > 0 && random.next_u64().is_multiple_of(4) {
        let from = safe.len() + random.next_u64() as usize % kept;
        left[from..].fill(0);
    }
    left
}

impl State {
    /// Counts an access. Returns the fault if it fails.
    fn access(&mut self) -> Result<(), DiskFault> {
        let number = self.accesses;
        self.accesses += 1;
        match self.fault {
            Some((first, count, fault))
                if (first..first.saturating_add(count)).contains(&number) =>
            {
                self.faults += 1;
                Err(fault)
            }
            _ => Ok(()),
        }
    }

    fn file(&mut self, path: &Path) -> io::Result<&mut Content> {
        self.files.get_mut(path).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn lock_path(&mut self, path: &Path) -> io::Result<()> {
        if self.open_paths.iter().any(|kept| kept == path) {
            return Err(ErrorKind::ResourceBusy.into());
        }
        self.open_paths.push(path.to_owned());
        Ok(())
    }
}

impl From<DiskFault> for io::Error {
    fn from(fault: DiskFault) -> Self {
        match fault {
            DiskFault::Full => ErrorKind::StorageFull.into(),
            DiskFault::Broken => rcflash_transport::platform::errors::device_failed(),
        }
    }
}

impl FileSystem for SimulatedDisk {
    fn path_kind(&self, path: &Path) -> io::Result<PathKind> {
        let mut state = self.lock();
        state.access()?;
        let length = state.files.get(path).map(|content| content.bytes.len() as u64);
        Ok(length.map_or(PathKind::Missing, PathKind::File))
    }

    fn read_prefix(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let mut state = self.lock();
        state.access()?;
        let bytes = &state.file(path)?.bytes;
        let end = usize::try_from(limit).map_or(bytes.len(), |limit| limit.min(bytes.len()));
        Ok(bytes[..end].to_vec())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let mut state = self.lock();
        state.access()?;
        if state.files.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.lock_path(path)?;
        // As with `OsFileSystem`, the name is synced when the file is created.
        let content = Content { bytes: Vec::new(), synced: Some(Vec::new()) };
        state.files.insert(path.to_owned(), content);
        Ok(Box::new(SimulatedFile { disk: self.clone(), path: path.to_owned() }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let mut state = self.lock();
        state.access()?;
        state.file(path)?;
        state.lock_path(path)?;
        Ok(Box::new(SimulatedFile { disk: self.clone(), path: path.to_owned() }))
    }

    fn replace(
        &self,
        path: &Path,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        let mut state = self.lock();
        state.access()?;
        let content = Content { synced: Some(bytes.clone()), bytes };
        state.files.insert(path.to_owned(), content);
        Ok(())
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(self.lock().access()?)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.access()?;
        state.file(path)?;
        state.files.remove(path);
        Ok(())
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    path: PathBuf,
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        self.disk.lock().open_paths.retain(|kept| *kept != self.path);
    }
}

impl AppendFile for SimulatedFile {
    fn reader(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        let mut state = self.disk.lock();
        state.access()?;
        Ok(Box::new(Cursor::new(state.file(&self.path)?.bytes.clone())))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.lock();
        let access = state.access();
        // A full disk may have stored the first bytes.
        let taken = match access {
            Ok(()) => bytes.len(),
            Err(DiskFault::Full) => state.random.next_u64() as usize % (bytes.len() + 1),
            Err(DiskFault::Broken) => 0,
        };
        state.file(&self.path)?.bytes.extend(&bytes[..taken]);
        Ok(access?)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.disk.lock();
        // Truncating needs no space: it fails only on a broken device.
        match state.access() {
            Err(DiskFault::Broken) => return Err(DiskFault::Broken.into()),
            Ok(()) | Err(DiskFault::Full) => {}
        }
        let content = state.file(&self.path)?;
        content.bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.access()?;
        let content = state.file(&self.path)?;
        content.synced = Some(content.bytes.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_power_cut_leaves_what_was_flushed_and_no_more_than_was_written() {
        let path = Path::new("file");
        let mut lost = 0;
        for seed in 0..200 {
            let disk = SimulatedDisk::new(seed);
            let mut file = disk.create(path).expect("it is new");
            file.append(b"flushed").expect("written");
            file.sync().expect("flushed");
            file.append(b" and not").expect("written");
            disk.cut_power();
            let left = disk.content(path).expect("its name was flushed");
            assert!(left.starts_with(b"flushed"), "{left:?}");
            let added = left[7..].iter().zip(b" and not");
            assert!(left.len() <= 15 && added.into_iter().all(|(a, b)| a == b || *a == 0));
            lost += u32::from(left.len() < 15);
        }
        assert!(lost > 50, "{lost}");
    }

    #[test]
    fn faults_begin_and_end_at_the_given_accesses() {
        let disk = SimulatedDisk::new(1);
        let mut file = disk.create(Path::new("file")).expect("access 0");
        disk.inject_fault(2, 1, DiskFault::Full);
        file.append(b"one").expect("access 1");
        let error = file.append(b"two").expect_err("access 2");
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        file.truncate(3).expect("access 3");
        disk.inject_fault(4, u64::MAX, DiskFault::Broken);
        for _ in 0..3 {
            let error = file.sync().expect_err("from 4 on");
            assert_eq!(error.raw_os_error(), Some(5));
        }
        disk.clear_fault();
        let mut content = String::new();
        file.reader().expect("repaired").read_to_string(&mut content).expect("text");
        assert_eq!(content, "one");
        assert_eq!(disk.faults(), 4);
    }
}
