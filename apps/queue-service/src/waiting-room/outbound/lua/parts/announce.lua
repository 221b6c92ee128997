-- Functions that publish events and messages. A script calls them in the same atomic step as its change, so they never differ
-- from the data.

-- Publishes an event for the monolith (libs/contracts/src/integration-events.ts) and adds it to the match's stream. A publication
-- may get lost, the stream does not. `~` lets Redis trim only whole nodes, which is cheap. 100,000 events are some hours of the
-- largest sale.
local function announce(event)
  redis.call('XADD', events, 'MAXLEN', '~', 100000, '*', 'event', event)
  redis.call('PUBLISH', 'queue_events', event)
end

-- Makes the pods read this fan again.
local function tell_pods_of_fan(user)
  redis.call('PUBLISH', 'queue_pods', '{"match_id":"' .. match_id .. '","kind":"fan","user_id":"' .. user .. '"}')
end

-- Makes the pods read the whole queue again.
local function publish_queue_changed()
  redis.call('PUBLISH', 'queue_pods', '{"match_id":"' .. match_id .. '","kind":"queue"}')
end

-- Raises the revision of the queue. A pod that reads a new revision sends a message to every connected fan of the match.
local function tell_queue_changed()
  redis.call('HINCRBY', meta, 'revision', 1)
  publish_queue_changed()
end

-- Adds one move to the stream: the scores of all fans who left the line in this call (`gone`) or returned into it (`back`). Each pod
-- computes the positions of its fans from the moves. Moves are numbered without gaps, so a pod notices a lost move. A pod that needs
-- a move older than the stream takes a new snapshot.
local function tell_moves(field, scores)
  if #scores == 0 then return end
  local number = redis.call('HINCRBY', meta, 'moves', 1)
  redis.call('XADD', moves, 'MAXLEN', '~', 2000, number .. '-0', field, table.concat(scores, ','))
end
