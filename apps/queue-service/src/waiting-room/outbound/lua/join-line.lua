-- join-line: puts fans at the end of the line, or finds their existing queue entries. Up to a hundred fans in one call.
--
-- Guarantee: first come, first served on Redis' clock, and within a call in the given order. The score is the join time in µs, raised
-- where needed so that it is always higher than the last score: all scores differ, even when the clock goes back.
-- Joining again from any device does not change the queue entry. A receipt restores its queue entry, unless that entry was used up
-- (left, granted, dropped) or belongs to a line that was closed. Safe to repeat. O(fans · log line).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 number of fans  5 their user_ids, all different, each with a zero byte after it
--       6 in the same form: for each fan the queue token of a new entry
--       then two for each valid receipt: number of the fan in the call (from 1), score
--       One text with a hundred ids costs Redis half as much as a hundred arguments.
-- Returns { 'unknown' }, { 'state_needed' } or { 'found', queue, first_position, outcomes }. An outcome is the score of a new entry,
-- { 'kept', entry }, { 'restored', entry } or { 'refused' }: the queue is scheduled or closed. New entries have consecutive positions
-- from first_position. If all entries are new, `outcomes` is only the first score, because the scores are consecutive too: a short
-- reply saves time at peak load.
local status = status_now()
if not status then return { why_unknown() } end

local TWO_DIGITS = {
  '00', '01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19',
  '20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30', '31', '32', '33', '34', '35', '36', '37', '38', '39',
  '40', '41', '42', '43', '44', '45', '46', '47', '48', '49', '50', '51', '52', '53', '54', '55', '56', '57', '58', '59',
  '60', '61', '62', '63', '64', '65', '66', '67', '68', '69', '70', '71', '72', '73', '74', '75', '76', '77', '78', '79',
  '80', '81', '82', '83', '84', '85', '86', '87', '88', '89', '90', '91', '92', '93', '94', '95', '96', '97', '98', '99',
}
local RECEIPT_LIFE_US = 24 * 3600 * 1000000
local count = tonumber(ARGV[4])
local function split(text)
  local parts = { struct.unpack(string.rep('s', count), text) }
  parts[count + 1] = nil
  return parts
end
local users, tokens, receipts = split(ARGV[5]), split(ARGV[6]), {}
for at = 7, #ARGV, 2 do receipts[tonumber(ARGV[at])] = ARGV[at + 1] end
local draining = is_draining()
local is_open = status ~= 'scheduled' and status ~= 'closed'

local last_score = tonumber(redis.call('HGET', meta, 'last_score')) or 0
local outcomes, fresh, in_line, restored, moved = {}, {}, {}, {}, {}

local function is_usable(user, receipt)
  if not receipt or tonumber(receipt) + RECEIPT_LIFE_US < now_us then return false end
  if tonumber(receipt) <= (tonumber(redis.call('HGET', used, user)) or 0) then return false end
  return tonumber(receipt) > (tonumber(redis.call('HGET', meta, 'line_from')) or 0)
end

local function restore(user, receipt)
  redis.call('ZADD', line, receipt, user)
  -- The fan may have been skipped at a later score. That score no longer applies, so the fan must not come back with it.
  redis.call('ZREM', away, user)
  last_score = math.max(last_score, tonumber(receipt))
  restored[#restored + 1] = receipt
  redis.call('HINCRBY', meta, 'restored', 1)
  -- If admit-front has already read beyond this score, put the fan into `back` (fans who came back), where admit-front reads first.
  if tonumber(receipt) <= (tonumber(redis.call('HGET', meta, 'passed_score')) or 0) then
    redis.call('ZADD', back, receipt, user)
  end
  redis.call('ZADD', seen, digits(now_ms), user)
end

local function keep(i, kind, detail)
  local session = renew_session(users[i], kind, detail, tokens[i])
  outcomes[i] = { 'kept', describe_entry(users[i], kind, detail, session) }
end

-- Handles one fan: keeps an existing entry or turn, restores one by receipt, refuses, or adds the fan to `fresh` for a new entry.
local function join_one(i, score, has_window)
  local user, new_token, receipt = users[i], tokens[i], receipts[i]
  local kind, detail = 'none', false
  if score then
    kind, detail = 'waiting', score
  elseif has_window or draining then
    kind, detail = find_entry(user)
  end
  if kind == 'waiting' then
    if receipt and tonumber(receipt) < tonumber(detail) and is_usable(user, receipt) then
      moved[#moved + 1] = digits(tonumber(detail))
      restore(user, receipt)
      local session = renew_session(user, kind, receipt, new_token)
      outcomes[i] = { 'restored', describe_entry(user, kind, receipt, session) }
    else
      keep(i, kind, detail)
    end
  elseif kind == 'granted' then
    keep(i, kind, detail)
  elseif not is_open then
    outcomes[i] = { 'refused' }
  else
    -- An expired window or closed entry that end-windows or drain-closed has not processed yet: end it now.
    if kind == 'window_over' then end_window(user, 'window_timeout') end
    if draining then finish_closing(user) end
    if is_usable(user, receipt) then
      restore(user, receipt)
      local position = redis.call('ZRANK', line, user) + 1
      outcomes[i] = { 'restored', { 'waiting', position, receipt, new_session(user, position, new_token, persistence_s) } }
    else
      fresh[#fresh + 1] = i
    end
  end
end

-- At peak load almost all joining fans are new. So fans without a window are added without a lookup if the call has no receipts
-- and no closed line must be drained. The ZADD NX further down reveals fans who were in line already.
local skips_lookup = is_open and not draining and next(receipts) == nil
local scores = skips_lookup and {} or redis.call('ZMSCORE', line, unpack(users))
local open = redis.call('EXISTS', windows) == 1 and redis.call('HMGET', windows, unpack(users)) or {}
for i = 1, count do
  if skips_lookup and not open[i] then fresh[#fresh + 1] = i else join_one(i, scores[i], open[i]) end
end

local base = 0
if #fresh > 0 then
  -- No fan has a higher score, so the new fans get the last positions in the order of `fresh`. Formatting a number costs Lua 0.5
  -- µs, as much as a ZADD. So a large batch formats scores and positions once per hundred and appends two digits from a table.
  base = redis.call('ZCARD', line)
  local is_large = #fresh > 10
  local first = math.max(now_us, last_score + 1)
  if is_large then first = math.ceil(first / 100) * 100 end
  local first_text = digits(math.floor(first / 100))
  for k = 1, #fresh do
    in_line[2 * k - 1], in_line[2 * k] = is_large and first_text .. TWO_DIGITS[k] or digits(first + k - 1), users[fresh[k]]
  end
  last_score = first + #fresh - 1
  if redis.call('ZADD', line, 'NX', unpack(in_line)) < #fresh then
    -- Some of these fans were in line already.
    local scores = redis.call('ZMSCORE', line, unpack(users))
    local new, new_in_line = {}, {}
    for k, i in ipairs(fresh) do
      if tonumber(scores[i]) < first then
        keep(i, 'waiting', scores[i])
      else
        new[#new + 1] = i
        new_in_line[2 * #new - 1] = in_line[2 * k - 1]
      end
    end
    fresh, in_line = new, new_in_line
  end
  local session_tail, key_tail, ends_at = '","websocket_id":null}', ':{' .. match_id .. '}', digits(session_end(persistence_s))
  local call, all_are_new = redis.call, #fresh == count
  local hundreds, hundreds_text = -1, ''
  for k = 1, #fresh do
    local i, high, low = fresh[k], base + k, ''
    if is_large and high >= 100 then
      local last_two = high % 100
      if high - last_two ~= hundreds then
        hundreds = high - last_two
        hundreds_text = digits(hundreds / 100)
      end
      high, low = hundreds_text, TWO_DIGITS[last_two + 1]
    end
    if not all_are_new then outcomes[i] = in_line[2 * k - 1] end
    call('SET', 'queue_session:' .. users[i] .. key_tail,
      '{"position":' .. high .. low .. ',"queue_token":"' .. tokens[i] .. session_tail, 'PXAT', ends_at)
  end
end
if #fresh > 0 then
  redis.call('HINCRBY', meta, 'joins', #fresh)
  -- For each mark (position 10, 100, 1,000) announce-positions.lua needs the score of the last fan who has reached it. Fans who
  -- join at or in front of a mark did not move past it in line. Their score is stored here as reached, so that they are not
  -- announced.
  for _, mark in ipairs({ 10, 100, 1000 }) do
    if base < mark then
      redis.call('HSET', meta, 'mark_' .. mark, in_line[2 * math.min(mark - base, #fresh) - 1])
    end
  end
end
if #fresh + #restored > 0 then
  redis.call('HSET', meta, 'last_score', digits(last_score), 'total_size', redis.call('ZCARD', line))
  tell_moves('gone', moved)
  tell_moves('back', restored)
end
return { 'found', describe_queue(), base + 1, #fresh == count and in_line[1] or outcomes }
