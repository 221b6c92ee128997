-- The state of the queue: its status, the token bucket that limits how fast turns are granted, the length of the line.

-- How many tokens the bucket holds: one second's worth of turns, at least one.
local function capacity_of(rate) return math.max(1, rate / 60) end

-- The number of tokens in the bucket now, computed from the last write. Only spending tokens writes. The bucket fills while
-- paused too.
local function tokens_now(rate)
  local stored = redis.call('HMGET', meta, 'tokens', 'tokens_at')
  local tokens, at = tonumber(stored[1]) or 0, tonumber(stored[2]) or now_ms
  -- If Redis' clock was set back, the bucket fills from now on. Otherwise admission would stop until the old time is reached.
  if at > now_ms then redis.call('HSET', meta, 'tokens_at', digits(now_ms)) end
  return math.min(capacity_of(rate), tokens + math.max(0, now_ms - at) * rate / 60000)
end

local function keep_tokens(tokens)
  redis.call('HSET', meta, 'tokens', string.format('%.6f', tokens), 'tokens_at', digits(now_ms))
end

-- From the opening of a line on, joins are counted by address for a minute.
local OPENING_MS = 60000
local function note_opening()
  redis.call('HSET', meta, 'opened_at', digits(now_ms))
  redis.call('UNLINK', joins_by_address)
end

-- The stored status of the queue, even while the state of the match is incomplete; false when nothing is stored. The first script
-- that runs after opens_at makes a scheduled queue active here.
local function stored_status()
  local stored = redis.call('HMGET', meta, 'status', 'opens_at', 'processing_rate')
  if stored[1] == 'scheduled' and stored[2] and tonumber(stored[2]) <= now_ms then
    keep_tokens(capacity_of(tonumber(stored[3])))
    redis.call('HSET', meta, 'status', 'active')
    note_opening()
    tell_queue_changed()
    return 'active'
  end
  return stored[1]
end

-- The status that scripts must use: false when the match has no queue, or its state is not known (why_unknown).
local function status_now() return generation and stored_status() end

-- Stores the length of the line in meta.
local function count_line()
  local total = redis.call('ZCARD', line)
  redis.call('HSET', meta, 'total_size', total)
  return total
end

-- The state of the queue as a reply, in the order that redis-replies.ts reads.
local function describe_queue()
  local queue = redis.call('HMGET', meta, 'status', 'processing_rate', 'max_open_windows', 'useful_windows', 'opens_at',
    'reason', 'closed_reason', 'remaining_sectors', 'revision', 'mean_window_ms', 'window_variance', 'measured_windows',
    'granted', 'completed', 'expired', 'epoch', 'moves', 'joins', 'opened_at')
  queue[21] = queue[19] and now_ms - tonumber(queue[19]) < OPENING_MS and 1 or 0
  queue[19] = redis.call('ZCARD', line)
  queue[20] = redis.call('ZCARD', window_ends)
  return queue
end
