//! Completing a cache: last blocks, syncs, block table, origin, manifest, publication.
//!
//! Owns: the order in which the files of a cache become durable. Must not: take rows.
//! Invariant: the manifest is written when every file it lists is durable and named durably, so a directory with a whole
//! manifest is a whole cache.
//! Format text: `FORMAT.md`, "Publication"; the crash points are in `docs/durability.md`.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use dataset_rt_format::files::SHARD_FOLDER;
use dataset_rt_format::{
    BlockTable, CacheFile, Digest128, Features, FileSeal, FormatError, Manifest, Origin,
    SourceInfo, Timestamp, encode_manifest, encode_origin,
};

use super::block::Block;
use super::cache_writer::CacheWriter;
use super::progress::Stage;
use crate::durable::{Disk, DiskFile, Step};
use crate::error::StorageError;
use crate::interrupt::InterruptCheck;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteReport {
    /// The published cache.
    pub path: PathBuf,
    /// Its samples.
    pub sample_count: u64,
    /// Sum of its payload lengths, in bytes.
    pub payload_bytes: u64,
    /// Its content digest.
    pub content_digest: Digest128,
    /// When and by what it was written.
    pub origin: Origin,
}

impl<P: AsRef<[u8]> + Send + 'static> CacheWriter<P> {
    /// Completes the cache and gives it its name.
    ///
    /// # Errors
    /// [`StorageError::NoSamples`] without a row; otherwise as [`dispatch`](Self::dispatch). Nothing is left then, except
    /// after [`StorageError::NameNotDurable`], which says that the cache is there.
    ///
    /// # Guarantees
    /// On success every file, every directory entry and the name are durable.
    pub fn finish(mut self) -> Result<WriteReport, StorageError> {
        let start = Instant::now();
        self.drain()?;
        self.complete(start)
    }

    /// Does the same in a job of the pool, after [`settle`](Self::settle); gives back the blocks with their payloads.
    pub(super) fn finish_here(
        mut self,
        interrupt: InterruptCheck,
    ) -> (Result<WriteReport, StorageError>, Vec<Block<P>>) {
        let start = Instant::now();
        self.syncs.sync_here(&interrupt);
        self.interrupt = interrupt;
        let drained = self.drain_here();
        let payloads = std::mem::take(&mut self.spare_blocks);
        (drained.and_then(|()| self.complete(start)), payloads)
    }

    /// Completes a cache whose records are all in its shards.
    fn complete(mut self, start: Instant) -> Result<WriteReport, StorageError> {
        let progress = self.progress();
        let sample_count = self.row_count();
        let Some(encoder) = self.schema.take() else {
            return Err(StorageError::NoSamples {
                source_name: self.source_name,
            });
        };
        let refuse = |finding: FormatError| StorageError::refused(&self.source_name, finding);

        let (last_shard, shards) = self.shards.finish();
        self.syncs.submit(last_shard)?;
        self.syncs.wait_all()?;
        let disk = self.workspace.disk();
        disk.step(Step::ShardsSynced);

        let schema = encoder.schema().clone();
        let tail = encoder.finish().map_err(refuse)?;
        self.metadata.append(&tail.bytes)?;
        let (metadata_file, metadata, metadata_sums) = self.metadata.finish()?;
        let (index_file, index, index_sums) = self.index.finish()?;
        let table = BlockTable::new(index_sums, metadata_sums, tail.batch_ends)
            .map_err(refuse)?
            .encode();
        let origin = Origin {
            created_at: now(),
            writer_version: self.options.writer_version.clone(),
        };
        let dir = self.workspace.path();
        let blocks_file = write_whole(disk, dir, CacheFile::Blocks, &table)?;
        let origin_file = write_whole(
            disk,
            dir,
            CacheFile::Origin,
            &encode_origin(&origin).map_err(refuse)?,
        )?;
        for file in [metadata_file, index_file, blocks_file, origin_file] {
            self.syncs.submit(file)?;
        }
        self.syncs.wait_all()?;
        disk.step(Step::DataSynced);
        disk.sync_dir(&dir.join(SHARD_FOLDER))?;
        disk.sync_dir(dir)?;
        disk.step(Step::DataNamed);

        let manifest = Manifest {
            features: Features::default(),
            source: SourceInfo {
                name: self.source_name.clone(),
                version: self.options.source_version.clone(),
            },
            sample_count,
            payload_bytes: self.payload_bytes,
            compression: self.options.compression,
            schema,
            blocks: FileSeal::of(&table),
            index,
            metadata,
            shards,
        };
        let text = encode_manifest(&manifest).map_err(refuse)?;
        let manifest_file = write_whole(disk, dir, CacheFile::Manifest, &text)?;
        disk.step(Step::ManifestWritten);
        manifest_file.sync()?;
        disk.sync_dir(dir)?;
        disk.step(Step::ManifestSynced);
        // The last moment at which stopping still leaves nothing.
        self.interrupt.check()?;
        progress.add_time(Stage::Finish, start.elapsed());

        let path = progress.time(Stage::Publish, || self.workspace.publish(self.replaces))?;
        Ok(WriteReport {
            path,
            sample_count,
            payload_bytes: self.payload_bytes,
            content_digest: manifest.content_digest(),
            origin,
        })
    }
}

fn write_whole(
    disk: &Disk,
    dir: &Path,
    file: CacheFile,
    bytes: &[u8],
) -> Result<DiskFile, StorageError> {
    let mut written = DiskFile::create(disk, &dir.join(file.path()))?;
    written.append(bytes)?;
    Ok(written)
}

fn now() -> Timestamp {
    // A clock before 1970 is shown as 1970.
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs());
    Timestamp::from_unix_seconds(seconds)
}
