//! Giving back the space of history below the horizon, a bounded step at a time between two
//! batches of the writer.
//!
//! A row below the horizon is superfluous once a later change at or below the horizon replaced
//! it, and every change names the row that it replaced. So a compaction from horizon 10 to 20
//! looks at the changes 11 to 20 only, however many keys are live:
//!
//! ```text
//! revision  change   previous   moving the horizon from 3 to 6 removes
//! 2         put a    0          2, because 4 replaced it
//! 3         put b    0
//! 4         put a    2          4, because 5 deleted it
//! 5         delete a 4          5, because nothing asks for a deletion below the horizon
//! 6         put c    0
//! 7         put b    3          nothing yet: as of revision 6, b is still row 3
//! ```

use rusqlite::{Connection, OptionalExtension};

use crate::Revision;

/// Changes per step. Each may touch a page of its own in the index, so that this bounds a step
/// to a few milliseconds of the writer's time.
const STEP: u64 = 500;

/// Records the new horizon, in the caller's transaction.
pub(super) fn raise_horizon(connection: &Connection, horizon: Revision) -> Result<(), rusqlite::Error> {
    connection.execute("UPDATE meta SET value = ?1 WHERE name = 'horizon'", [horizon as i64])?;
    Ok(())
}

/// Does the next step after `compacted` and returns how far it came. The progress is part of
/// the transaction: a crash resumes where it stopped.
pub(super) fn step(
    connection: &mut Connection,
    compacted: Revision,
    horizon: Revision,
) -> Result<Revision, rusqlite::Error> {
    let transaction = connection.transaction()?;
    // Revisions have gaps where changes were compacted or a restore jumped ahead, so changes
    // are counted and not numbers.
    let last: Option<i64> = transaction
        .prepare_cached(
            "SELECT revision FROM history WHERE revision > ?1 AND revision <= ?2
             ORDER BY revision LIMIT 1 OFFSET ?3",
        )?
        .query_row((compacted as i64, horizon as i64, STEP as i64 - 1), |row| row.get(0))
        .optional()?;
    let end = last.map_or(horizon, |last| last as Revision);
    let changes = (compacted as i64, end as i64);
    transaction
        .prepare_cached(
            "DELETE FROM history WHERE revision IN
                 (SELECT previous FROM history WHERE revision > ?1 AND revision <= ?2 AND previous > 0)",
        )?
        .execute(changes)?;
    transaction
        .prepare_cached("DELETE FROM history WHERE revision > ?1 AND revision <= ?2 AND deleted = 1")?
        .execute(changes)?;
    transaction.prepare_cached("UPDATE meta SET value = ?1 WHERE name = 'compacted'")?.execute([end as i64])?;
    transaction.commit()?;
    Ok(end)
}
