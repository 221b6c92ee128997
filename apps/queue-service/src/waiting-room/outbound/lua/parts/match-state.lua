-- Tells whether Redis knows the state of this match. After a loss of data, scripts must not answer as if lines were empty. So
-- each match has a mark, the key `restored`, which is set when the monolith has sent the state of the match (restore-queue.lua).
-- Its values:
--   a number           the match is known: the generation of the last state that was sent (it grows with each restore)
--   'restoring G N'    not known yet: part N of generation G comes next (expires after 10 s)
--   'asked'            not known: the monolith was asked less than a second ago
--   'no_queue'         the monolith has reported that this match has no waiting room (expires after 60 s)
--   missing            not known, and the monolith was not asked
local mark = redis.call('GET', restored)
local generation = tonumber(mark or '')

-- Asks the monolith for the state of the match, at most once a second over all pods.
local function ask_for_state()
  if redis.call('SET', restored, 'asked', 'NX', 'PX', 1000) then
    redis.call('PUBLISH', 'queue_events', '{"event":"queue.state_needed","match_id":"' .. match_id .. '"}')
  end
end

-- The reply of a script when the match has no queue or is not known.
local function why_unknown()
  if generation or mark == 'no_queue' then return 'unknown' end
  ask_for_state()
  return 'state_needed'
end
