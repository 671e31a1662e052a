//! Writing one cache: rows in, blocks to the pool, records to shards in order.
//!
//! Owns: the flow of a row from the source to the files, and its bound. Must not: call into the source, publish, or
//! print.
//! Invariant: a sample's number is fixed when its row comes in, and blocks are committed in the order they were
//! submitted, so the bytes do not depend on the number of workers.
//! Format text: `FORMAT.md`, "Directory".

use std::sync::Arc;

use dataset_rt_format::{
    BatchLimits, CacheFile, FormatError, MetadataEncoder, MetadataSchema, MetadataValueRef,
    SampleId, check_payload_bytes,
};
use dataset_rt_pool::{CancelToken, OrderedWindow, WorkerPool};

use super::block::Block;
use super::endings::{Elsewhere, Endings};
use super::options::WriteOptions;
use super::progress::{Stage, WriteProgress};
use super::sealed_file::BlockedSealedFile;
use super::shards::ShardWriter;
use super::syncs::Syncs;
use super::workspace::Workspace;
use crate::durable::Step;
use crate::error::StorageError;
use crate::interrupt::InterruptCheck;

/// What a caller has to do after a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pushed {
    /// Nothing: there is room for another row.
    Room,
    /// Call [`CacheWriter::dispatch`], which may wait, before the next row.
    BlockFull,
}

/// An encoded block and how encoding went.
type Encoded<P> = (Block<P>, Result<(), FormatError>);

/// Writes one cache into a private directory; [`finish`](Self::finish) publishes it, dropping removes it.
///
/// # Guarantees
/// Memory is bounded by the window, one metadata batch and the largest record, whatever the source yields. After an
/// error the writer can only be dropped.
pub struct CacheWriter<P> {
    pub(super) source_name: String,
    pub(super) options: WriteOptions,
    pub(super) interrupt: InterruptCheck,
    pub(super) progress: Arc<WriteProgress>,
    pub(super) replaces: bool,
    pub(super) schema: Option<MetadataEncoder>,
    pub(super) payload_bytes: u64,
    block: Option<Block<P>>,
    pub(super) spare_blocks: Vec<Block<P>>,
    window: OrderedWindow<Encoded<P>>,
    elsewhere: Elsewhere,
    pub(super) syncs: Syncs,
    pub(super) shards: ShardWriter,
    pub(super) index: BlockedSealedFile,
    pub(super) metadata: BlockedSealedFile,
    index_rows: Vec<u8>,
    has_failed: bool,
    // Dropped last: the files above are in it.
    pub(super) workspace: Workspace,
}

impl<P: AsRef<[u8]> + Send + 'static> CacheWriter<P> {
    pub(super) fn start(
        workspace: Workspace,
        source_name: &str,
        options: &WriteOptions,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
        replaces: bool,
    ) -> Result<Self, StorageError> {
        let disk = workspace.disk().clone();
        let dir = workspace.path();
        let capacity = options.tasks_in_flight(pool);
        Ok(Self {
            source_name: source_name.to_owned(),
            options: options.clone(),
            interrupt: interrupt.clone(),
            progress: Arc::default(),
            replaces,
            schema: None,
            payload_bytes: 0,
            block: None,
            spare_blocks: Vec::new(),
            window: OrderedWindow::new(pool, capacity, &CancelToken::new()),
            elsewhere: Elsewhere::default(),
            syncs: Syncs::new(pool, interrupt),
            shards: ShardWriter::create(&disk, dir, source_name, options.max_shard_bytes)?,
            index: BlockedSealedFile::create(&disk, &dir.join(CacheFile::Index.path()))?,
            metadata: BlockedSealedFile::create(&disk, &dir.join(CacheFile::Metadata.path()))?,
            index_rows: Vec::new(),
            has_failed: false,
            workspace,
        })
    }

    /// Counts the caches that are being completed as tasks of the same window.
    pub fn share_window(&mut self, endings: &Endings<P>) {
        self.elsewhere = endings.elsewhere();
    }

    /// The counters of this write.
    #[must_use]
    pub fn progress(&self) -> Arc<WriteProgress> {
        Arc::clone(&self.progress)
    }

    /// Blocks that are being encoded.
    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> usize {
        self.window.len()
    }

    /// Rows taken so far; also the number of the next row.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.schema.as_ref().map_or(0, MetadataEncoder::row_count)
    }

    /// The columns, once a row has set them.
    #[must_use]
    pub fn schema(&self) -> Option<&MetadataSchema> {
        self.schema.as_ref().map(MetadataEncoder::schema)
    }

    /// Takes the next row; the first one sets the schema. Does not wait.
    ///
    /// Payloads of earlier rows that were kept are dropped here and in [`finish`](Self::finish), never by
    /// [`dispatch`](Self::dispatch) or on a worker while the write goes well.
    ///
    /// # Errors
    /// [`StorageError::Refused`] with row, column, expected and found; then also when a payload is too large.
    /// [`StorageError::Io`] now and then, when gathered metadata is written.
    ///
    /// # Cost
    /// A copy of the metadata and of a small payload.
    pub fn push(
        &mut self,
        payload: P,
        fields: &[(&str, MetadataValueRef<'_>)],
    ) -> Result<Pushed, StorageError> {
        self.once_whole(|writer| writer.take_row(payload, fields))
    }

    /// Hands the gathered rows to the pool, first committing the oldest ones in flight if the window is full.
    ///
    /// # Errors
    /// [`StorageError::Io`], [`StorageError::Cancelled`] when the interrupt check says so, [`StorageError::Pool`] when
    /// a worker panicked.
    pub fn dispatch(&mut self) -> Result<(), StorageError> {
        self.once_whole(Self::dispatch_block)
    }

    /// Commits everything, the gathered rows too.
    pub(super) fn drain(&mut self) -> Result<(), StorageError> {
        self.once_whole(|writer| {
            writer.dispatch_block()?;
            writer.commit_in_flight()
        })
    }

    /// Waits for all that this writer has on the pool; the gathered rows stay gathered.
    pub(super) fn settle(&mut self) -> Result<(), StorageError> {
        self.once_whole(|writer| {
            writer.commit_in_flight()?;
            writer.syncs.wait_all()
        })
    }

    /// Commits the gathered rows without the pool.
    pub(super) fn drain_here(&mut self) -> Result<(), StorageError> {
        self.once_whole(|writer| {
            let Some(block) = writer.block.take() else {
                return Ok(());
            };
            let encoded =
                super::block::encode_timed(block, writer.options.compression, &writer.progress);
            writer.commit(encoded)
        })
    }

    fn commit_in_flight(&mut self) -> Result<(), StorageError> {
        while let Some(encoded) = self.interrupt.take(&mut self.window)? {
            self.commit(encoded)?;
        }
        Ok(())
    }

    /// Runs one step of the write; a failed step is the last one.
    fn once_whole<T>(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        if self.has_failed {
            return Err(StorageError::WriterFailed);
        }
        self.has_failed = true;
        let outcome = step(self)?;
        self.has_failed = false;
        Ok(outcome)
    }

    fn take_row(
        &mut self,
        payload: P,
        fields: &[(&str, MetadataValueRef<'_>)],
    ) -> Result<Pushed, StorageError> {
        let refuse = |finding| StorageError::refused(&self.source_name, finding);
        if self.schema.is_none() {
            let schema = MetadataSchema::infer(fields).map_err(refuse)?;
            self.schema =
                Some(MetadataEncoder::new(schema, BatchLimits::default()).map_err(refuse)?);
        }
        let Some(schema) = &mut self.schema else {
            return Err(StorageError::WriterFailed);
        };
        let sample = SampleId::new(schema.row_count());
        let bytes = check_payload_bytes(sample, payload.as_ref().len()).map_err(refuse)?;
        schema.push_row(fields).map_err(refuse)?;
        if schema.pending_bytes() > 0 {
            let encoded = schema.take_bytes();
            self.progress
                .time(Stage::Disk, || self.metadata.append(&encoded))?;
        }
        if self.block.as_ref().is_some_and(Block::is_full) {
            self.dispatch_block()?;
        }
        let spare_blocks = &mut self.spare_blocks;
        let block = self.block.get_or_insert_with(|| {
            let mut block = spare_blocks.pop().unwrap_or_default();
            block.restart_at(sample.get());
            block
        });
        self.payload_bytes += u64::from(bytes);
        block.push(payload);
        Ok(if block.is_full() {
            Pushed::BlockFull
        } else {
            Pushed::Room
        })
    }

    fn dispatch_block(&mut self) -> Result<(), StorageError> {
        let Some(block) = self.block.take() else {
            return Ok(());
        };
        let others = self.elsewhere.tasks();
        let oldest = if self.window.len() + others >= self.window.capacity() {
            let (interrupt, window) = (&self.interrupt, &mut self.window);
            self.progress
                .time(Stage::IngressWait, || interrupt.take(window))?
        } else {
            None
        };
        let (compression, progress) = (self.options.compression, self.progress());
        self.window
            .submit(move || super::block::encode_timed(block, compression, &progress))?;
        // The worker has its next block while this thread writes the oldest one.
        match oldest {
            Some(encoded) => self.commit(encoded),
            None => Ok(()),
        }
    }

    /// Writes the records of one block, and their index rows.
    fn commit(&mut self, (block, outcome): Encoded<P>) -> Result<(), StorageError> {
        outcome.map_err(|finding| StorageError::refused(&self.source_name, finding))?;
        let progress = Arc::clone(&self.progress);
        progress.time(Stage::Disk, || {
            self.index_rows.clear();
            for shard in self.shards.append(&block, &mut self.index_rows)? {
                self.syncs.submit(shard)?;
            }
            self.index.append(&self.index_rows)
        })?;
        if block.first_sample() == 0 {
            self.workspace.disk().step(Step::RecordsWritten);
        }
        progress.add_committed(block.len() as u64, block.payload_bytes());
        self.spare_blocks.push(block);
        Ok(())
    }
}

impl<P> std::fmt::Debug for CacheWriter<P> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CacheWriter")
            .field("source_name", &self.source_name)
            .finish_non_exhaustive()
    }
}
