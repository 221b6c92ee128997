-- Who is here. `seen` has the last sign of life of everybody in line: a poll, or a connection, which a pod renews for all its
-- fans. Who has only joined is not in it: the score says when that was, and a join costs a quarter less. `gone` says since when
-- a fan is away whose last connection was closed. Who is away when the turn comes keeps the place and stands in `away`; who came
-- back from there stands in `back` until granted. All with a score below `passed_score` in meta, so admission goes on behind
-- them without reading them again.

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

-- Of some hundreds of fans at once, for each who is in line. Returns how many came back to a front that had passed them.
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
    -- Asked again, as one fan may be named twice.
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
