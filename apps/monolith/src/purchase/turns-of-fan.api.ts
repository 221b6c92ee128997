/**
 * SQL: the turns of the fan `:userId`. `columns` says what to read of `purchase_windows`, in SQL; its alias is `w`.
 *
 * There is no index by fan alone, because every turn would have to maintain it. So this reads the ids of the matches with turns from the
 * index, each by one probe, and looks the fan up in each. `offset 0`: otherwise the planner may read all turns.
 */
export const turnsOfFan = (columns: string): string => `
  with recursive matches_with_turns (match_id) as (
    (select match_id from purchase_windows order by match_id limit 1)
    union all
    select (select w.match_id from purchase_windows w where w.match_id > m.match_id order by w.match_id limit 1)
    from matches_with_turns m where m.match_id is not null
  )
  select turn.* from matches_with_turns m cross join lateral (
    select ${columns} from purchase_windows w where w.match_id = m.match_id and w.user_id = :userId offset 0
  ) turn`;
