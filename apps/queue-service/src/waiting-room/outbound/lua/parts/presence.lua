-- The presence of fans, in four sets of a match:
--   seen   the last sign of life: a poll, or a connection, which its pod renews regularly. A fan who has only joined is not in it: the
--          score is the join time, and this makes a join a quarter cheaper.
--   gone   from when a fan counts as away because the last connection has closed.
--   away   fans in line whom admission has skipped because they were away. They keep their queue entry.
--   back   fans of `away` who have given a sign of life again, until they are granted a turn.
-- admit-front has read the line up to the score `passed_score` in meta and goes on behind it. Fans in front of it are granted
-- turns only if they are in `back`.

-- The end of the last period without any running pod (set by drop-absent.lua). This time counts as a sign of life of every fan,
-- because no fan could give a sign of life while no pod was running.
local function blind_until_ms() return tonumber(redis.call('HGET', meta, 'blind_until') or 0) end

-- Records that a fan in line is present. A fan whom admit-front has skipped moves from `away` to `back`.
local function note_sign_of_life(user)
  redis.call('ZADD', seen, digits(now_ms), user)
  redis.call('ZREM', gone, user)
  local score = redis.call('ZSCORE', away, user)
  if score then
    redis.call('ZREM', away, user)
    redis.call('ZADD', back, score, user)
  end
end

-- Like note_sign_of_life, for a few hundred fans; ignores fans not in line. Returns how many fans came back after they had been
-- skipped.
local function note_signs_of_life(users)
  local signs = {}
  for i, score in ipairs(redis.call('ZMSCORE', line, unpack(users))) do
    if score then signs[#signs + 1], signs[#signs + 2] = now_ms_text, users[i] end
  end
  if #signs == 0 then return 0 end
  redis.call('ZADD', seen, unpack(signs))
  if redis.call('EXISTS', gone) == 1 then redis.call('ZREM', gone, unpack(users)) end
  if redis.call('EXISTS', away) == 0 then return 0 end
  local returned = 0
  for i, score in ipairs(redis.call('ZMSCORE', away, unpack(users))) do
    -- ZREM tells whether the fan is still in `away`: the call may name a fan twice.
    if score and redis.call('ZREM', away, users[i]) == 1 then
      redis.call('ZADD', back, score, users[i])
      returned = returned + 1
    end
  end
  return returned
end

local function joined_at_ms(score) return math.floor(tonumber(score) / 1000) end

local function is_present(score, seen_at, gone_at, blind_until)
  local last = math.max(tonumber(seen_at or joined_at_ms(score)), blind_until)
  return last + presence_ms > now_ms and (not gone_at or tonumber(gone_at) > now_ms)
end

local function forget_presence(user)
  redis.call('ZREM', seen, user)
  redis.call('ZREM', gone, user)
  redis.call('ZREM', away, user)
  redis.call('ZREM', back, user)
  redis.call('HDEL', called, user)
end

-- Removes a fan from the line. No receipt can restore this queue entry. Returns the score, or false if the fan is not in line.
local function take_out(user)
  local score = redis.call('ZSCORE', line, user)
  if not score then return false end
  score = digits(tonumber(score))
  redis.call('ZREM', line, user)
  redis.call('HSET', used, user, score)
  forget_presence(user)
  return score
end
