-- Who is here. `seen` has the last sign of life of everybody in line: a join, a poll, or a connection, which a pod renews for
-- all its fans. `gone` says since when a fan is away whose last connection was closed. Who is away when the turn comes keeps
-- the place and stands in `away`; who came back from there stands in `back` until granted. All with a score below
-- `passed_score` in meta, so admission goes on behind them without reading them again.

-- A time without any pod must not count as everybody's absence: its end (drop-absent.lua) is everybody's sign of life.
local function blind_until_ms() return tonumber(redis.call('HGET', meta, 'blind_until') or 0) end

local function note_sign_of_life(user)
  redis.call('ZADD', seen, digits(now_ms), user)
  redis.call('ZREM', gone, user)
  local score = redis.call('ZSCORE', away, user)
  if score then
    redis.call('ZREM', away, user)
    redis.call('ZADD', back, score, user)
  end
end

local function is_present(seen_at, gone_at, blind_until)
  local last = math.max(tonumber(seen_at or 0), blind_until)
  return last + presence_ms > now_ms and (not gone_at or tonumber(gone_at) > now_ms)
end

local function forget_presence(user)
  redis.call('ZREM', seen, user)
  redis.call('ZREM', gone, user)
  redis.call('ZREM', away, user)
  redis.call('ZREM', back, user)
  redis.call('HDEL', called, user)
end

-- Takes a fan out of the line, whatever for; the receipt of this place is used up. Returns the score, false if not in line.
local function take_out(user)
  local score = redis.call('ZSCORE', line, user)
  if not score then return false end
  score = digits(tonumber(score))
  redis.call('ZREM', line, user)
  redis.call('HSET', used, user, score)
  forget_presence(user)
  return score
end
