-- Telling the world, from inside the change itself: what is told has happened, and what happened is told.

-- An event of the contract: kept in the match's stream (the guarantee) and published (the hint). ~ lets Redis trim whole
-- nodes, which costs nothing; 100,000 events are some hours of the largest sale.
local function announce(event)
  redis.call('XADD', events, 'MAXLEN', '~', 100000, '*', 'event', event)
  redis.call('PUBLISH', 'queue_events', event)
end

-- Our own pods only: something about this fan, or about the whole queue, is worth reading again.
local function tell_pods_of_fan(user)
  redis.call('PUBLISH', 'queue_pods', '{"match_id":"' .. match_id .. '","kind":"fan","user_id":"' .. user .. '"}')
end

local function publish_queue_changed()
  redis.call('PUBLISH', 'queue_pods', '{"match_id":"' .. match_id .. '","kind":"queue"}')
end

-- The revision lets a pod see that a fan has not heard of the present state yet.
local function tell_queue_changed()
  redis.call('HINCRBY', meta, 'revision', 1)
  publish_queue_changed()
end

-- One entry for everybody who left the line in this call (`gone`), or was put back into its middle (`back`): scores. From it
-- each pod knows the position of all its fans without asking. Numbered without gaps, so that a lost entry is noticed; a pod
-- that is further behind than the stream reaches reads its positions anew.
local function tell_moves(field, scores)
  if #scores == 0 then return end
  local number = redis.call('HINCRBY', meta, 'moves', 1)
  redis.call('XADD', moves, 'MAXLEN', '~', 2000, number .. '-0', field, table.concat(scores, ','))
end
