//! Writes dead letters of which some name others.
//!
//! A dead letter's id is its number's, and numbers are known only when all are in order; what is lost with a group has
//! to name the group's first trigger, which may stand behind it. So all are gone through three times: each gets its
//! number; those that are lost find that of their trigger; then they are written.

use crate::exec::Failure;
use crate::exec::spill::{Merge, Sorter};

use super::LetterFile;
use super::ids::LetterIds;
use super::spool::{
    ALONE, GROUP, InOrder, Key, LOST, OPERATOR, ROLE, Room, Waiting, failure, first, write as write_one,
};

/// Writes all of them.
pub(super) fn write(
    room: &Room<'_>,
    letters: InOrder<'_>,
    ids: LetterIds,
    files: &mut [LetterFile],
) -> Result<(), Failure> {
    let (letters, groups) = numbered(room, letters)?;
    let mut triggers = triggers(room, groups)?.sorted().map_err(failure)?;
    let mut letters = letters.sorted().map_err(failure)?;
    let mut lost = next_pair(&mut triggers)?;
    while let Some((number, payload)) = letters.next()? {
        let number = u64::from_be_bytes(*first(number));
        let mut trigger = number;
        if let Some((_, other)) = lost.filter(|(lost, _)| *lost == number) {
            (trigger, lost) = (other, next_pair(&mut triggers)?);
        }
        let file = u32::from_be_bytes(*first(payload));
        write_one(files, file, ids, (number, trigger), &payload[size_of::<u32>()..])?;
    }
    Ok(())
}

/// The dead letters by their numbers; and of those that belong to groups, the group and the number, by group, a group's
/// triggers first.
fn numbered<'p>(room: &Room<'p>, letters: InOrder<'p>) -> Result<(Sorter<'p>, Sorter<'p>), Failure> {
    let (mut numbered, mut groups) = (room.sorter(), room.sorter());
    letters.each(|Waiting { number, key, file, text }| {
        if key[ROLE] != ALONE {
            groups.push(&group_key(&key), &number.to_be_bytes()).map_err(failure)?;
        }
        numbered.push_parts(&number.to_be_bytes(), &[&file.to_be_bytes(), text]).map_err(failure)
    })?;
    Ok((numbered, groups))
}

/// Operator, group and role.
fn group_key(key: &Key) -> [u8; 9] {
    let mut bytes = [0; 9];
    bytes[..4].copy_from_slice(&key[OPERATOR]);
    bytes[4..8].copy_from_slice(&key[GROUP]);
    bytes[8] = key[ROLE];
    bytes
}

/// For each dead letter that is lost with a group, its number and that of the group's first trigger.
fn triggers<'p>(room: &Room<'p>, groups: Sorter<'p>) -> Result<Sorter<'p>, Failure> {
    let (mut triggers, mut groups) = (room.sorter(), groups.sorted().map_err(failure)?);
    let mut leading: Option<([u8; 8], u64)> = None;
    while let Some((key, number)) = groups.next()? {
        let (group, number) = (*first(key), u64::from_be_bytes(*first(number)));
        match leading.filter(|(other, _)| *other == group) {
            None => leading = Some((group, number)),
            Some((_, trigger)) if key[8] == LOST => {
                triggers.push(&number.to_be_bytes(), &trigger.to_be_bytes()).map_err(failure)?;
            }
            Some(_) => {}
        }
    }
    Ok(triggers)
}

fn next_pair(pairs: &mut Merge<'_>) -> Result<Option<(u64, u64)>, Failure> {
    Ok(pairs.next()?.map(|(one, other)| (u64::from_be_bytes(*first(one)), u64::from_be_bytes(*first(other)))))
}
