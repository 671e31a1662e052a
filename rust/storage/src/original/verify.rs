//! What full verification looks at in a cache of the original system, beyond the hash of each file.
//!
//! Owns: the checks of its records and of all rows together. Must not: take a fitting hash for a sound structure: the
//! manifest is no more trustworthy than the files.
//! Invariant: no length that stands in a file is allocated before it is compared with the file's own.
//! Format text: `ORIGINAL.md`, "Verification".

use dataset_rt_format::original::{ORIGINAL_ROW_LEN, check_envelope};
use dataset_rt_format::{
    CacheFile, Codec, FormatError, IndexAudit, Region, SampleId, ShardId, Site, decode_record,
};
use dataset_rt_pool::CancelToken;

use super::OriginalRows;
use crate::durable::DiskFile;
use crate::error::StorageError;
use crate::load::{Damage, FileCheck, LoadedCache};
use crate::read::Fault;

impl OriginalRows {
    /// Checks envelope, payload length and LZ4 block of each record of a shard, and the sum of payload lengths.
    pub(crate) fn verify_shard(
        &self,
        check: &FileCheck<'_>,
        cache: &LoadedCache,
        on_disk: &DiskFile,
        shard: ShardId,
        cancel: &CancelToken,
    ) -> Result<Vec<Damage>, StorageError> {
        let mut payload_bytes = 0_u64;
        let mut damages = check.name_samples(check.samples_of(cache, shard), cancel, |sample| {
            let found = self.verify_record(on_disk, shard, sample);
            let raw_bytes = found.map_err(|fault| fault.of_cache(cache.path()))?;
            payload_bytes = payload_bytes.saturating_add(raw_bytes);
            Ok(())
        })?;
        let listed = self.manifest.shards.get(shard.get() as usize);
        let expected = listed.map_or(0, |shard| shard.payload_bytes);
        if damages.is_empty() && payload_bytes != expected {
            let finding = FormatError::Mismatch {
                site: Site::new(CacheFile::Shard(shard), Region::File, 0),
                field: "sum of payload lengths",
                expected,
                found: payload_bytes,
            };
            damages.push(Damage {
                error: cache.damage(finding),
                samples: None,
            });
        }
        Ok(damages)
    }

    /// Checks that records stand back to back and fill the shards.
    pub(crate) fn verify_rows(
        &self,
        check: &FileCheck<'_>,
        cache: &LoadedCache,
        cancel: &CancelToken,
    ) -> Result<Vec<Damage>, StorageError> {
        let shards = self.manifest.shards.iter();
        let shard_bytes: Vec<u64> = shards.map(|shard| shard.bytes).collect();
        let audit = IndexAudit::with_row_bytes(&shard_bytes, ORIGINAL_ROW_LEN);
        check
            .audit(cache, audit, cancel, |sample| {
                let record = self.record(sample);
                Ok(record
                    .map_err(|fault| fault.of_cache(cache.path()))?
                    .whole_row())
            })
            .map(|(damages, _)| damages)
    }

    /// The length of the payload of a sample whose record is sound; 0 where it is in another shard.
    fn verify_record(
        &self,
        on_disk: &DiskFile,
        shard: ShardId,
        sample: SampleId,
    ) -> Result<u64, Fault> {
        // A damaged row is a finding about the index.
        let Ok(record) = self.record(sample) else {
            return Ok(0);
        };
        if record.shard != shard {
            return Ok(0);
        }
        let mut bytes = vec![0; record.bytes as usize];
        match on_disk.read_exact_at(&mut bytes, record.offset_bytes) {
            Err(error) if error.io_kind() == Some(std::io::ErrorKind::UnexpectedEof) => {
                // Cut meanwhile: what is missing reads as an empty record.
                bytes.fill(0);
            }
            outcome => outcome?,
        }
        let row = record.payload_row::<FormatError>(|offset, out| {
            let start = usize::try_from(offset - record.offset_bytes).unwrap_or(usize::MAX);
            let there = bytes.get(start..).and_then(|rest| rest.get(..out.len()));
            match there {
                Some(there) => {
                    out.copy_from_slice(there);
                    Ok(())
                }
                None => Err(FormatError::Truncated {
                    site: Site::new(CacheFile::Shard(shard), Region::Record, offset).about(sample),
                    expected_bytes: out.len() as u64,
                    found_bytes: 0,
                }),
            }
        })?;
        check_envelope(&record, &row, &bytes)?;
        if row.codec == Codec::Lz4 {
            let start = bytes.len().saturating_sub(row.stored_bytes as usize);
            let stored = bytes.get(start..).unwrap_or_default();
            let mut payload = vec![0; row.raw_bytes as usize];
            decode_record(sample, &row, stored, &mut payload)?;
        }
        Ok(u64::from(row.raw_bytes))
    }
}
