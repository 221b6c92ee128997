-- Does Redis know this match? After a loss of its data nothing may be answered from an empty memory, so each slot carries a mark
-- that only the monolith sets, when it has sent the state of the match (restore-queue.lua). The key `restored` holds
--   a number           the match is known: the generation of the state that was sent last
--   'restoring G N'    part N of generation G comes next; not known yet (10 s)
--   'asked'            not known; the monolith was asked less than a second ago
--   'no_queue'         the monolith says that this match has no waiting room (60 s)
--   nothing            not known, and nobody has asked
local mark = redis.call('GET', restored)
local generation = tonumber(mark or '')

-- Asks the monolith for the state of the match, at most once a second over all pods.
local function ask_for_state()
  if redis.call('SET', restored, 'asked', 'NX', 'PX', 1000) then
    redis.call('PUBLISH', 'queue_events', '{"event":"queue.state_needed","match_id":"' .. match_id .. '"}')
  end
end

-- What a script answers when there is no queue to answer from.
local function why_unknown()
  if generation or mark == 'no_queue' then return 'unknown' end
  ask_for_state()
  return 'state_needed'
end
